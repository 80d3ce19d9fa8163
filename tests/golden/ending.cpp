#include "ending.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool ends_an_attempt(HistoryType type) {
    return type == HistoryType::StepCompleted || type == HistoryType::StepFailed ||
           type == HistoryType::StepRetried || type == HistoryType::StepStopped;
}

/// At most one end per attempt of a visit.
std::string doubled_end(const std::vector<HistoryEvent>& history) {
    std::set<std::pair<Visit, std::int32_t>> ended;
    for (const HistoryEvent& event : history) {
        if (!ends_an_attempt(event.type) || event.attempt == 0 || event.visit == 0) continue;
        if (!ended.emplace(event.visit, event.attempt).second) {
            return fmt::format("event {} ends an attempt for the second time", event.seq);
        }
    }
    return {};
}

/// Each end is compensated at most once, and within a rollback later ends before earlier ones, but
/// for the failed step's own, which comes first.
std::string wrong_order(const std::vector<HistoryEvent>& history) {
    std::map<Seq, Seq> settled;
    std::map<std::string, Seq> newest;  // by the rollback's place: those of several blocks overlap
    Seq cause = 0;
    for (const HistoryEvent& event : history) {
        if (event.type == HistoryType::RollbackStarted) {
            newest.clear();
            cause = event.ref;
        }
        if (event.type == HistoryType::CancelRequested) newest.clear();
        if (event.type != HistoryType::StepCompensated) continue;
        if (const auto [other, is_new] = settled.emplace(event.ref, event.seq); !is_new) {
            return fmt::format("event {} compensates {} again", event.seq, event.ref);
        }
        if (event.ref == cause) continue;
        Seq& before = newest[event.path];
        if (before != 0 && event.ref > before) {
            return fmt::format("event {} compensates {} after {}", event.seq, event.ref, before);
        }
        before = event.ref;
    }
    return {};
}

}  // namespace

Ending ending_of(Player& player) {
    const InstanceView view = player.engine().show(player.id());
    Ending ending{
        .status = view.summary.status,
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

std::string broken_rule(Player& player, Store& store) {
    const auto history = store.history({.instance = player.id(), .types = {}, .node = {}});
    for (std::size_t i = 0; i < history.size(); ++i) {
        if (history[i].seq != static_cast<Seq>(i) + 1) return "the history has a gap";
    }
    const auto row = store.load(player.id());
    if (!row) return "the instance is gone";
    if (is_terminal(row->status) && !store.tasks(player.id()).empty()) {
        return "a finished instance has tasks";
    }
    std::string broken = doubled_end(history);
    if (broken.empty()) broken = wrong_order(history);
    return broken;
}

}  // namespace ebb::golden
