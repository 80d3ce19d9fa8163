#include "engine/runner.h"

#include <algorithm>
#include <utility>

namespace ebb::engine {

namespace {

constexpr Duration kLongestWait = std::chrono::hours(1);
constexpr Duration kPauseAfterBug = std::chrono::seconds(1);

}  // namespace

void Runner::start() {
    const Lock lock(mutex_);
    for (Service* service : parts_.services) {
        threads_.emplace_back([this, service] { serve(*service); });
    }
    for (int i = 0; i < parts_.environment.options.threads; ++i) {
        threads_.emplace_back([this] { work(); });
    }
}

void Runner::request_stop() {
    is_stopping_ = true;
    parts_.ready.close();
    for (Service* service : parts_.services) service->alarm().ring();
}

void Runner::join() {
    request_stop();
    std::vector<std::jthread> threads;
    {
        const Lock lock(mutex_);
        threads = std::exchange(threads_, {});
    }
    threads.clear();
}

void Runner::replace_thread() {
    const Lock lock(mutex_);
    if (is_stopping_ || replaced_ >= parts_.environment.options.threads) return;
    ++replaced_;
    threads_.emplace_back([this] { work(); });
}

bool Runner::is_surplus() {
    const Lock lock(mutex_);
    if (replaced_ == 0) return false;
    --replaced_;
    return true;
}

void Runner::serve(Service& service) {
    const Environment& environment = parts_.environment;
    while (!is_stopping_) {
        const SteadyPoint now = environment.steady_now();
        SteadyPoint next = now + kPauseAfterBug;
        try {
            next = service.tick(now);
        } catch (const std::exception& error) {
            environment.log.error(
                "service_failed", {{"service", service.name()}, {"error", error.what()}}
            );
        } catch (...) {
            environment.log.error(
                "service_failed", {{"service", service.name()}, {"error", "unknown exception"}}
            );
        }
        service.alarm().wait(
            next == kSteadyNever ? kLongestWait : std::min(next - now, kLongestWait)
        );
    }
}

void Runner::work() {
    AttemptPtr next;
    while (true) {
        if (!next) next = parts_.ready.pop();
        if (!next) return;
        const Executor::Ending ending = parts_.executor.run(std::exchange(next, nullptr));
        // If it was given up, another thread has taken this one's place.
        if (ending == Executor::Ending::GivenUp && is_surplus()) return;
        if (ending == Executor::Ending::Posted && parts_.committer.may_gather()) {
            next = parts_.ready.try_pop();
            if (next) continue;
        }
        if (ending == Executor::Ending::Posted) parts_.executor.let_others_finish();
        next = parts_.committer.combine(Committer::Role::Handler);
    }
}

}  // namespace ebb::engine
