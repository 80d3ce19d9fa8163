// Retention: what has ended is deleted under the cluster's feet, while workers may still repeat
// their last commits to it, and people still ask for it.

#include <fmt/format.h>

#include "sim/simulation.h"

namespace ebb::sim {

using namespace std::chrono_literals;

bool Simulation::is_gone(const InstanceId& id) const {
    return gone_.contains(number_of(id));
}

void Simulation::purge(Worker& by, const Disturbance& disturbance) {
    // A process that repeats an import of a purged instance creates it again: that is how long
    // imports may be repeated.
    if (!away_.empty()) return;
    Dice dice(disturbance.pick, 6);
    const auto age = dice.pick<Duration>({0s, 0s, 10s, 5min});
    std::map<int, Gone> ended;
    for (const InstanceId& id : instances_) {
        const auto row = store_->load(id);
        if (!row || !is_terminal(row->status)) continue;
        ended[number_of(id)] = {
            .status = std::string(to_string(row->status)),
            .history = whole_history(id),
            .ended_at = row->finished_at
        };
    }
    note(fmt::format("{} purges what has ended", by.id()));
    try {
        by.core().environment.store.purge(
            {.rules = {{.workflow = std::string(kOtherWorkflows), .keep = {age, age}}},
             .after = {},
             .limit = 100}
        );
        ++result_.requests["purge taken"];
    } catch (const Error& error) {
        note(std::string("  refused: ") + error.what());
        ++result_.requests["purge refused"];
    } catch (const testing::SimulatedCrash&) {
        crash(by, 5);
        if (&by == client_.get()) by.start();
    }
    for (const InstanceId& id : instances_) {
        if (is_gone(id) || store_->load(id)) continue;
        const auto found = ended.find(number_of(id));
        if (found == ended.end()) {
            result_.stuck = "an instance was purged that had not ended";
            continue;
        }
        if (found->second.ended_at > clock_.now() - age) {
            result_.stuck = "an instance was purged too early";
        }
        note(fmt::format("  i{} is gone", number_of(id)));
        ++result_.faults["purge"];
        gone_.insert(ended.extract(found));
    }
}

/// What was purged stays so.
void Simulation::look_for_ghosts() {
    for (const InstanceId& id : instances_) {
        const bool has_left = store_->load(id) || !store_->tasks(id).empty() ||
                              !store_->history({.instance = id, .limit = 1}).empty();
        if (is_gone(id) && has_left) result_.stuck = "something of a purged instance is left";
    }
}

}  // namespace ebb::sim
