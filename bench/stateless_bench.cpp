// The stateless engine in one thread, without any store: in memory, with the snapshot going through
// its text at every step, and in a long loop. Times are of the CPU. Refluxo's figures were measured
// on the same machine (Node 20, its head e57e1c4, medians of 5).

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/stateless.h>

#include "report.h"

namespace ebb::bench {

namespace {

using Keep = stateless::HistoryPolicy::Keep;

constexpr double kRefluxoLinear = 458'000;
constexpr double kRefluxoJson = 137'000;
constexpr double kRefluxoLoop = 1'805;
constexpr double kRefluxoLoopBytes = 5'490'000;
constexpr int kSteps = 10;
constexpr std::int64_t kLongLoop = 100'000;
constexpr std::int64_t kShortLoop = 1'000;

/// Of this process, which has one thread: other load on the machine does not count.
double cpu_seconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

HandlerRegistry make_handlers() {
    HandlerRegistry handlers;
    const Handler pass_on = [](const Payload& input, const StepContext&) { return input; };
    for (int i = 0; i < kSteps; ++i) handlers.add_raw(fmt::format("step_{}", i), pass_on);
    handlers.add_raw("turn", [](const Payload& input, const StepContext&) {
        return std::to_string(std::stoll(input) + 1);
    });
    return handlers;
}

Definition linear() {
    WorkflowBuilder builder("linear", 1);
    for (int i = 0; i < kSteps; ++i) builder.step(fmt::format("step_{}", i));
    return builder.build();
}

Definition loop(std::int64_t turns) {
    WorkflowBuilder builder("loop", static_cast<int>(turns));
    builder
        .loop_while(
            "again", fmt::format("input < {}", turns), [](BlockBuilder& body) { body.step("turn"); }
        )
        .max_iterations(turns);
    return builder.build();
}

void run_in_memory(const stateless::Engine& engine) {
    engine.execute(engine.start("linear", Payload::text("{\"n\":1}")));
}

void run_through_json(const stateless::Engine& engine) {
    std::string json = engine.start("linear", Payload::text("{\"n\":1}")).to_json();
    for (int step = 0; step < kSteps; ++step) {
        json = engine.step(engine.parse(json)).to_json();
    }
}

template <typename Run>
double steps_per_second(Run run, double seconds) {
    const double start = cpu_seconds();
    std::int64_t steps = 0;
    double elapsed = 0;
    do {
        for (int i = 0; i < 100; ++i) run();
        steps += 100 * kSteps;
        elapsed = cpu_seconds() - start;
    } while (elapsed < seconds);
    return static_cast<double>(steps) / elapsed;
}

void finish(Figure& figure, double yardstick) {
    figure.value = median(figure.runs);
    figure.ratio = figure.value / yardstick;
}

/// Seconds for one loop, and the bytes of the last snapshot.
std::pair<double, std::size_t> time_loop(
    const HandlerRegistry& handlers, std::int64_t turns, stateless::HistoryPolicy policy
) {
    stateless::Engine engine(handlers, {.history = policy});
    engine.add(loop(turns));
    stateless::Snapshot snapshot = engine.start("loop", Payload::text("0"));
    const double start = cpu_seconds();
    snapshot = engine.execute(std::move(snapshot), {.step_limit = turns + 1});
    return {cpu_seconds() - start, snapshot.to_json().size()};
}

Figure loop_figure(const HandlerRegistry& handlers) {
    Figure figure{
        .name = "stateless_loop_100000",
        .unit = "steps/s",
        .yardstick = "Refluxo 1,805 steps/s",
        .goal = 100.0,
    };
    for (int run = 0; run < 5; ++run) {
        const double seconds = time_loop(handlers, kLongLoop, {}).first;
        figure.runs.push_back(static_cast<double>(kLongLoop) / seconds);
    }
    finish(figure, kRefluxoLoop);
    return figure;
}

/// What the snapshot of a long loop weighs, by what its policy keeps.
Figure bytes_figure(const HandlerRegistry& handlers) {
    Figure figure{
        .name = "stateless_loop_snapshot_bytes",
        .unit = "bytes",
        .yardstick = "Refluxo 5,490,000 bytes",
        .goal = 1'000.0,
    };
    const auto bytes = [&](stateless::HistoryPolicy policy) {
        return time_loop(handlers, kLongLoop, policy).second;
    };
    figure.runs.push_back(static_cast<double>(bytes({.keep = Keep::Last, .last = 1})));
    figure.value = median(figure.runs);
    figure.ratio = kRefluxoLoopBytes / figure.value;
    figure.note = fmt::format(
        "of a loop of 100,000 turns, with the last result of each node; {} with the last 100, {} "
        "with errors only, {} when all is kept; ratio = how many times less than Refluxo",
        bytes({.keep = Keep::Last, .last = 100}),
        bytes({.keep = Keep::ErrorsOnly}),
        bytes({})
    );
    return figure;
}

Figure flatness_figure(const HandlerRegistry& handlers) {
    Figure figure{
        .name = "stateless_loop_flatness",
        .unit = "ns/turn",
        .yardstick = "a turn of a loop of 1,000",
        .goal = 1.1,
        .note = "ratio = cost of a turn of 100,000 / of 1,000; the goal is the most it may be",
    };
    std::vector<double> ratios;
    for (int run = 0; run < 5; ++run) {
        double small = 0;
        const int repeats = 20;
        for (int i = 0; i < repeats; ++i) small += time_loop(handlers, kShortLoop, {}).first;
        small /= static_cast<double>(repeats * kShortLoop);
        const double large =
            time_loop(handlers, kLongLoop, {}).first / static_cast<double>(kLongLoop);
        figure.runs.push_back(large * 1e9);
        ratios.push_back(large / small);
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    return figure;
}

}  // namespace

std::vector<Figure> stateless_figures() {
    const HandlerRegistry handlers = make_handlers();
    stateless::Engine engine(handlers);
    engine.add(linear());
    Figure in_memory{
        .name = "stateless_linear_10",
        .unit = "steps/s",
        .yardstick = "Refluxo 458,000 steps/s",
        .goal = 2.0,
        .note = "one thread, one execute() per instance; per second of CPU",
    };
    Figure through_json{
        .name = "stateless_linear_10_json",
        .unit = "steps/s",
        .yardstick = "Refluxo 137,000 steps/s",
        .goal = 3.0,
        .note = "one thread, parse + step + to_json at every step; per second of CPU",
    };
    for (int run = 0; run < 5; ++run) {
        in_memory.runs.push_back(steps_per_second([&] { run_in_memory(engine); }, 0.5));
        through_json.runs.push_back(steps_per_second([&] { run_through_json(engine); }, 0.5));
    }
    finish(in_memory, kRefluxoLinear);
    finish(through_json, kRefluxoJson);
    return {
        in_memory,
        through_json,
        loop_figure(handlers),
        flatness_figure(handlers),
        bytes_figure(handlers)
    };
}

}  // namespace ebb::bench
