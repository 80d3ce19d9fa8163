#include "sim/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/yaml.h>

namespace ebb::sim {

std::string history_text(const Evidence& evidence) {
    std::string text;
    for (const HistoryEntry& e : evidence.history) {
        const auto since = std::chrono::duration<double>(e.at - evidence.history.front().at);
        std::string line = fmt::format("  {:3} {:9.3f}s {:20}", e.seq, since.count(), e.type);
        if (!e.node.empty()) line += fmt::format(" {}", e.node);
        if (!e.path.empty()) line += fmt::format(" in {}", e.path);
        if (e.visit != 0) line += fmt::format(", visit {}", e.visit);
        if (e.attempt != 0) line += fmt::format(", attempt {}", e.attempt);
        if (e.ref != 0) line += fmt::format(", of {}", e.ref);
        if (!e.worker.empty()) line += ", by " + e.worker;
        if (!e.payload.empty()) line += "  " + e.payload;
        text += line + '\n';
    }
    return text;
}

std::vector<Evidence> endings(const RunResult& result) {
    const auto size = static_cast<std::ptrdiff_t>(result.evidence.size());
    const auto first = std::max<std::ptrdiff_t>(0, size - result.instances);
    return {result.evidence.begin() + first, result.evidence.end()};
}

std::string explain(const Plan& plan, const RunResult& result, const std::string& what) {
    std::string text = "definition:\n" + definition_to_yaml(plan.definition) + "\n";
    text += fmt::format("inputs: {}\n", fmt::join(plan.inputs, " "));
    for (std::size_t i = 0; i < plan.workers.size(); ++i) {
        text += fmt::format("worker w{} runs: {}\n", i + 1, fmt::join(plan.workers[i], " "));
    }
    for (const auto& [handler, calls] : plan.scripts) {
        text += fmt::format("calls of {}:", handler);
        for (const Behaviour call : calls) text += fmt::format(" [{}]", to_string(call));
        text += '\n';
    }
    text += fmt::format("faults and requests ({} ticks):\n", plan.ticks);
    for (const Disturbance& each : plan.disturbances) {
        text +=
            fmt::format("  at tick {}: {} ({:x})\n", each.tick, to_string(each.kind), each.pick);
    }
    if (plan.disturbances.empty()) text += "  none\n";
    for (const Evidence& evidence : endings(result)) {
        text += fmt::format("history ({}):\n{}", evidence.status, history_text(evidence));
    }
    return text + (what.empty() ? "nothing is wrong\n" : "broken rule: " + what + "\n");
}

}  // namespace ebb::sim
