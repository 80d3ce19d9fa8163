#include "engine/executor.h"

#include <utility>

#include "engine/checks.h"
#include "engine/inside.h"
#include "engine/transacted.h"

namespace ebb::engine {

Executor::Ending Executor::run(const AttemptPtr& attempt) {
    return begin(attempt) ? end(attempt) : Ending::NotCalled;
}

bool Executor::begin(const AttemptPtr& attempt) try {
    const Moment now = environment_.moment();
    if (!environment_.worker.has_valid_leases(now.steady)) {
        // Another worker may have it by now: a heartbeat must say first that it is still ours.
        if (attempt->withdraw()) put_back(attempt);
        return false;
    }
    ++running_;
    if (!attempt->begin(now)) {
        --running_;
        return false;
    }
    watchdog_.watch(attempt);
    return true;
} catch (const std::exception& error) {
    end_process(environment_.log, "beginning an attempt must not fail", error);
}

Item Executor::call(const AttemptPtr& attempt) {
    const Inside inside(environment_, attempt->task().instance);
    if (environment_.handlers.is_transactional(attempt->call().invocation.handler)) {
        return run_in_transaction(environment_, attempt);
    }
    return item::Outcome{attempt, run_attempt(environment_, *attempt)};
}

bool Executor::is_async(const Attempt& attempt) const {
    return environment_.handlers.find_async(attempt.call().invocation.handler) != nullptr;
}

Executor::Ending Executor::end(const AttemptPtr& attempt) {
    return is_async(*attempt) ? begin_without_thread(attempt) : end_with_thread(attempt);
}

Executor::Ending Executor::begin_without_thread(const AttemptPtr& attempt) try {
    // Counted before it is called: it may end at once.
    ++environment_.statistics.async_calls;
    --running_;
    try {
        const Inside inside(environment_, attempt->task().instance);
        begin_async_call(environment_, attempt, *this, gate_);
    } catch (const std::exception& error) {
        environment_.report("input_unread", error);
        watchdog_.forget(*attempt);
        if (!attempt->finish()) {
            --environment_.statistics.stuck_handlers;
            return Ending::GivenUp;
        }
        --environment_.statistics.async_calls;
        put_back(attempt);
        return Ending::NotCalled;
    }
    pace_.record(attempt->running_for(environment_.steady_now()));
    // Its thread is free again.
    if (signals_.wants_room() && committer_.has_room()) signals_.offer_room();
    return Ending::Begun;
} catch (const std::exception& error) {
    end_process(environment_.log, "beginning an attempt must not fail", error);
}

bool Executor::on_async_end(const AttemptPtr& attempt, Event event) {
    watchdog_.forget(*attempt);
    if (!attempt->finish()) {
        --environment_.statistics.stuck_handlers;
        return false;
    }
    committer_.post(item::Outcome{attempt, std::move(event)});
    --environment_.statistics.async_calls;
    // Not by this thread: it may be one that must not wait for a database.
    committer_.alarm().ring();
    if (!environment_.worker.has_threads) waiters_.nudge();
    return true;
}

Executor::Ending Executor::end_with_thread(const AttemptPtr& attempt) try {
    std::optional<Item> result;
    try {
        result = call(attempt);
    } catch (const std::exception& error) {
        environment_.report("input_unread", error);
    }
    const SteadyPoint ended = environment_.steady_now();
    // A caller that polls has no other thread to see that the time is up.
    if (!environment_.worker.has_threads) watchdog_.tick(ended);
    watchdog_.forget(*attempt);
    if (!attempt->finish()) {
        --environment_.statistics.stuck_handlers;
        // What was committed happened nevertheless.
        if (result && std::holds_alternative<item::Transacted>(*result)) {
            committer_.post(std::move(*result));
        }
        return Ending::GivenUp;
    }
    if (!result) {
        put_back(attempt);
        --running_;
        return Ending::NotCalled;
    }
    pace_.record(attempt->running_for(ended));
    committer_.post(std::move(*result));
    --running_;
    return Ending::Posted;
} catch (const std::exception& error) {
    end_process(environment_.log, "ending an attempt must not fail", error);
}

void Executor::let_others_finish() const {
    if (pace_.gathering_time() == Duration::zero()) return;
    for (int looks = 0; looks < kLooks && running_ > 0; ++looks) pause_briefly();
}

void Executor::put_back(const AttemptPtr& attempt) {
    committer_.post(item::Unstarted{attempt});
}

void Executor::on_given_up(const AttemptPtr& attempt) {
    ++environment_.statistics.stuck_handlers;
    environment_.log.warning(
        "handler_given_up",
        {{"instance", attempt->task().instance.to_string()},
         {"handler", attempt->call().invocation.handler}}
    );
    committer_.post(item::Outcome{attempt, event_of_given_up(environment_, *attempt)});
    --(is_async(*attempt) ? environment_.statistics.async_calls : running_);
    committer_.combine(Committer::Role::Guest);
}

}  // namespace ebb::engine
