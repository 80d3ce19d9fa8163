#include "three_steps.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include <sys/resource.h>

#include <ebb/builder.h>

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Counts instances that have ended.
class Ends {
 public:
    void add(std::string_view status) {
        const std::lock_guard lock(mutex_);
        ++ended_;
        if (status != "completed") ++bad_;
        if (ended_ >= wanted_) changed_.notify_one();
    }

    void wait_for(std::int64_t count) {
        std::unique_lock lock(mutex_);
        wanted_ = count;
        changed_.wait(lock, [&] { return ended_ >= count; });
        if (bad_ > 0) throw std::runtime_error("a workflow did not complete");
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t ended_ = 0;
    std::int64_t bad_ = 0;
    std::int64_t wanted_ = 0;
};

}  // namespace

HandlerRegistry three_no_op_handlers() {
    HandlerRegistry handlers;
    for (const char* name : {"a", "b", "c"}) {
        handlers.add(name, Handler([](const Payload& input, const StepContext&) { return input; }));
    }
    return handlers;
}

Definition three_steps() {
    return WorkflowBuilder("bench").step("a").step("b").step("c").build();
}

std::vector<double> run_one_at_a_time(Store& store, double seconds) {
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(store, handlers);
    engine.register_workflow(three_steps());
    engine.run();
    std::vector<double> latencies_ms;
    const auto start = SteadyClock::now();
    while (seconds_since(start) < seconds) {
        const auto began = SteadyClock::now();
        if (engine.wait(engine.start("bench", "{}").id).status != "completed") {
            throw std::runtime_error("a workflow did not complete");
        }
        latencies_ms.push_back(seconds_since(began) * 1e3);
    }
    engine.drain(std::chrono::seconds(5));
    return latencies_ms;
}

Saturated run_saturated(Store& store, const Saturation& saturation) {
    const HandlerRegistry handlers = three_no_op_handlers();
    EngineOptions options;
    options.in_flight_max = saturation.window;
    Engine engine(store, handlers, options);
    engine.register_workflow(three_steps());
    Ends ends;
    engine.set_observer([&](const InstanceSummary& instance, std::span<const HistoryEntry>) {
        if (instance.finished_at != TimePoint{}) ends.add(instance.status);
    });
    engine.run();
    Saturated measured;
    const std::vector<Payload> batch(static_cast<std::size_t>(saturation.batch), "{}");
    const double cpu = cpu_seconds();
    const auto start = SteadyClock::now();
    while (seconds_since(start) < saturation.seconds) {
        engine.start_all("bench", batch);
        measured.workflows += saturation.batch;
        ends.wait_for(measured.workflows - saturation.window + saturation.batch);
    }
    ends.wait_for(measured.workflows);
    measured.seconds = seconds_since(start);
    measured.client_cpu_seconds = cpu_seconds() - cpu;
    engine.drain(std::chrono::seconds(5));
    return measured;
}

}  // namespace ebb::bench
