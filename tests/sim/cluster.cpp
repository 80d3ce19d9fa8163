#include "sim/cluster.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "engine/view.h"
#include "sim/simulation.h"
#include "store/memory/memory_store.h"
#include "support/random_rules.h"
#include "support/uuid.h"

namespace ebb::sim {

using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{std::chrono::hours(24 * 365 * 56)};

}  // namespace

Simulation::Simulation(const Plan& plan, const RunOptions& options)
    : plan_(plan),
      options_(options),
      clock_(kStart),
      store_(options.open ? options.open(clock_) : make_memory_store(clock_)),
      shared_(store_.get()) {
    if (options_.decorate) {
        decorated_ = options_.decorate(*store_);
        shared_ = decorated_.get();
    }
    log_.limited = [this](const Claim& claim) { watch_start(claim); };
    for (const auto& [name, limits] : plan.queues) {
        shared_->set_queue({.name = name, .limits = limits, .updated_at = kStart});
    }
    if (options_.trace) log_.note = [this](const std::string& line) { note(line); };
    Dice dice(plan.seed, 2);
    for (std::size_t i = 0; i < plan.workers.size(); ++i) {
        workers_.push_back(std::make_unique<Worker>(
            Worker::Setup{
                .id = fmt::format("w{}", i + 1),
                .handlers = plan.workers[i],
                .in_flight_max = dice.between(1, 6)
            },
            *shared_,
            log_,
            clock_
        ));
    }
    client_ = std::make_unique<Worker>(
        Worker::Setup{.id = "client", .handlers = {}, .is_client = true}, *shared_, log_, clock_
    );
}

Simulation::~Simulation() {
    for (auto& worker : workers_) worker->crash();
    client_->crash();
}

void Simulation::note(const std::string& line) {
    if (!options_.trace) return;
    const auto seconds = std::chrono::duration<double>(clock_.now() - kStart).count();
    options_.trace(fmt::format("{:4} {:9.3f}s  {}", tick_, seconds, line));
}

RunResult Simulation::run() {
    client_->core().register_workflow(plan_.definition);
    for (const Payload& input : plan_.inputs) {
        instances_.push_back(client_->core().start_all("flow", {&input, 1}, {}).front().id);
    }
    std::size_t next = 0;
    for (tick_ = 0; tick_ < plan_.ticks; ++tick_) {
        Dice dice(plan_.seed, 100 + static_cast<std::uint64_t>(tick_));
        while (next < plan_.disturbances.size() && plan_.disturbances[next].tick <= tick_) {
            disturb(plan_.disturbances[next++]);
        }
        restart(false);
        perform_late(dice.chance(20));
        if (dice.chance(plan_.percent_helpful)) help(dice);
        move(dice);
        watch();
        watch_limits();
        if (all_have_ended() && next >= plan_.disturbances.size()) break;
    }
    come_to_rest();
    if (plan_.goes_on && result_.stuck.empty()) go_on();
    gather();
    result_.calls = static_cast<int>(calls_.size());
    return std::move(result_);
}

bool Simulation::all_have_ended() {
    return std::all_of(instances_.begin(), instances_.end(), [&](const InstanceId& id) {
        return is_gone(id) || is_terminal(store_->load(id)->status);
    });
}

bool Simulation::is_name_alive(const std::string& id) const {
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
        return worker->is_alive() && worker->id() == id;
    });
}

void Simulation::restart(bool at_once) {
    for (auto& worker : workers_) {
        if (!at_once && tick_ < worker->restart_at) continue;
        if (is_name_alive(worker->id())) continue;  // itself, or its twin
        note(worker->id() + " starts");
        worker->start();
    }
}

void Simulation::perform_late(bool now) {
    if (!now) return;
    for (auto& worker : workers_) {
        if (worker->store().has_late()) note(worker->id() + "'s late commit is performed");
        worker->store().perform_late();
    }
}

void Simulation::crash(Worker& worker, int restart_after) {
    note(worker.id() + " dies");
    worker.crash();
    worker.restart_at = tick_ + restart_after;
}

void Simulation::move(Dice& dice) {
    Worker& worker = *workers_[static_cast<std::size_t>(dice.next() % workers_.size())];
    if (!worker.is_alive() || tick_ < worker.stalled_until || dice.chance(8)) {
        return pass_time(dice);
    }
    try {
        poke(worker, dice);
    } catch (const testing::SimulatedCrash&) {
        crash(worker, dice.below(30));
    }
}

bool Simulation::is_anybody_busy() const {
    return std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
        return worker->is_alive() && (!worker->running.empty() || worker->core().ready.size() > 0);
    });
}

void Simulation::pass_time(Dice& dice) {
    const auto at_most = std::chrono::seconds(plan_.seconds_max);
    Duration by = dice.pick<Duration>({1ms, 20ms, 200ms, 1s, 3s, 10s});
    if (by > at_most) by = at_most;
    if (!is_anybody_busy()) {
        const TimePoint due = next_due();
        if (due != kNever && due > clock_.now()) by = std::min<Duration>(due - clock_.now(), 10min);
    }
    clock_.advance(by);
    note("time passes");
}

void Simulation::poke(Worker& worker, Dice& dice) {
    Engine::Core& core = worker.core();
    const int action = dice.below(100);
    if (action < 20) {
        note(worker.id() + " claims");
        core.claimer.tick(worker.now());
    } else if (action < 45) {
        note(worker.id() + " commits");
        core.committer.combine(engine::Committer::Role::Owner);
        if (worker.finish_drain()) crash(worker, 20);
    } else if (action < 65) {
        begin_one(worker);
    } else if (action < 85) {
        end_one(worker, dice);
    } else if (action < 95) {
        note(worker.id() + " sends its heartbeat");
        keep_alive(worker);
    } else {
        note(worker.id() + " looks after its handlers");
        core.watchdog.tick(worker.now());
    }
}

