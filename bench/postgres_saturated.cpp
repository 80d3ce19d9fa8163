#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delaying_proxy.h"
#include "postgres_figures.h"
#include "postgres_runs.h"
#include "postgres_scratch.h"
#include "postgres_yardstick.h"
#include "shared_memory.h"
#include "three_steps.h"

// As many three-step workflows as go: in one process, in several, far from the server, and while
// another session keeps an old snapshot.

namespace ebb::bench {

using testing::PostgresServer;

namespace {

/// In a process of its own, which writes the seconds that it took, and those of its processor time,
/// into the pipe.
void fork_saturated(const Scratch& scratch, Progress& progress, int window, int result) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid > 0) return;
    int status = 1;
    try {
        const StorePtr store = scratch.open();
        const Saturation saturation{.seconds = kPostgresSeconds, .window = window};
        const Saturated measured = run_saturated(*store, progress, saturation);
        const std::string line =
            fmt::format("{} {}\n", measured.seconds, measured.client_cpu_seconds);
        status = write(result, line.data(), line.size()) > 0 ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    _exit(status);
}

/// `window`: instances in flight in all of them together.
SaturatedRun saturated_in_processes(const PostgresServer& server, int processes, int window) {
    const Scratch scratch(server);
    scratch.open();
    wait_for_sessions(server, 0);
    const ServerUse before = use_of(server);
    SharedMemory<Progress> progress;
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    for (int i = 0; i < processes; ++i) fork_saturated(scratch, *progress, window, ends[1]);
    close(ends[1]);
    FILE* results = fdopen(ends[0], "r");
    SaturatedRun run;
    double seconds = 0;
    double cpu_seconds = 0;
    while (std::fscanf(results, "%lf %lf", &seconds, &cpu_seconds) == 2) {
        run.client.seconds = std::max(run.client.seconds, seconds);
        run.client.client_cpu_seconds += cpu_seconds;
    }
    std::fclose(results);
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) throw std::runtime_error("a worker process failed");
    }
    run.client.workflows = (*progress).ended;
    wait_for_sessions(server, 0);
    run.server = use_of(server) - before;
    run.tables = scratch.table_use();
    scratch.require_completed(run.client.workflows);
    return run;
}

}  // namespace

Figure saturated_figure(const PostgresServer& server) {
    Figure figure{.name = "pg_3step_saturated", .unit = "steps/s", .goal = 0.95};
    Costs costs;
    const auto yardstick = [&] {
        const MinimalStepRun fifty{
            .script = "minimal_step_50.sql", .steps_per_statement = 50, .clients = 2
        };
        return measure_minimal_steps(server, fifty).steps_per_second;
    };
    const auto ours = [&] {
        const SaturatedRun run = saturated_at(server, server.url());
        costs.add(run);
        return run.client.steps_per_second();
    };
    measure_pairs(figure, "minimal durable step, 50 per statement, 2 clients", yardstick, ours);
    figure.note = "three no-op steps, started, run and completed in one process";
    figure.details = costs.medians();
    return figure;
}

Figure processes_figure(const PostgresServer& server, int processes) {
    Figure figure{
        .name = fmt::format("pg_processes_{}", processes),
        .unit = "steps/s",
        .goal = 1.0,
        .note = "saturated, all processes together; the load is the same"
    };
    const int window = Saturation().window * processes;
    Costs costs;
    measure_pairs(
        figure,
        "one process",
        [&] { return saturated_in_processes(server, 1, window).client.steps_per_second(); },
        [&] {
            const SaturatedRun run = saturated_in_processes(server, processes, window);
            costs.add(run);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

Figure latency_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_latency_2ms",
        .unit = "steps/s",
        .goal = 0.6,
        .note = "saturated, with 2 ms more for each round trip"
    };
    measure_pairs(
        figure,
        "without the latency",
        [&] { return saturated(server); },
        [&] {
            const DelayingProxy proxy(server.folder(), 1'000);
            const std::string url = "postgresql://ebb@/ebb_test?host=" + proxy.host();
            return saturated_at(server, url).client.steps_per_second();
        }
    );
    return figure;
}

Figure claimed_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_claimed",
        .unit = "steps/s",
        .goal = 0.85,
        .note = "saturated, with instances that another process starts"
    };
    Costs costs;
    measure_pairs(
        figure,
        "with instances of its own",
        [&] { return saturated(server); },
        [&] {
            const SaturatedRun run = saturated_at(server, server.url(), {.work = Work::Claimed});
            costs.add(run);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

Figure old_snapshot_figure(const PostgresServer& server, Work work) {
    Figure figure{
        .name = work == Work::Claimed ? "pg_old_snapshot_claimed" : "pg_old_snapshot",
        .unit = "steps/s",
        .goal = 0.95,
        .note = "saturated, while another session keeps an old snapshot"
    };
    Costs costs;
    measure_pairs(
        figure,
        "without the snapshot",
        [&] { return saturated(server, work); },
        [&] {
            const OldSnapshot snapshot(server);
            const Way way{.work = work, .others = 1};
            const SaturatedRun run = saturated_at(server, server.url(), way);
            costs.add(run);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

}  // namespace ebb::bench
