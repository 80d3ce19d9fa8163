#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/kernel/decide.h"
#include "rules_figures.h"
#include "rules_flow.h"

// Transitions of rules in the kernel alone.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// What a running worker has in memory: the events of the newest commit.
class NewestEvents : public HistoryView {
 public:
    void append(std::vector<HistoryEvent>&& events) { events_ = std::move(events); }

    Payload payload(Seq seq) const override {
        const auto found = find_event(seq);
        return found ? found->payload : Payload::text("{}");
    }

    std::optional<HistoryEvent> find_event(Seq seq) const override {
        for (const HistoryEvent& event : events_) {
            if (event.seq == seq) return event;
        }
        return std::nullopt;
    }

    std::optional<Seq> output_of(std::string_view) const override { return std::nullopt; }

    std::optional<HistoryEvent> previous_undoable(Seq, Seq, std::string_view) const override {
        return std::nullopt;
    }

 private:
    std::vector<HistoryEvent> events_;
};

/// Nanoseconds of one transition between the two numbers of an instance that counts.
double transition_ns(std::int64_t from, std::int64_t to) {
    const auto program = Program::compile(counting(to + 1));
    const InstanceIdentity identity{
        .id = *InstanceId::parse("01900000-0000-7000-8000-000000000001"), .key = {}
    };
    const TimePoint now{std::chrono::seconds(1'700'000'000)};
    NewestEvents history;
    Decision decision =
        decide(*program, identity, {}, event::Started{.input = "{}", .by = {}}, history, now);
    history.append(std::move(decision.history));
    SteadyClock::time_point start = SteadyClock::now();
    for (std::int64_t n = 1; n <= to; ++n) {
        if (n == from) start = SteadyClock::now();
        const event::StepCompleted done{
            .attempt = present_attempt(decision.state.tokens.front()),
            .output = fmt::format("{{\"n\":{}}}", n),
            .started_at = now,
            .worker = "bench"
        };
        decision = decide(*program, identity, std::move(decision.state), done, history, now);
        history.append(std::move(decision.history));
    }
    if (is_terminal(decision.state.status)) throw std::runtime_error("the count has ended early");
    return seconds_since(start) * 1e9 / static_cast<double>(to - from + 1);
}

}  // namespace

std::vector<Figure> kernel_figures_of_rules(const RulesAsked& asked) {
    Figure speed{
        .name = "rules_kernel",
        .unit = "transitions/s",
        .yardstick = "1,000,000 transitions/s per core",
        .goal = 0.5,
        .note = "one core, no store"
    };
    Figure flat{
        .name = "rules_kernel_flatness",
        .unit = "ns/transition",
        .yardstick = "a transition near the 10th of other instances",
        .goal = 1.1,
        .note = "ratio = cost near the 100,000th / near the 10th; the goal is the most it may be",
        .goal_is_most = true
    };
    std::vector<double> ratios;
    for (int run = 0; run < asked.runs; ++run) {
        double early = 0;
        constexpr int kInstances = 2'000;
        for (int i = 0; i < kInstances; ++i) early += transition_ns(10, 19) / kInstances;
        const double late = transition_ns(90'001, 100'000);
        speed.runs.push_back(1e9 / late);
        flat.runs.push_back(late);
        ratios.push_back(late / early);
    }
    speed.value = median(speed.runs);
    speed.ratio = speed.value / 1e6;
    flat.value = median(flat.runs);
    flat.ratio = median(ratios);
    return {speed, flat};
}

}  // namespace ebb::bench