void Simulation::keep_alive(Worker& worker) {
    if (!worker.keep_alive()) result_.silent = worker.id() + " lives and sends no heartbeats";
}

int Simulation::number_of(const InstanceId& id) const {
    const auto found = std::find(instances_.begin(), instances_.end(), id);
    return static_cast<int>(found - instances_.begin());
}

/// Decides the conditions and loops behind it. Empty: the handler passes its input on.
Payload Simulation::output_of(const std::string& handler, int count) const {
    std::uint64_t salt = plan_.seed;
    for (const char c : handler) salt = salt * 31 + static_cast<unsigned char>(c);
    if (plan_.definition.rules) {
        Dice dice(salt, static_cast<std::uint64_t>(count));
        return handler.starts_with('~') ? Payload("null") : test::random_write(dice);
    }
    const int number = Dice(salt, static_cast<std::uint64_t>(count)).below(20);
    if (number == 0) return {};
    if (number == 1) return R"({"other":true})";
    return fmt::format("{{\"n\":{}}}", number % 4);
}

/// By which edge of its graph the result must leave the step; empty: the handler does not say.
std::string Simulation::handle_of(const Invocation& invocation, const Running& running, int count) {
    if (running.behaviour == Behaviour::Astray) return "astray";
    const auto program = client_->core().program("flow", {});
    const ProgramNode& node = program->node(program->find(invocation.node));
    if (invocation.compensated != 0 || node.handle || plan_.definition.rules) return {};
    std::vector<std::string> handles = {""};
    for (const ProgramNode::Edge& edge : node.edges) {
        if (!edge.handle.starts_with("error")) handles.push_back(edge.handle);
    }
    std::uint64_t salt = plan_.seed + 7;
    for (const char c : invocation.handler) salt = salt * 31 + static_cast<unsigned char>(c);
    return Dice(salt, static_cast<std::uint64_t>(count)).pick(handles);
}

/// What the next call of this handler does.
Running Simulation::prepare(const std::string& by, int instance, const Invocation& invocation) {
    Running running{.attempt = nullptr, .call = calls_.size(), .output = {}};
    const int count = counts_[{instance, invocation.handler}]++;
    const auto script = plan_.scripts.find(invocation.handler);
    const auto index = static_cast<std::size_t>(count);
    if (script != plan_.scripts.end() && index < script->second.size()) {
        running.behaviour = script->second[index];
    }
    running.output = output_of(invocation.handler, count);
    running.handle = handle_of(invocation, running, count);
    calls_.push_back(
        {.worker = by,
         .instance = instance,
         .node = invocation.node,
         .handler = invocation.handler,
         .visit = invocation.attempt.visit,
         .attempt = invocation.attempt.attempt,
         .pauses = invocation.attempt.pauses,
         .undoes = invocation.compensated,
         .outcome = {},
         .handle = running.handle}
    );
    note(fmt::format(
        "{} calls {} of i{} (visit {}, attempt {}): [{}] {} {}",
        by,
        invocation.handler,
        instance,
        invocation.attempt.visit,
        invocation.attempt.attempt,
        to_string(running.behaviour),
        running.output,
        running.handle
    ));
    return running;
}

/// How the call ended.
void Simulation::record(const Running& running) {
    Call& call = calls_[running.call];
    call.input = running.input;
    call.payload = running.payload;
    if (running.is_paused) {
        // A compensation may not.
        call.outcome = call.undoes == 0 ? "paused" : "failed";
        if (call.undoes != 0) call.result = "invalid_output";
        return;
    }
    const bool has_completed = running.code.empty();
    call.outcome = has_completed ? "completed" : "failed";
    call.result = running.code;
    call.message = running.message;
    call.retry_after_ms = running.retry_after_ms;
    if (has_completed)
        call.result = running.output.empty() ? running.input : Payload(running.output);
}

bool Simulation::begin_one(Worker& worker) {
    const auto attempt = worker.begin_next();
    if (!attempt) return false;
    const auto& call = attempt->call();
    Running running = prepare(worker.id(), number_of(call.instance), call.invocation);
    running.attempt = attempt;
    worker.running.push_back(std::move(running));
    return true;
}

bool Simulation::may_end(const Running& running) const {
    if (is_calm_) return true;
    if (running.behaviour == Behaviour::Ignore) return false;
    return running.behaviour != Behaviour::Hang || running.attempt->stop_token().stop_requested();
}

void Simulation::end_one(Worker& worker, Dice& dice) {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < worker.running.size(); ++i) {
        if (may_end(worker.running[i])) able.push_back(i);
    }
    if (!able.empty()) end(worker, dice.pick(able));
}

void Simulation::end(Worker& worker, std::size_t index) {
    Running running = std::move(worker.running[index]);
    worker.running.erase(worker.running.begin() + static_cast<std::ptrdiff_t>(index));
    note(fmt::format("{}'s {} returns", worker.id(), running.attempt->call().invocation.handler));
    const auto ending = worker.end(running);
    if (ending != engine::Executor::Ending::Posted) {
        Call& call = calls_[running.call];
        call.input = running.input;
        call.payload = running.payload;
        if (ending == engine::Executor::Ending::NotCalled) call.is_made = false;
        return;
    }
    record(running);
    if (!running.is_paused) last_ended_ = running;
}

RunResult run(const Plan& plan, const RunOptions& options) {
    const PredictableIds ids(plan.seed);
    return Simulation(plan, options).run();
}

}  // namespace ebb::sim
