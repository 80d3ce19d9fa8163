#include "engine/repairer.h"

#include <algorithm>
#include <utility>

#include "engine/history_reader.h"
#include "engine/live_instance.h"

namespace ebb::engine {

namespace {

/// A worker that dies in its turn holds the others up for this long.
constexpr Duration kHold = std::chrono::minutes(1);
constexpr int kBatch = 500;
constexpr Duration kPauseMin = std::chrono::milliseconds(20);
constexpr Duration kPassPause = std::chrono::hours(6);
/// While programs that write no side rows are probably at work.
constexpr Duration kPassPauseAfterRepair = std::chrono::minutes(10);
/// How far back the beginning of a wait is looked for.
constexpr int kAwaitedEventsMax = 64;

}  // namespace

Repairer::Repairer(Environment& environment, ProgramCache& programs, Duration ask_every)
    : environment_(environment),
      programs_(programs),
      ask_every_(ask_every),
      next_at_(environment.steady_now() + ask_every) {}

SteadyPoint Repairer::tick(SteadyPoint now) {
    if (now < next_at_) return next_at_;
    next_at_ = now + ask_every_;
    try {
        if (!turn_) {
            turn_ = environment_.store.take_repair(kHold);
            repaired_ = 0;
        }
        if (turn_) check_page();
    } catch (const std::exception& error) {
        // The worker that has the next turn continues where this one stopped.
        turn_.reset();
        environment_.warn("repair_failed", error);
    }
    return next_at_;
}

void Repairer::check_page() {
    const SteadyPoint begun = environment_.steady_now();
    const SideRowPage page = environment_.store.check_side_rows(turn_->after, kBatch);
    std::vector<SideRowRepair> repairs;
    for (const SideRowSuspect& suspect : page.suspects) {
        if (auto repair = repair_of(suspect)) repairs.push_back(std::move(*repair));
    }
    environment_.store.put_side_rows(repairs);
    repaired_ += std::ssize(repairs);
    turn_->after = page.last;
    if (page.is_end) return end_pass();
    if (!environment_.store.put_repair(*turn_, kHold)) return turn_.reset();
    const SteadyPoint now = environment_.steady_now();
    // The database has others to serve.
    next_at_ = now + std::max(now - begun, kPauseMin);
}

std::optional<SideRowRepair> Repairer::repair_of(const SideRowSuspect& suspect) {
    try {
        const auto program = programs_.find(suspect.workflow, suspect.version);
        if (!program) return std::nullopt;
        const TimePoint now = environment_.now();
        const InstanceState state = decode_state(suspect.state, *program);
        if (side_rows_text(side_rows_of(*program, state, nullptr, now)) == suspect.rows) {
            return std::nullopt;
        }
        auto row = environment_.store.load(suspect.instance);
        if (!row) return std::nullopt;
        const LivePtr live = make_live(std::move(*row), program);
        const std::vector<HistoryEvent> nothing;
        const HistoryReader history(environment_.store, *live, nothing);
        SideRowRepair repair{
            .instance = suspect.instance,
            .revision = live->row.revision,
            .effects = side_rows_of(*program, live->state, &history, now),
        };
        put_dates(repair.effects, live->row);
        return repair;
    } catch (const Error& error) {
        // The worker that works on it says what is wrong with it.
        if (error.code() != ErrorCode::CorruptState) throw;
        return std::nullopt;
    }
}

void Repairer::put_dates(Effects& effects, const InstanceRow& row) {
    for (FailureChange& change : effects.failures) {
        const bool has_end = row.finished_at != TimePoint{};
        change.note.at = has_end ? row.finished_at : row.updated_at;
    }
    for (WaitChange& change : effects.waits) {
        const auto events = environment_.store.history({
            .instance = row.id,
            .after = 0,
            .before = 0,
            .limit = kAwaitedEventsMax,
            .order = HistoryQuery::Order::Backward,
            .types = {HistoryType::DecisionAwaited, HistoryType::SignalAwaited},
            .node = change.wait.node,
        });
        const auto begun = std::find_if(events.begin(), events.end(), [&](const auto& event) {
            return event.visit == change.wait.visit;
        });
        change.wait.since = begun != events.end() ? begun->at : row.updated_at;
    }
}

void Repairer::end_pass() {
    environment_.store.put_repair(*turn_, repaired_ > 0 ? kPassPauseAfterRepair : kPassPause);
    turn_.reset();
    if (repaired_ > 0) environment_.log.info("side_rows_repaired", {{"count", repaired_}});
}

}  // namespace ebb::engine
