// The kernel alone: decide() over plain containers in one thread, no store, no payload larger than
// a few bytes.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ebb/builder.h>

#include "core/kernel/decide.h"
#include "report.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// Keeps payloads of the newest events only: what a running worker has in memory.
class RecentHistory : public HistoryView {
 public:
    void append(std::vector<HistoryEvent>&& events) {
        if (events.empty()) return;
        first_ = std::move(events.front().payload);
        if (events.size() > 1) first_ = std::move(events.back().payload);
        ++commits_;
    }

    Payload payload(Seq) const override { return first_.empty() ? "{}" : first_; }

    std::optional<HistoryEvent> find_event(Seq) const override { return std::nullopt; }

    std::optional<Seq> output_of(std::string_view) const override { return std::nullopt; }

    std::optional<HistoryEvent> previous_undoable(Seq, Seq, std::string_view) const override {
        return std::nullopt;
    }

    std::int64_t commits() const { return commits_; }

 private:
    Payload first_;
    std::int64_t commits_ = 0;
};

/// Runs one instance to its end; returns how many steps it completed.
std::int64_t run_instance(const Program& program, const InstanceIdentity& identity, bool encodes) {
    RecentHistory history;
    const TimePoint now{std::chrono::seconds(1'700'000'000)};
    Decision decision =
        decide(program, identity, {}, event::Started{.input = "{\"n\":1}"}, history, now);
    history.append(std::move(decision.history));
    std::int64_t steps = 0;
    std::size_t bytes = 0;
    while (!is_terminal(decision.state.status)) {
        const Token& token = decision.state.tokens.front();
        const event::StepCompleted done{
            .attempt = {.token = token.id, .visit = token.visit, .attempt = token.attempt},
            .output = "{\"n\":1}",
            .started_at = now,
            .worker = "bench"
        };
        decision = decide(program, identity, std::move(decision.state), done, history, now);
        if (encodes) bytes += encode_state(decision.state, program).size();
        history.append(std::move(decision.history));
        ++steps;
    }
    if (encodes && bytes == 0) return 0;
    return steps;
}

Definition linear(int steps) {
    WorkflowBuilder builder("linear", 1);
    for (int i = 0; i < steps; ++i) builder.step(fmt::format("step_{}", i));
    return builder.build();
}

Definition loop(std::int64_t turns) {
    WorkflowBuilder builder("loop", 1);
    builder.loop_while(
               "again", "attempt == 1", [](BlockBuilder& body) { body.step("turn"); }
    ).max_iterations(turns);
    return builder.build();
}

double steps_per_second(
    const Program& program, const InstanceIdentity& identity, bool encodes, double seconds
) {
    const auto start = SteadyClock::now();
    std::int64_t steps = 0;
    double elapsed = 0;
    do {
        for (int i = 0; i < 100; ++i) steps += run_instance(program, identity, encodes);
        elapsed = seconds_since(start);
    } while (elapsed < seconds);
    return static_cast<double>(steps) / elapsed;
}

Figure linear_figure(const InstanceIdentity& identity, bool encodes) {
    const auto program = Program::compile(linear(10));
    Figure figure{
        .name = encodes ? "kernel_linear_10_encoded" : "kernel_linear_10",
        .unit = "steps/s",
        .yardstick = "1,000,000 steps/s per core",
        .goal = encodes ? 0.0 : 1.0,
        .note = "one core, no store"
    };
    for (int run = 0; run < 5; ++run)
        figure.runs.push_back(steps_per_second(*program, identity, encodes, 0.5));
    figure.value = median(figure.runs);
    figure.ratio = figure.value / 1e6;
    return figure;
}

/// Nanoseconds per turn of a loop that turns `turns` times.
double turn_cost(std::int64_t turns, const InstanceIdentity& identity) {
    const auto program = Program::compile(loop(turns));
    const std::int64_t repeats = std::max<std::int64_t>(1, 200'000 / turns);
    const auto start = SteadyClock::now();
    // The last check of the loop's condition fails it for good (its condition always holds): one
    // more event per instance.
    for (std::int64_t i = 0; i < repeats; ++i) run_instance(*program, identity, true);
    return seconds_since(start) * 1e9 / static_cast<double>(repeats * turns);
}

Figure loop_figure(const InstanceIdentity& identity) {
    Figure figure{
        .name = "kernel_loop_flatness",
        .unit = "ns/turn",
        .yardstick = "a turn of a loop of 100",
        .goal = 1.1,
        .note = "ratio = cost of a turn of 100,000 / of 100; the goal is the most it may be"
    };
    std::vector<double> ratios;
    for (int run = 0; run < 5; ++run) {
        const double small = turn_cost(100, identity);
        const double large = turn_cost(100'000, identity);
        figure.runs.push_back(large);
        ratios.push_back(large / small);
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    return figure;
}

}  // namespace

std::vector<Figure> kernel_figures() {
    const InstanceIdentity identity{
        .id = *InstanceId::parse("01900000-0000-7000-8000-000000000001")
    };
    return {linear_figure(identity, false), linear_figure(identity, true), loop_figure(identity)};
}

}  // namespace ebb::bench
