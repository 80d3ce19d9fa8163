// Faults have stopped: every worker lives again, and the cluster does all that is due. What does
// not end now waits for people, or is lost.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/simulation.h"
#include "support/json.h"
#include "support/random_rules.h"
#include "support/side_rows.h"

namespace ebb::sim {

using namespace std::chrono_literals;

namespace {

/// More rounds than any plan needs: a run that is not at rest by then never will be.
constexpr int kRoundsMax = 5'000;
/// Leases run out, commits that were set aside are tried again: all within this time.
constexpr int kIdleSecondsMax = 400;
constexpr int kHelpingHandsMax = 16;

}  // namespace

void Simulation::calm_down() {
    is_calm_ = true;
    note("faults stop");
    for (auto& worker : workers_) {
        worker->store().calm_down();
        worker->clock.error = Duration(0);
        worker->stalled_until = 0;
    }
    client_->store().calm_down();
    perform_late(true);
    for (auto& worker : workers_) {
        if (worker->is_alive() && worker->core().environment.worker.is_draining) {
            crash(*worker, 0);
        }
    }
    restart(true);
    bring_all_back();
    const auto program = client_->core().program("flow", {});
    workers_.push_back(std::make_unique<Worker>(
        Worker::Setup{.id = "all", .handlers = program->handlers()}, *shared_, log_, clock_
    ));
}

bool Simulation::work_off(Worker& worker) {
    Engine::Core& core = worker.core();
    const SteadyPoint now = worker.now();
    keep_alive(worker);
    core.watchdog.tick(now);
    core.committer.combine(engine::Committer::Role::Owner);
    if (core.environment.worker.may_hold(now)) {
        core.claimer.claim(std::min(core.committer.free_capacity(), 64), true);
        watch_limits();
    }
    core.committer.combine(engine::Committer::Role::Owner);
    bool has_called = false;
    while (core.ready.size() > 0) has_called |= begin_one(worker);
    while (!worker.running.empty()) {
        end(worker, 0);
        has_called = true;
    }
    core.committer.combine(engine::Committer::Role::Owner);
    return has_called;
}

/// Of all tasks; now or earlier: a worker holds one, or should.
TimePoint Simulation::next_due() const {
    TimePoint next = kNever;
    for (const InstanceId& id : instances_) {
        for (const TaskRow& task : store_->tasks(id)) {
            if (task.is_parked && task.lease_owner.empty()) continue;
            next = std::min(next, task.lease_owner.empty() ? task.due : clock_.now());
        }
    }
    return next;
}

bool Simulation::let_time_pass() {
    const TimePoint next = next_due();
    if (next <= clock_.now()) {
        clock_.advance(1s);
        return true;
    }
    if (next == kNever) return false;
    note("nothing to do until something is due");
    clock_.set(next);
    return true;
}

void Simulation::come_to_rest() {
    if (!is_calm_) calm_down();
    int idle_seconds = 0;
    for (int round = 0; round < kRoundsMax; ++round) {
        const std::uint64_t commits = log_.commits;
        bool has_moved = false;
        for (auto& worker : workers_) {
            if (worker->is_alive()) has_moved |= work_off(*worker);
        }
        client_->core().committer.combine(engine::Committer::Role::Owner);
        has_moved |= log_.commits != commits;
        if (has_moved) {
            idle_seconds = 0;
            continue;
        }
        if (!let_time_pass()) return;
        if (++idle_seconds > kIdleSecondsMax) break;
    }
    result_.stuck = "the cluster does not come to rest";
    for (const InstanceId& id : instances_) {
        for (const TaskRow& task : store_->tasks(id)) {
            result_.stuck += fmt::format(
                "\n  i{} task {} handler '{}' due in {} s, owner '{}'{}{}{}",
                number_of(id),
                task.task.token,
                task.handler,
                std::chrono::duration<double>(task.due - clock_.now()).count(),
                task.lease_owner,
                task.is_parked ? ", parked" : "",
                task.is_stop ? ", stop" : "",
                task.was_lost ? ", was lost" : ""
            );
        }
    }
}

void Simulation::gather() {
    look_for_ghosts();
    if (result_.side_rows.empty()) result_.side_rows = testing::wrong_side_rows(*store_);
    result_.events = 0;
    result_.instances = static_cast<int>(instances_.size());
    const std::string definition = to_text(definition_to_json(plan_.definition));
    std::vector<std::string> versions;
    for (const Definition& version : plan_.versions) {
        versions.push_back(to_text(definition_to_json(version)));
    }
    for (const InstanceId& id : instances_) {
        Evidence evidence;
        evidence.definition = definition;
        evidence.versions = versions;
        const auto gone = gone_.find(number_of(id));
        const bool is_known = gone == gone_.end();
        evidence.status = is_known ? to_string(store_->load(id)->status) : gone->second.status;
        evidence.history = is_known ? whole_history(id) : gone->second.history;
        for (const TaskRow& task : store_->tasks(id)) {
            (task.is_parked ? evidence.tasks_parked : evidence.tasks_live) += 1;
        }
        evidence.is_at_rest = result_.stuck.empty();
        evidence.has_true_time = has_true_time_;
        for (const Call& call : calls_) {
            if (call.instance == number_of(id)) evidence.calls.push_back(call);
        }
        evidence.input = plan_.inputs[static_cast<std::size_t>(number_of(id))];
        evidence.knows_requests = true;
        for (const Asked& asked : requests_) {
            if (asked.instance == number_of(id)) evidence.requests.push_back(asked);
        }
        result_.events += static_cast<int>(evidence.history.size());
        for (const HistoryEntry& entry : evidence.history) {
            const auto hash = std::hash<std::string>{}(fmt::format(
                "{} {} {} {} {} {}",
                entry.type,
                entry.node,
                entry.path,
                entry.attempt,
                entry.payload,
                entry.at.time_since_epoch().count()
            ));
            result_.digest = (result_.digest ^ hash) * 0x100000001B3ULL;
        }
        result_.evidence.push_back(std::move(evidence));
    }
}

void Simulation::go_on() {
    for (int round = 0; round < kHelpingHandsMax && !all_have_ended(); ++round) {
        if (round == 0) gather();
        Dice dice(plan_.seed, 50 + static_cast<std::uint64_t>(round));
        for (const InstanceId& id : instances_) {
            if (is_gone(id) || is_terminal(store_->load(id)->status)) continue;
            if (round < kHelpingHandsMax / 2) {
                give_what_is_awaited(id, dice);
            } else {
                send(*client_, id, event::AbortRequested{});
            }
        }
        come_to_rest();
        if (!result_.stuck.empty()) return;
    }
}

/// One of the people looks after one instance.
void Simulation::help(Dice& dice) {
    const InstanceId id = dice.pick(instances_);
    if (!is_gone(id) && !is_terminal(store_->load(id)->status)) give_what_is_awaited(id, dice);
}

void Simulation::give_what_is_awaited(const InstanceId& id, Dice& dice) {
    const InstanceStatus status = store_->load(id)->status;
    note(fmt::format("i{} gets what it waits for: {}", number_of(id), to_string(status)));
    if (status == InstanceStatus::Paused) return send(*client_, id, event::Resumed{.by = "p0"});
    const bool has_rules = plan_.definition.rules.has_value();
    const bool is_dead = status == InstanceStatus::DeadLetter;
    if (has_rules && (!is_dead || dice.chance(70))) {
        return send(*client_, id, random_write(dice, "p0"));
    }
    if (is_dead) return send(*client_, id, requeue(dice));
    for (const WaitingFor& wait : client_->core().show(id).waiting_for) {
        if (wait.kind == "decision") {
            send(
                *client_,
                id,
                event::DecisionMade{
                    .node = wait.node,
                    .is_confirmed = dice.chance(80),
                    .by = "q" + std::to_string(dice.below(100)),
                    .role = dice.chance(85) ? "boss" : ""
                }
            );
        } else if (wait.kind == "signal") {
            const Payload payload = fmt::format("{{\"n\":{}}}", dice.below(4));
            send(*client_, id, event::SignalReceived{.name = wait.what, .payload = payload});
        }
    }
}

Event Simulation::random_write(Dice& dice, const std::string& by) {
    return event::AttributesWritten{
        .values = test::random_write(dice),
        .is_repair = dice.chance(50),
        .by = by,
        .request_id = dice.chance(30) ? "w" + std::to_string(dice.below(5)) : ""
    };
}

Event Simulation::requeue(Dice& dice) const {
    const bool has_input = dice.chance(25);
    return event::Requeued{
        .new_input = has_input ? std::optional<Payload>(R"({"n":3,"missing":1})") : std::nullopt,
        .skip_compensation = !has_input && dice.chance(25),
        .by = "p0"
    };
}

}  // namespace ebb::sim
