// Drives the engine: by threads of its own, or by a caller that polls.

#include <algorithm>

#include <fmt/format.h>

#include "engine/core.h"
#include "engine/history_reader.h"
#include "engine/inside.h"

namespace ebb {

namespace {

/// A polling caller gathers outcomes for one commit for at most this long, and only while its
/// handlers are quick.
constexpr Duration kGather = std::chrono::milliseconds(1);
constexpr Duration kIdleSlice = std::chrono::milliseconds(20);
constexpr Duration kLookMin = std::chrono::milliseconds(10);
constexpr Duration kLookMax = std::chrono::milliseconds(500);
/// A caller that waits for what another process does looks so often at first, since most instances
/// that are waited for take a few milliseconds; later, each time after a quarter of what it has
/// waited.
constexpr Duration kFirstLook = std::chrono::microseconds(500);
/// After the handlers' grace: the time for the commits that follow when they are given up.
constexpr Duration kLastCommits = std::chrono::seconds(1);

/// Whether a caller that has waited for so long looks for work, too. What an engine without
/// handlers can do, timers for example, is first of all for the workers.
bool is_poll_due(const engine::Environment& environment, Duration waited) {
    if (waited == Duration::zero() || waited >= kLookMin) return true;
    return !environment.handlers.names().empty();
}

}  // namespace

Engine::Core::Core(Store& store, const HandlerRegistry& handlers, EngineOptions options)
    : environment(store, handlers, std::move(options)),
      pace(environment.options.threads, environment.options.in_flight_max),
      watchdog(
          environment,
          [this](const engine::AttemptPtr& attempt) {
              executor.on_given_up(attempt);
              const bool has_thread =
                  environment.handlers.find_async(attempt->call().invocation.handler) == nullptr;
              if (has_thread && environment.worker.has_threads) runner.replace_thread();
          }
      ),
      committer({environment, programs, ready, watchdog, waiters, signals, hints, pace}),
      executor({environment, committer, watchdog, pace, signals, waiters}),
      claimer(environment, programs, committer, signals, hints),
      keeper(environment, committer, signals, hints),
      herald(environment, committer, signals, hints),
      sweeper(environment, programs),
      relay(environment, [this](auto rows) { start_deliveries(rows); }),
      runner({environment, ready, committer, executor, services()}) {
    signals.connect(claimer.alarm());
    environment.subscribers.set_echo([this] { relay.alarm().ring(); });
}

Engine::Core::~Core() {
    try {
        if (environment.worker.is_driven) drain(Duration::zero());
    } catch (const std::exception& error) {
        environment.log.error("drain_failed", {{"error", error.what()}});
    } catch (...) {
        environment.log.error("drain_failed", {{"error", "unknown exception"}});
    }
}

std::vector<engine::Service*> Engine::Core::services() {
    std::vector<engine::Service*> services{
        &committer, &claimer, &keeper, &watchdog, &sweeper, &relay
    };
    if (herald.is_needed()) services.push_back(&herald);
    return services;
}

void Engine::Core::tell_others() {
    if (!environment.worker.has_threads) herald.tell();
}

void Engine::Core::check_rights() {
    try {
        environment.store.check_rights();
    } catch (const Error& error) {
        // If the database is unreachable, wait for it.
        if (!error.is_transient()) throw;
    }
}

void Engine::Core::become_worker() {
    environment.worker.is_driven = true;
    // The first heartbeat: without it, leases would be invalid.
    keeper.tick(environment.steady_now());
}

void Engine::Core::run() {
    refuse_inside("run");
    const Lock lock(drive_mutex_);
    if (is_drained_ || environment.worker.is_draining) {
        throw Error(
            ErrorCode::InvalidState, "The engine was drained; it cannot run again. Make a new one."
        );
    }
    if (environment.worker.has_threads) return;
    check_rights();
    const Lock polling(poll_mutex_);
    become_worker();
    environment.worker.has_threads = true;
    committer.set_has_own_thread(true);
    runner.start();
}

bool Engine::Core::wait_until_idle(Duration limit, const std::stop_token& hurry) {
    Duration waited{0};
    while (true) {
        committer.combine(engine::Committer::Role::Guest);
        if (!environment.worker.has_threads) watchdog.tick(environment.steady_now());
        if (committer.is_idle() && executor.running() == 0) return true;
        if (waited >= limit || hurry.stop_requested()) return false;
        const Duration slice = std::min(kIdleSlice, limit - waited);
        committer.idle_alarm().wait(slice);
        waited += slice;
    }
}

/// As above, but handlers that were given up may still run.
bool Engine::Core::wait_for_committer(Duration limit) {
    for (Duration waited{0};; waited += kIdleSlice) {
        committer.combine(engine::Committer::Role::Guest);
        if (committer.is_idle()) return true;
        if (waited >= limit) return false;
        committer.idle_alarm().wait(kIdleSlice);
    }
}

Duration Engine::Core::last_wait() const {
    if (executor.running() > 0) return environment.longest_grace() + kLastCommits;
    // No handler runs any more. The only remaining cause is a store that does not answer.
    return environment.worker.has_threads ? kLastCommits : Duration::zero();
}

bool Engine::Core::drain(Duration limit, const std::stop_token& hurry) {
    refuse_inside("drain");
    const Lock lock(drive_mutex_);
    if (is_drained_) return has_drained_in_time_;
    begin_drain();
    committer.post(engine::item::Withdrawal{});
    has_drained_in_time_ = wait_until_idle(std::max(limit, Duration::zero()), hurry);
    if (!has_drained_in_time_) {
        committer.post(engine::item::Shutdown{});
        wait_until_idle(last_wait());
    }
    sign_off(has_drained_in_time_ ? kLastCommits : Duration::zero());
    environment.worker.leases_valid_until = 0;
    is_drained_ = true;
    // From now on, a caller that requests something of an instance does all of the committer's work
    // itself.
    committer.set_has_own_thread(false);
    runner.request_stop();
    environment.worker.has_threads = false;
    committer.combine(engine::Committer::Role::Owner);
    tell_others();
    return has_drained_in_time_;
}

void Engine::Core::sign_off(Duration limit) {
    const bool has_adopted = environment.worker.leases_valid_until != 0;
    if (environment.worker.is_displaced || !environment.worker.is_driven || !has_adopted) return;
    // Items that came in after the last look, such as the answer to a heartbeat, are taken first. A
    // worker that holds nothing must not stay in the list of workers until its lease ends.
    if (!wait_for_committer(limit)) return;
    try {
        environment.store.sign_off(environment.process());
    } catch (const std::exception& error) {
        environment.report("sign_off_failed", error);
    }
}

void Engine::Core::refuse_inside(std::string_view what) const {
    if (engine::Inside::find(environment) == nullptr) return;
    throw Error(
        ErrorCode::InvalidState,
        fmt::format(
            "A handler cannot call {} of the engine that runs it: it would wait for itself.", what
        )
    );
}

void Engine::Core::check_may_wait(const InstanceId& id) const {
    const engine::Inside* inside = engine::Inside::find(environment);
    if (inside == nullptr) return;
    // There is no other thread that could do what it would wait for.
    if (!environment.worker.has_threads) refuse_inside("wait, without threads,");
    if (inside->instance() != id) return;
    throw Error(
        ErrorCode::InvalidState,
        "A handler cannot wait for the end of its own instance " + id.to_string() + "."
    );
}

void Engine::Core::check_may_poll() const {
    refuse_inside("poll or run_one");
    if (!environment.worker.has_threads) return;
    throw Error(ErrorCode::InvalidState, "The engine has threads of its own: it is not polled.");
}

int Engine::Core::run_ready(Duration at_most) {
    int called = 0;
    const SteadyPoint begun = environment.steady_now();
    while (const engine::AttemptPtr attempt = ready.try_pop()) {
        if (executor.run(attempt) != engine::Executor::Ending::NotCalled) ++called;
        if (environment.steady_now() - begun >= at_most) break;
    }
    return called;
}

int Engine::Core::poll() {
    check_may_poll();
    const Lock lock(poll_mutex_);
    environment.worker.is_driven = true;
    int called = 0;
    while (true) {
        keeper.tick(environment.steady_now());
        watchdog.tick(environment.steady_now());
        committer.combine(engine::Committer::Role::Owner);
        const int ran = run_ready(kGather);
        called += ran;
        if (ran > 0 || ready.size() > 0) continue;
        if (!environment.worker.may_hold(environment.steady_now())) break;
        const int batch_max = environment.options.claim_batch_max;
        if (claimer.claim(std::min(committer.free_capacity(), batch_max), true) == 0) break;
    }
    committer.combine(engine::Committer::Role::Owner);
    sweeper.tick(environment.steady_now());
    relay.tick(environment.steady_now());
    tell_others();
    return called;
}

bool Engine::Core::run_one() {
    check_may_poll();
    const Lock lock(poll_mutex_);
    environment.worker.is_driven = true;
    while (true) {
        keeper.tick(environment.steady_now());
        watchdog.tick(environment.steady_now());
        committer.combine(engine::Committer::Role::Owner);
        const bool has_called = run_ready(Duration::zero()) > 0;
        committer.combine(engine::Committer::Role::Owner);
        tell_others();
        if (has_called) return true;
        if (ready.size() > 0) continue;
        if (!environment.worker.may_hold(environment.steady_now())) return false;
        if (claimer.claim(1, true) == 0) return false;
    }
}

TimePoint Engine::Core::next_due() {
    const engine::Moment now = environment.moment();
    if (ready.size() > 0 || committer.has_posted()) return now.date;
    // Calls without a thread may time out in between.
    const SteadyPoint at = std::min(committer.next_look(), watchdog.next_look());
    return std::min(signals.next_due(), now.at(at));
}

std::optional<Result> Engine::Core::look(const InstanceId& id) {
    const engine::LivePtr live = engine::make_live(load(id), programs);
    return engine::result_of(environment.store, *live);
}

int Engine::Core::try_poll() {
    const engine::WorkerState& worker = environment.worker;
    if (worker.has_threads || worker.is_draining) return 0;
    return poll();
}

Result Engine::Core::wait(const InstanceId& id, Duration timeout) {
    check_may_wait(id);
    engine::Waiters::Waiter waiter(waiters, id);
    if (!environment.worker.is_driven) {
        // What has ended needs no worker: an engine that only starts and controls stays a client.
        const Result present = *look(id);
        if (present.is_finished || present.status == InstanceStatus::Moved) return present;
    }
    Duration waited{0};
    const bool is_told = environment.worker.has_threads && waiters.is_expected(id);
    const Duration pause_min = is_told ? kLookMin : kFirstLook;
    if (is_told) {
        if (auto result = waiter.wait(std::min(pause_min, timeout))) return *result;
    }
    while (true) {
        if (is_poll_due(environment, waited)) try_poll();
        if (auto result = waiter.wait(Duration::zero())) return *result;
        const Result present = *look(id);
        // A moved instance ends elsewhere.
        const bool is_elsewhere = present.status == InstanceStatus::Moved;
        if (present.is_finished || is_elsewhere || waited >= timeout) return present;
        // The longer it takes, the less a pause matters.
        const Duration pause = std::clamp(waited / 4, pause_min, kLookMax);
        Duration slice = std::min(pause, timeout - waited);
        if (!environment.worker.has_threads) {
            const Duration until_due = next_due() - environment.now();
            slice = std::clamp(until_due, std::min(slice, kLookMin), slice);
        }
        if (auto result = waiter.wait(slice)) return *result;
        waited += slice;
    }
}

}  // namespace ebb
