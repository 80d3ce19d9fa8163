#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delaying_proxy.h"
#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "postgres_yardstick.h"
#include "three_steps.h"

// As many three-step workflows as go: in one process, in several, far from the server, and while
// somebody keeps an old snapshot.

namespace ebb::bench {

using testing::PostgresServer;

namespace {

struct SaturatedRun {
    Saturated client;
    ServerUse server;
};

SaturatedRun saturated_at(const PostgresServer& server, const std::string& url) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open_at(url);
    Progress progress;
    const ServerUse before = use_of(server);
    const Saturated measured = run_saturated(*store, progress, {.seconds = kPostgresSeconds});
    const ServerUse used = use_of(server) - before;
    scratch.require_completed(measured.workflows);
    return {measured, used};
}

double saturated(const PostgresServer& server) {
    return saturated_at(server, server.url()).client.steps_per_second();
}

/// Compares two ways of running, one after the other, so that both see the same machine.
template <class Usual, class Special>
void measure_pairs(Figure& figure, std::string_view usual_name, Usual usual, Special special) {
    std::vector<double> usuals;
    std::vector<double> ratios;
    for (int run = 0; run < kPostgresRuns; ++run) {
        usuals.push_back(usual());
        figure.runs.push_back(special());
        ratios.push_back(figure.runs.back() / usuals.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("{}: {:.0f} steps/s", usual_name, median(usuals));
}

/// Memory that processes forked from this one share with it.
class SharedProgress {
 public:
    SharedProgress() {
        void* memory = mmap(
            nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0
        );
        if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
        progress_ = new (memory) Progress;
    }

    SharedProgress(const SharedProgress&) = delete;
    SharedProgress& operator=(const SharedProgress&) = delete;

    ~SharedProgress() { munmap(progress_, sizeof(Progress)); }

    Progress& operator*() { return *progress_; }

 private:
    Progress* progress_;
};

/// In a process of its own, which writes the seconds that it took into the pipe.
void fork_saturated(const Scratch& scratch, Progress& progress, int processes, int result) {
    const pid_t pid = fork();
    if (pid < 0) throw std::runtime_error("fork failed");
    if (pid > 0) return;
    int status = 1;
    try {
        const StorePtr store = scratch.open();
        Saturation saturation{.seconds = kPostgresSeconds};
        saturation.window *= processes;
        const Saturated measured = run_saturated(*store, progress, saturation);
        const std::string line = fmt::format("{}\n", measured.seconds);
        status = write(result, line.data(), line.size()) > 0 ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    _exit(status);
}

double saturated_in_processes(const PostgresServer& server, int processes) {
    const Scratch scratch(server);
    scratch.open();
    SharedProgress progress;
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    for (int i = 0; i < processes; ++i) fork_saturated(scratch, *progress, processes, ends[1]);
    close(ends[1]);
    FILE* results = fdopen(ends[0], "r");
    double longest = 0;
    double seconds = 0;
    while (std::fscanf(results, "%lf", &seconds) == 1) longest = std::max(longest, seconds);
    std::fclose(results);
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) throw std::runtime_error("a worker process failed");
    }
    const std::int64_t workflows = (*progress).ended;
    scratch.require_completed(workflows);
    return static_cast<double>(workflows * 3) / longest;
}

}  // namespace

Figure saturated_figure(const PostgresServer& server) {
    Figure figure{.name = "pg_3step_saturated", .unit = "steps/s", .goal = 0.9};
    std::vector<double> client_us;
    std::vector<double> server_us;
    std::vector<double> wal_bytes;
    const auto yardstick = [&] {
        const MinimalStepRun fifty{
            .script = "minimal_step_50.sql", .steps_per_statement = 50, .clients = 2
        };
        return measure_minimal_steps(server, fifty).steps_per_second;
    };
    const auto ours = [&] {
        const auto [measured, used] = saturated_at(server, server.url());
        client_us.push_back(measured.client_cpu_seconds * 1e6 / measured.steps());
        server_us.push_back(used.cpu_seconds * 1e6 / measured.steps());
        wal_bytes.push_back(used.wal_bytes / measured.steps());
        return measured.steps_per_second();
    };
    measure_pairs(figure, "minimal durable step, 50 per statement, 2 clients", yardstick, ours);
    figure.note = fmt::format(
        "per step: {:.1f} us of CPU in the client, {:.1f} us in the server, {:.0f} bytes of WAL",
        median(client_us),
        median(server_us),
        median(wal_bytes)
    );
    return figure;
}

Figure processes_figure(const PostgresServer& server, int processes) {
    Figure figure{
        .name = fmt::format("pg_processes_{}", processes),
        .unit = "steps/s",
        .goal = 1.0,
        .note = "saturated, all processes together"
    };
    measure_pairs(
        figure,
        "one process",
        [&] { return saturated_in_processes(server, 1); },
        [&] { return saturated_in_processes(server, processes); }
    );
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

Figure old_snapshot_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_old_snapshot",
        .unit = "steps/s",
        .goal = 0.9,
        .note = "saturated, while another session keeps an old snapshot"
    };
    measure_pairs(
        figure,
        "without the snapshot",
        [&] { return saturated(server); },
        [&] {
            const OldSnapshot snapshot(server);
            return saturated(server);
        }
    );
    return figure;
}

}  // namespace ebb::bench
