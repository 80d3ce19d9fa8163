#include "sim/worker.h"

#include <utility>

namespace ebb::sim {

using namespace std::chrono_literals;

namespace {

void fail(Running& running, const char* code, const char* message) {
    running.code = code;
    running.message = message;
}

}  // namespace

Payload behave(Running& running, const Payload& input, const StepContext& context) {
    running.input = input;
    running.payload = context.payload;
    switch (running.behaviour) {
        case Behaviour::Fail:
            // What a failed attempt reports last is kept.
            context.progress(context.attempt);
            fail(running, "error", "flaky");
            throw std::runtime_error("flaky");
        case Behaviour::FailForGood:
            fail(running, "permanent", "broken");
            throw PermanentError("broken");
        case Behaviour::FailLater:
            fail(running, "error", "later");
            running.retry_after_ms = 7'000;
            throw RetryAfter("later", 7s);
        case Behaviour::Garble:
            fail(running, "invalid_output", "");
            return "{";
        case Behaviour::Hang:
            if (!context.stop.stop_requested()) break;
            fail(running, "error", "stopped");
            throw std::runtime_error("stopped");
        case Behaviour::Pause:
            running.is_paused = true;
            context.pause();
            return input;
        case Behaviour::Complete:
        case Behaviour::Ignore:
        case Behaviour::Astray:
            break;
    }
    if (!running.handle.empty()) context.leave_by(running.handle);
    return running.output.empty() ? input : Payload(running.output);
}

Worker::Worker(Setup setup, Store& shared, StoreLog& log, const Clock& truth)
    : clock(truth), truth_(truth), setup_(std::move(setup)), shared_(shared), log_(log) {
    for (const std::string& name : setup_.handlers) {
        handlers_.add_raw(name, [this](const Payload& input, const StepContext& context) {
            return behave(*returning_, input, context);
        });
    }
    start();
}

void Worker::start() {
    // What is on its way through the network outlives the process that sent it.
    if (store_) store_->perform_late();
    store_ = std::make_unique<SimStore>(shared_, log_);
    EngineOptions options;
    options.worker_id = setup_.id;
    options.threads = 2;
    options.in_flight_max = setup_.in_flight_max;
    options.clock = &clock;
    core_ = std::make_unique<Engine::Core>(*store_, handlers_, std::move(options));
    core_->environment.worker.is_driven = !setup_.is_client;
    beaten_at = truth_.steady_now();
}

bool Worker::keep_alive() {
    /// However long the lease is; after a refusal it asks more rarely.
    constexpr Duration kSilenceMax = std::chrono::seconds(1);
    const int before = store_->heartbeats();
    const auto is_excused = [&] {
        return core_->environment.worker.is_displaced || core_->environment.worker.is_denied;
    };
    const bool was_excused = is_excused();
    core_->keeper.tick(now());
    if (store_->heartbeats() != before || was_excused || is_excused())
        beaten_at = truth_.steady_now();
    return truth_.steady_now() - beaten_at < kSilenceMax;
}

void Worker::crash() {
    if (core_) core_->environment.worker.is_driven = false;
    core_.reset();
    running.clear();
}

void Worker::begin_drain() {
    core_->environment.worker.is_draining = true;
    core_->committer.post(engine::item::Withdrawal{});
}

bool Worker::finish_drain() {
    if (!core_->environment.worker.is_draining) return false;
    core_->committer.combine(engine::Committer::Role::Owner);
    if (!running.empty() || !core_->committer.is_idle()) return false;
    core_->sign_off(Duration::zero());
    crash();
    return true;
}

engine::AttemptPtr Worker::begin_next() {
    engine::AttemptPtr attempt = core_->ready.try_pop();
    if (!attempt || !core_->executor.begin(attempt)) return nullptr;
    return attempt;
}

engine::Executor::Ending Worker::end(Running& ended) {
    returning_ = &ended;
    return core_->executor.end(ended.attempt);
}

}  // namespace ebb::sim
