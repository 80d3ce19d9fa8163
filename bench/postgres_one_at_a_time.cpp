#include <fmt/format.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "postgres_yardstick.h"
#include "three_steps.h"

// One workflow after another: what a person or a request that waits for the result sees.

namespace ebb::bench {

using testing::PostgresServer;

std::vector<Figure> one_at_a_time_figures(const PostgresServer& server) {
    Figure p50{.name = "pg_3step_one_at_a_time", .unit = "ms", .goal = 5.5};
    std::vector<double> ratios;
    std::vector<double> steps_ms;
    Figure p99{
        .name = "pg_3step_one_at_a_time_p99",
        .unit = "ms",
        .yardstick = "the p50 of the same run",
        .goal = 2,
        .note = "the goal is the most"
    };
    std::vector<double> p99_ratios;
    for (int run = 0; run < kPostgresRuns; ++run) {
        const MinimalSteps steps = measure_minimal_steps(server, {.with_latencies = true});
        steps_ms.push_back(median(steps.latencies_ms));
        const Scratch scratch(server);
        const StorePtr store = scratch.open();
        const std::vector<double> latencies = run_one_at_a_time(*store, kPostgresSeconds);
        p50.runs.push_back(median(latencies));
        ratios.push_back(p50.runs.back() / steps_ms.back());
        p99.runs.push_back(percentile(latencies, 0.99));
        p99_ratios.push_back(p99.runs.back() / p50.runs.back());
    }
    p50.value = median(p50.runs);
    p50.ratio = median(ratios);
    p50.yardstick =
        fmt::format("p50 of one minimal durable step, 1 client: {:.3f} ms", median(steps_ms));
    p50.note = "p50 of a whole workflow from start() to its result; the goal is the most";
    p99.value = median(p99.runs);
    p99.ratio = median(p99_ratios);
    const double eight = measure_minimal_steps(server, {.clients = 8}).steps_per_second;
    const Figure minimal{
        .name = "pg_minimal_step_8_clients",
        .value = eight,
        .unit = "steps/s",
        .note = "pgbench alone: one minimal durable step per statement"
    };
    return {p50, p99, minimal};
}

}  // namespace ebb::bench
