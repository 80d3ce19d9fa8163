#include "ending.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "call/event_view.h"
#include "rules_reading.h"
#include "sim/checker.h"
#include "support/side_rows.h"

namespace ebb::golden {

namespace {

std::string code_of(const Payload& error) {
    const Json json = Json::parse(error, nullptr, false);
    return json.is_object() ? json.value("code", "") : std::string();
}

void drop_times(Json& json) {
    if (json.is_object() && json.contains("verdict")) json.erase("at");
    if (!json.is_structured()) return;
    for (Json& inner : json) drop_times(inner);
}

/// A decision says when it was made, which is later after a fault.
std::string without_times(const Payload& output) {
    if (output.empty()) return {};
    Json json = Json::parse(output);
    drop_times(json);
    return json.dump();
}

}  // namespace

Ending ending_of(Player& player) {
    const InstanceView view = player.engine().show(player.id());
    Ending ending{
        .status = std::string(to_string(view.summary.status)),
        .output = without_times(view.output),
        .error = code_of(view.error),
        .compensated = {},
        .ended = {}
    };
    for (const HistoryEntry& entry : player.engine().history(player.id())) {
        if (entry.type == "step_completed" || entry.type == "step_stopped") {
            ending.ended.insert(entry.node);
        }
        if (entry.type == "step_compensated") ending.compensated.push_back(entry.node);
    }
    return ending;
}

std::string to_text(const Ending& ending) {
    return fmt::format(
        "status: {}\noutput: {}\nerror: {}\ncompensated: {}\nended: {}\n",
        ending.status,
        ending.output,
        ending.error,
        fmt::join(ending.compensated, " "),
        fmt::join(ending.ended, " ")
    );
}

std::string broken_rule(const Player& player, const Case& test_case, Store& store, Rest rest) {
    const auto row = store.load(player.id());
    if (!row) return "the instance is gone";
    if (std::string wrong = testing::wrong_side_rows(store); !wrong.empty()) return wrong;
    sim::Evidence evidence{
        .definition = definition_to_json(test_case.definition).dump(),
        .status = std::string(to_string(row->status)),
        .history = {},
        .is_at_rest = rest == Rest::Reached,
        .knows_calls = false,
        .calls = {}
    };
    for (const HistoryEvent& event :
         store.history({.instance = player.id(), .types = {}, .node = {}})) {
        evidence.history.push_back(to_entry(event));
    }
    if (test_case.definition.rules) return broken_rule_of_writes(evidence.history);
    for (const TaskRow& task : store.tasks(player.id())) {
        (task.is_parked ? evidence.tasks_parked : evidence.tasks_live) += 1;
    }
    return fmt::format("{}", fmt::join(sim::check(evidence), "\n"));
}

}  // namespace ebb::golden
