#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "three_steps.h"

// A long run at full load, in ten parts: finished work must not make the rest slower.

namespace ebb::bench {

Figure steady_figure(const testing::PostgresServer& server, Work work, std::int64_t steps) {
    constexpr int kParts = 10;
    const Scratch scratch(server);
    Figure figure{
        .name = work == Work::Claimed ? "pg_steady_claimed" : "pg_steady",
        .unit = "steps/s",
        .goal = 0.9,
        .note = fmt::format("the last tenth of {} steps", steps)
    };
    std::int64_t workflows = 0;
    double task_bytes_early = 0;
    {
        const StorePtr store = scratch.open();
        for (int part = 0; part < kParts; ++part) {
            Progress progress;
            const Saturated run = run_saturated(
                *store,
                progress,
                {.workflows = steps / kParts / 3, .is_claimed = work == Work::Claimed}
            );
            figure.runs.push_back(run.steps_per_second());
            workflows += run.workflows;
            if (part == 0) task_bytes_early = scratch.table_use().task_bytes;
        }
    }
    wait_for_sessions(server, 0);
    scratch.require_completed(workflows);
    const TableUse use = scratch.table_use();
    figure.value = figure.runs.back();
    figure.ratio = figure.runs.back() / figure.runs.front();
    figure.yardstick = fmt::format("its first tenth: {:.0f} steps/s", figure.runs.front());
    figure.details = {
        {"steps", static_cast<double>(workflows * 3)},
        {"bytes_kept_per_workflow", use.kept_bytes / static_cast<double>(workflows)},
        {"hot_share_of_updates", use.hot_updates / use.updates},
        {"dead_rows", use.dead_rows},
        {"bytes_of_tasks_after_the_first_tenth", task_bytes_early},
        {"bytes_of_tasks", use.task_bytes},
    };
    return figure;
}

}  // namespace ebb::bench
