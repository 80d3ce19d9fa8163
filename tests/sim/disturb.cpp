// What befalls the cluster from outside: faults of stores, workers and clocks, and what people
// want.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/simulation.h"

namespace ebb::sim {

using namespace std::chrono_literals;

namespace {

using Kind = Disturbance::Kind;

std::optional<testing::Fault::Kind> fault_of(Kind kind) {
    using Fault = testing::Fault::Kind;
    switch (kind) {
        case Kind::CrashBefore:
            return Fault::CrashBefore;
        case Kind::CrashAfter:
            return Fault::CrashAfter;
        case Kind::Unavailable:
        case Kind::Unreadable:
            return Fault::Unavailable;
        case Kind::Busy:
            return Fault::Busy;
        case Kind::Full:
            return Fault::Full;
        case Kind::ReadOnly:
            return Fault::ReadOnly;
        case Kind::Refused:
            return Fault::Refused;
        case Kind::NeverArrived:
            return Fault::NeverArrived;
        case Kind::InDoubt:
            return Fault::InDoubt;
        default:
            return std::nullopt;
    }
}

std::string name_of(const Event& event) {
    if (std::holds_alternative<event::CancelRequested>(event)) return "cancel";
    if (std::holds_alternative<event::AbortRequested>(event)) return "abort";
    if (std::holds_alternative<event::Paused>(event)) return "pause";
    if (std::holds_alternative<event::Resumed>(event)) return "resume";
    if (std::holds_alternative<event::SignalReceived>(event)) return "signal";
    if (const auto* vote = std::get_if<event::DecisionMade>(&event)) {
        return vote->is_confirmed ? "confirm" : "reject";
    }
    if (std::holds_alternative<event::RecoverRequested>(event)) return "recover";
    if (const auto* write = std::get_if<event::AttributesWritten>(&event)) {
        if (write->is_repair && write->values == "null") return "rematch";
        return write->is_repair ? "repair" : "write";
    }
    const auto& requeued = std::get<event::Requeued>(event);
    if (requeued.new_input) return "requeue with input";
    return requeued.skip_compensation ? "requeue that skips" : "requeue";
}

Asked asked_by(const Event& event) {
    Asked asked;
    if (const auto* cancel = std::get_if<event::CancelRequested>(&event)) {
        asked.type = "cancel_requested";
        asked.by = cancel->by;
    } else if (const auto* abort = std::get_if<event::AbortRequested>(&event)) {
        asked.type = "abort_requested";
        asked.by = abort->by;
    } else if (const auto* pause = std::get_if<event::Paused>(&event)) {
        asked.type = "paused";
        asked.by = pause->by;
    } else if (const auto* resume = std::get_if<event::Resumed>(&event)) {
        asked.type = "unpaused";
        asked.by = resume->by;
    } else if (const auto* signal = std::get_if<event::SignalReceived>(&event)) {
        asked.type = "signal_received";
        asked.node = signal->name;
        asked.payload = signal->payload;
    } else if (const auto* vote = std::get_if<event::DecisionMade>(&event)) {
        asked.type = "decision_made";
        asked.by = vote->by;
        asked.role = vote->role;
        asked.node = vote->node;
        asked.payload = vote->is_confirmed ? "confirmed" : "rejected";
    } else if (const auto* requeue = std::get_if<event::Requeued>(&event)) {
        asked.type = "requeued";
        asked.by = requeue->by;
        asked.input = requeue->new_input;
    }
    return asked;
}

}  // namespace

void Simulation::disturb(const Disturbance& disturbance) {
    Dice dice(disturbance.pick);
    Worker& worker = *workers_[static_cast<std::size_t>(dice.next() % workers_.size())];
    if (disturbance.kind == Kind::Evolve) return evolve();
    Worker& asked = dice.chance(50) || !worker.is_alive() ? *client_ : worker;
    const bool is_request = disturbance.kind >= Kind::Cancel && disturbance.kind <= Kind::Requeue;
    if (is_request || disturbance.kind >= Kind::Write) {
        return request(asked, disturbance);
    }
    if (disturbance.kind == Kind::Purge) return purge(asked, disturbance);
    if (disturbance.kind == Kind::TimeJump || worker.is_alive()) {
        ++result_.faults[std::string(to_string(disturbance.kind))];
    }
    if (disturbance.kind == Kind::TimeJump) {
        clock_.advance(dice.pick<Duration>({30s, 5min, 1h}));
        return note("a long time passes");
    }
    note(fmt::format("{}: {}", worker.id(), to_string(disturbance.kind)));
    if (disturbance.kind >= Kind::Export && disturbance.kind <= Kind::Import) {
        return travel(asked, disturbance);
    }
    if (!worker.is_alive()) return;
    if (disturbance.kind == Kind::Twin) return start_twin(worker);
    disturb_worker(worker, disturbance);
}

void Simulation::evolve() {
    if (version_ == plan_.versions.size()) return;
    client_->core().register_workflow(plan_.versions[version_++]);
    note(fmt::format("version {} is registered", version_ + 1));
}

void Simulation::disturb_worker(Worker& worker, const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 1);
    switch (disturbance.kind) {
        case Kind::Crash:
            return crash(worker, dice.below(40));
        case Kind::Stall:
            worker.stalled_until = tick_ + dice.between(5, 60);
            if (dice.chance(60)) clock_.advance(12s);
            return;
        case Kind::Drain:
            if (!worker.core().environment.worker.is_draining) worker.begin_drain();
            return;
        case Kind::Skew:
            has_true_time_ = false;
            worker.clock.error = dice.pick<Duration>({-3min, -2s, 0s, 2s, 3min});
            return;
        case Kind::Duplicate:
            return repeat_last_outcome(worker);
        default:
            return disturb_store(worker, disturbance);
    }
}

