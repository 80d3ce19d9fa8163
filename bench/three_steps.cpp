#include "three_steps.h"

#include <chrono>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <sys/resource.h>

#include <ebb/builder.h>

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

constexpr auto kLook = std::chrono::milliseconds(1);
/// Nothing that is measured here takes so long.
constexpr double kGiveUpSeconds = 120;

/// Adds to the progress what an engine has ended.
class Ended {
 public:
    Ended(const Engine& engine, Progress& progress) : engine_(engine), progress_(progress) {}

    /// Waits until no more than `count` workflows are in flight. It looks now and then: those who
    /// end them may be other processes.
    void wait_for_room(std::int64_t count) {
        const auto start = SteadyClock::now();
        tell();
        while (progress_.started - progress_.ended > count) {
            if (seconds_since(start) > kGiveUpSeconds) {
                throw std::runtime_error("the workflows in flight do not end");
            }
            std::this_thread::sleep_for(kLook);
            tell();
        }
    }

 private:
    void tell() {
        const auto ended = static_cast<std::int64_t>(engine_.counters().finished);
        progress_.ended += ended - std::exchange(told_, ended);
    }

    const Engine& engine_;
    Progress& progress_;
    std::int64_t told_ = 0;
};

struct ProcessUse {
    double resident_mib = 0;
    int threads = 0;
};

ProcessUse use_of_this_process() {
    ProcessUse use;
    std::ifstream file("/proc/self/status");
    for (std::string name; file >> name; std::getline(file, name)) {
        if (name == "VmRSS:") {
            double kib = 0;
            file >> kib;
            use.resident_mib = kib / 1'024;
        }
        if (name == "Threads:") file >> use.threads;
    }
    return use;
}

}  // namespace

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

HandlerRegistry three_no_op_handlers() {
    HandlerRegistry handlers;
    for (const char* name : {"a", "b", "c"}) {
        handlers.add_raw(name, Handler([](const Payload& input, const StepContext&) {
                             return input;
                         }));
    }
    return handlers;
}

Definition three_steps() {
    return WorkflowBuilder("bench").step("a").step("b").step("c").build();
}

std::vector<double> run_one_at_a_time(Store& store, double seconds, const Definition& definition) {
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(store, handlers);
    engine.register_workflow(definition);
    engine.run();
    std::vector<double> latencies_ms;
    const auto start = SteadyClock::now();
    while (seconds_since(start) < seconds) {
        const auto began = SteadyClock::now();
        if (engine.wait(engine.start(definition.name, Payload::text("{}")).id).status !=
            InstanceStatus::Completed) {
            throw std::runtime_error("a workflow did not complete");
        }
        latencies_ms.push_back(seconds_since(began) * 1e3);
    }
    engine.drain(std::chrono::seconds(5));
    return latencies_ms;
}

Saturated run_saturated_in(
    Engine& engine,
    Progress& progress,
    const Saturation& saturation,
    const Load& load,
    Engine* client
) {
    Engine& starter = client != nullptr ? *client : engine;
    const std::vector<Payload> batch(static_cast<std::size_t>(saturation.batch), load.input);
    Ended ended(engine, progress);
    const double cpu = cpu_seconds();
    const auto start = SteadyClock::now();
    std::int64_t begun = 0;
    const auto goes_on = [&] {
        return saturation.workflows > 0 ? begun < saturation.workflows
                                        : seconds_since(start) < saturation.seconds;
    };
    for (; goes_on(); begun += saturation.batch) {
        progress.started += saturation.batch;
        starter.start_all(load.definition.name, batch);
        ended.wait_for_room(saturation.window - saturation.batch);
    }
    const ProcessUse under_load = use_of_this_process();
    ended.wait_for_room(0);
    return {
        .workflows = progress.ended,
        .steps_each = load.steps,
        .seconds = seconds_since(start),
        .client_cpu_seconds = cpu_seconds() - cpu,
        .resident_mib = under_load.resident_mib,
        .threads = under_load.threads
    };
}

Saturated run_saturated(
    Store& store, Progress& progress, const Saturation& saturation, const Load& load
) {
    Engine engine(store, load.handlers, {.in_flight_max = load.in_flight_max});
    engine.register_workflow(load.definition);
    engine.run();
    const HandlerRegistry none;
    std::optional<Engine> client;
    if (saturation.is_claimed) client.emplace(store, none);
    const Saturated measured =
        run_saturated_in(engine, progress, saturation, load, client ? &*client : nullptr);
    engine.drain(std::chrono::seconds(5));
    return measured;
}

}  // namespace ebb::bench
