#include <fmt/format.h>

#include "player.h"

namespace ebb::golden {

namespace {

std::string line(const HistoryEntry& entry, TimePoint start) {
    const double at = static_cast<double>((entry.at - start).count()) / 1e6;
    std::string text = fmt::format("{:>3} {:>8.3f}s {}", entry.seq, at, entry.type);
    if (!entry.node.empty()) text += " " + entry.node;
    if (!entry.path.empty()) text += " in " + entry.path;
    if (entry.attempt > 1) text += fmt::format(" attempt {}", entry.attempt);
    if (entry.ref != 0) text += fmt::format(" of {}", entry.ref);
    if (!entry.payload.empty()) text += " " + entry.payload;
    return text + "\n";
}

}  // namespace

std::string tell(Player& player, const Case& test_case) {
    std::string text = fmt::format("# {}\n", test_case.script.at("shows").get<std::string>());
    for (const HistoryEntry& entry : player.engine().history(player.id())) {
        text += line(entry, player.start());
    }
    text += "calls:";
    for (const std::string& name : player.calls()) text += " " + name;
    text += "\nsteps:";
    const InstanceView view = player.engine().show(player.id());
    for (const StepView& step : view.steps)
        text += fmt::format(" {}={}", step.node, to_string(step.status));
    text += "\n";
    for (const std::string& refusal : player.refusals()) text += "refused: " + refusal + "\n";
    for (const WaitingFor& waiting : view.waiting_for)
        text += "waiting: " + waiting.sentence + "\n";
    text += "status: " + std::string(to_string(view.summary.status)) + "\n";
    if (!view.attributes.empty()) text += "attributes: " + view.attributes + "\n";
    if (!view.output.empty()) text += "output: " + view.output + "\n";
    if (!view.error.empty()) text += "error: " + view.error + "\n";
    return text;
}

}  // namespace ebb::golden