void Simulation::disturb_store(Worker& worker, const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 2);
    if (disturbance.kind == Kind::Late) return worker.store().delay_next_commit();
    const auto kind = fault_of(disturbance.kind);
    if (!kind) return;
    testing::Fault fault{.kind = *kind, .nth = dice.between(1, 3), .verb = {}};
    if (disturbance.kind == Kind::Unreadable) {
        fault.verb = dice.pick<testing::StoreVerb>(
            {testing::StoreVerb::Load, testing::StoreVerb::History, testing::StoreVerb::FindWorkflow
            }
        );
    } else if (dice.chance(50)) {
        fault.verb = testing::StoreVerb::Commit;
    }
    worker.store().plan(fault);
}

/// The operator that restarts it believes that it is dead.
void Simulation::start_twin(const Worker& worker) {
    // Two processes of one name are distinguished by when they started.
    clock_.advance(1ms + std::chrono::microseconds(workers_.size()));
    workers_.push_back(std::make_unique<Worker>(worker.setup(), *shared_, log_, clock_));
}

void Simulation::repeat_last_outcome(Worker& worker) {
    if (!last_ended_ || last_ended_->behaviour != Behaviour::Complete) return;
    if (last_ended_->output.empty()) return;  // it passed its input on, which is forgotten
    // Not the same object: it comes from somewhere else.
    const auto copy = std::make_shared<engine::Attempt>(last_ended_->attempt->call());
    worker.core().committer.post(engine::item::Outcome{
        copy,
        event::StepCompleted{
            copy->call().invocation.attempt,
            last_ended_->output,
            last_ended_->attempt->started_at(),
            worker.id(),
            last_ended_->handle
        }
    });
}

Event Simulation::event_of(const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 3);
    const std::string by = "p" + std::to_string(dice.below(3));
    switch (disturbance.kind) {
        case Kind::Cancel:
            return event::CancelRequested{.by = by, .reason = {}};
        case Kind::Abort:
            return event::AbortRequested{.by = by, .reason = {}};
        case Kind::Pause:
            return event::Paused{.by = by, .reason = {}};
        case Kind::Resume:
            return event::Resumed{.by = by};
        case Kind::Signal:
            return event::SignalReceived{
                .name = dice.pick<std::string>(
                    {"go",
                     "go",
                     "g" + std::to_string(dice.between(1, 12)),
                     "s" + std::to_string(dice.between(1, 12))}
                ),
                .payload = fmt::format("{{\"n\":{}}}", dice.below(4)),
                .request_id = dice.chance(30) ? "r" + std::to_string(dice.below(3)) : ""
            };
        case Kind::Decide:
            return event::DecisionMade{
                .node = {},
                .is_confirmed = dice.chance(70),
                .by = by,
                .role = dice.chance(60) ? "boss" : "",
                .comment = {},
                .request_id = dice.chance(30) ? "r" + std::to_string(dice.below(3)) : ""
            };
        case Kind::Write:
            return random_write(dice, by);
        case Kind::Rematch:
            return event::AttributesWritten{
                .values = "null", .is_repair = true, .by = by, .request_id = {}
            };
        default:
            return event::Requeued{
                .new_input = dice.chance(20) ? std::optional<Payload>(R"({"n":3})") : std::nullopt,
                .skip_compensation = dice.chance(30),
                .by = by
            };
    }
}

void Simulation::request(Worker& by, const Disturbance& disturbance) {
    Dice dice(disturbance.pick, 4);
    const InstanceId id = dice.pick(instances_);
    if (is_gone(id)) return;
    note(fmt::format("{} asks i{}: {}", by.id(), number_of(id), to_string(disturbance.kind)));
    send(by, id, disturbance.kind == Kind::Recover ? recovery(dice, id) : event_of(disturbance));
}

/// To one of its writes, or rarely to something that is none.
Event Simulation::recovery(Dice& dice, const InstanceId& id) {
    std::vector<std::int64_t> writes;
    for (const HistoryEntry& entry : whole_history(id)) {
        const bool is_write = entry.type == "started" || entry.type == "attributes_written";
        if (is_write || dice.chance(1)) writes.push_back(entry.seq);
    }
    return event::RecoverRequested{
        .to = dice.pick(writes), .stops = dice.chance(20), .by = "p0", .request_id = {}
    };
}

void Simulation::send(Worker& by, const InstanceId& id, Event event) {
    const bool is_stop = std::holds_alternative<event::CancelRequested>(event) ||
                         std::holds_alternative<event::AbortRequested>(event);
    const std::string what = name_of(event);
    const std::size_t number = requests_.size();
    requests_.push_back(asked_by(event));
    requests_.back().instance = number_of(id);
    const std::int64_t revision = store_->load(id)->revision;
    try {
        if (is_stop) {
            by.core().request_stop(id, std::move(event), std::nullopt);
        } else {
            const auto answer = by.core().request(id, std::move(event));
            requests_[number].is_taken = answer.verdict == Decision::Verdict::Changed;
        }
        const bool is_taken = store_->load(id)->revision != revision;
        ++result_.requests[what + (is_taken ? " taken" : " repeated")];
    } catch (const Error& error) {
        ++result_.requests[what + " refused"];
        note(std::string("  refused: ") + error.what());
    } catch (const testing::SimulatedCrash&) {
        crash(by, 5);
        if (&by == client_.get()) by.start();
    }
}

}  // namespace ebb::sim
