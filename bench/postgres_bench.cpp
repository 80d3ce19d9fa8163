// Three-step workflows over a PostgreSQL server of our own with its default durability, beside the
// minimal durable step that pgbench measures on the same server in the same minute.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ebb/ebb.h>

#include "delaying_proxy.h"
#include "postgres_yardstick.h"
#include "report.h"
#include "store/store.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

constexpr int kRuns = 3;
constexpr double kSeconds = 5;

double milliseconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

PostgresServer make_server() {
    return PostgresServer(
        PostgresServer::Durability::Full,
        {"shared_buffers=1GB", "max_wal_size=4GB", "fsync=on", "synchronous_commit=on"}
    );
}

/// A schema of its own in the server's database, dropped at the end.
class Scratch {
 public:
    explicit Scratch(const PostgresServer& server)
        : server_(server), schema_(testing::fresh_schema()) {
        server_.execute("CHECKPOINT");
    }

    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    ~Scratch() {
        server_.execute(fmt::format(
            "SET client_min_messages = error; DROP SCHEMA IF EXISTS {} CASCADE", schema_
        ));
    }

    StorePtr open() const { return open_at(server_.url()); }

    StorePtr open_at(const std::string& url) const {
        return open_postgres_store({.url = url, .schema = schema_});
    }

    /// `sql` with the schema in place of {}.
    std::string execute(const std::string& sql) const {
        return server_.execute(fmt::format(fmt::runtime(sql), schema_));
    }

    void require_completed(std::int64_t workflows) const {
        const std::string count =
            execute("SELECT count(*) FROM {}.instances WHERE status = 'completed'");
        if (std::stoll(count) == workflows) return;
        throw std::runtime_error("the database counts " + count + " instead");
    }

 private:
    const PostgresServer& server_;
    std::string schema_;
};

Saturated saturated(const PostgresServer& server) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    const Saturated measured = run_saturated(*store, {.seconds = kSeconds});
    scratch.require_completed(measured.workflows);
    return measured;
}

double yardstick_50(const PostgresServer& server) {
    return measure_minimal_steps(
               server, {.script = "minimal_step_50.sql", .steps_per_statement = 50, .clients = 2}
    )
        .steps_per_second;
}

Figure saturated_figure(const PostgresServer& server) {
    Figure figure{.name = "pg_3step_saturated", .unit = "steps/s", .goal = 0.9};
    std::vector<double> ratios;
    std::vector<double> yardsticks;
    std::vector<double> client_us;
    for (int run = 0; run < kRuns; ++run) {
        yardsticks.push_back(yardstick_50(server));
        const Saturated measured = saturated(server);
        figure.runs.push_back(measured.steps_per_second());
        ratios.push_back(measured.steps_per_second() / yardsticks.back());
        client_us.push_back(
            measured.client_cpu_seconds * 1e6 / static_cast<double>(measured.workflows * 3)
        );
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format(
        "minimal durable step, 50 per statement, 2 clients: {:.0f} steps/s", median(yardsticks)
    );
    figure.note = fmt::format("{:.1f} us of the client's CPU per step", median(client_us));
    return figure;
}

std::vector<Figure> one_at_a_time_figures(const PostgresServer& server) {
    Figure p50{.name = "pg_3step_one_at_a_time", .unit = "ms", .goal = 5.5};
    std::vector<double> ratios;
    std::vector<double> steps_ms;
    std::vector<double> all_ms;
    for (int run = 0; run < kRuns; ++run) {
        const MinimalSteps steps = measure_minimal_steps(server, {.with_latencies = true});
        steps_ms.push_back(median(steps.latencies_ms));
        const Scratch scratch(server);
        const StorePtr store = scratch.open();
        const std::vector<double> latencies = run_one_at_a_time(*store, kSeconds);
        p50.runs.push_back(median(latencies));
        ratios.push_back(p50.runs.back() / steps_ms.back());
        all_ms.insert(all_ms.end(), latencies.begin(), latencies.end());
    }
    p50.value = median(p50.runs);
    p50.ratio = median(ratios);
    p50.yardstick =
        fmt::format("p50 of one minimal durable step, 1 client: {:.3f} ms", median(steps_ms));
    p50.note = "p50 of a whole workflow from start() to its result; the goal is the most";
    Figure p99{
        .name = "pg_3step_one_at_a_time_p99",
        .value = percentile(all_ms, 0.99),
        .unit = "ms",
        .yardstick = "its p50",
        .ratio = percentile(all_ms, 0.99) / p50.value,
        .goal = 2,
        .runs = {},
        .note = "the goal is the most"
    };
    const double eight = measure_minimal_steps(server, {.clients = 8}).steps_per_second;
    const Figure minimal{
        .name = "pg_minimal_step_8_clients",
        .value = eight,
        .unit = "steps/s",
        .note = "pgbench alone: one minimal durable step per statement"
    };
    return {p50, p99, minimal};
}

/// Milliseconds between the turns of one instance that loops.
std::vector<double> turn_gaps(const PostgresServer& server, int turns) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    std::vector<double> gaps;
    auto last = SteadyClock::now();
    HandlerRegistry handlers;
    handlers.add("turn", Handler([&](const Payload&, const StepContext&) {
                     gaps.push_back(milliseconds_since(last));
                     last = SteadyClock::now();
                     return fmt::format("{}", gaps.size());
                 }));
    Engine engine(*store, handlers);
    WorkflowBuilder builder("looping");
    builder
        .loop_while(
            "again",
            fmt::format("steps.turn.output < {}", turns),
            [](BlockBuilder& body) { body.step("turn"); }
        )
        .max_iterations(turns + 1);
    engine.register_workflow(builder.build());
    engine.run();
    const Result result = engine.wait(engine.start("looping", "{}").id);
    if (static_cast<int>(gaps.size()) != turns) {
        throw std::runtime_error("the loop ended early: " + result.status + result.error);
    }
    engine.drain(std::chrono::seconds(5));
    return gaps;
}

Figure flatness_figure(const PostgresServer& server) {
    constexpr int kTurns = 10'000;
    constexpr int kSample = 500;
    Figure figure{
        .name = "pg_step_flatness",
        .unit = "ms/step",
        .yardstick = "a step near the 10th of the same instance",
        .goal = 1.1,
        .note = "p50 of the last 500 of 10,000 steps; the goal is the most"
    };
    std::vector<double> ratios;
    for (int run = 0; run < kRuns; ++run) {
        const std::vector<double> gaps = turn_gaps(server, kTurns);
        const double early = median({gaps.begin() + 10, gaps.begin() + 10 + kSample});
        const double late = median({gaps.end() - kSample, gaps.end()});
        figure.runs.push_back(late);
        ratios.push_back(late / early);
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    return figure;
}

/// Adds due tasks without asking the store: instances and all, `count` of each handler.
void add_backlog(const Scratch& scratch, int count) {
    scratch.execute(fmt::format(
        "INSERT INTO {{}}.instances (id, revision, created_at, updated_at, version, priority,"
        " status, workflow, state)"
        " SELECT gen_random_uuid(), 1, 1, 1, 1, 0, 'running', 'w', '{{{{}}}}'"
        " FROM generate_series(1, {})",
        count
    ));
    for (const char* handler : {"mine", "theirs"}) {
        scratch.execute(fmt::format(
            "INSERT INTO {{}}.tasks (instance_id, token, rank, due_at, lane, handler, queue)"
            " SELECT id, {}, row_number() OVER (), 1, 1, '{}', '' FROM {{0}}.instances",
            handler[0] == 'm' ? 1 : 2,
            handler
        ));
    }
    scratch.execute("ANALYZE");
}

/// p50 of a claim of 64.
double claim_ms(Store& store) {
    ClaimRequest request;
    request.worker = "w";
    request.handlers = {"mine"};
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
        const auto start = SteadyClock::now();
        const std::vector<Claim> claims = store.claim(request);
        times.push_back(milliseconds_since(start));
        if (claims.size() != 64) throw std::runtime_error("a claim found less than there is");
        std::vector<TaskRef> tasks;
        for (const Claim& claim : claims) tasks.push_back(claim.task);
        store.release("w", tasks);
    }
    return median(times);
}

Figure backlog_figure(const PostgresServer& server) {
    const auto measure = [&](int backlog) {
        const Scratch scratch(server);
        const StorePtr store = scratch.open();
        WorkerRow worker;
        worker.id = "w";
        worker.handlers = {"mine"};
        store->heartbeat(worker, std::chrono::minutes(10));
        add_backlog(scratch, backlog);
        return claim_ms(*store);
    };
    const double small = measure(1'000);
    const double large = measure(1'000'000);
    return {
        .name = "pg_claim_backlog",
        .value = large,
        .unit = "ms",
        .yardstick = fmt::format("the same with 1,000 of each: {:.3f} ms", small),
        .ratio = large / small,
        .goal = 1.2,
        .runs = {large},
        .note =
            "p50 of a claim of 64, with 1,000,000 due tasks of its own handler and as many of "
            "another; the goal is the most"
    };
}

/// In a process of its own; there must be no threads. Its figure comes back through a pipe.
int fork_saturated(const Scratch& scratch, int result) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    int status = 1;
    try {
        const StorePtr store = scratch.open();
        const Saturated measured = run_saturated(*store, {.seconds = kSeconds});
        const std::string line =
            fmt::format("{} {}\n", measured.workflows, measured.steps_per_second());
        status = write(result, line.data(), line.size()) > 0 ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
    }
    _exit(status);
}

double saturated_in_processes(const PostgresServer& server, int processes) {
    const Scratch scratch(server);
    scratch.open();
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    for (int i = 0; i < processes; ++i) fork_saturated(scratch, ends[1]);
    close(ends[1]);
    FILE* results = fdopen(ends[0], "r");
    double sum = 0;
    std::int64_t workflows = 0;
    long long count = 0;
    double rate = 0;
    while (std::fscanf(results, "%lld %lf", &count, &rate) == 2) {
        workflows += count;
        sum += rate;
    }
    std::fclose(results);
    for (int i = 0; i < processes; ++i) {
        int status = 0;
        if (wait(&status) < 0 || status != 0) throw std::runtime_error("a worker process failed");
    }
    scratch.require_completed(workflows);
    return sum;
}

Figure processes_figure(const PostgresServer& server, int processes) {
    Figure figure{
        .name = fmt::format("pg_processes_{}", processes),
        .unit = "steps/s",
        .goal = 1.0,
        .note = "saturated, all processes together"
    };
    std::vector<double> ratios;
    std::vector<double> alone;
    for (int run = 0; run < kRuns; ++run) {
        alone.push_back(saturated_in_processes(server, 1));
        figure.runs.push_back(saturated_in_processes(server, processes));
        ratios.push_back(figure.runs.back() / alone.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("one process: {:.0f} steps/s", median(alone));
    return figure;
}

Figure latency_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_latency_2ms",
        .unit = "steps/s",
        .goal = 0.6,
        .note = "saturated, with 2 ms more for each round trip"
    };
    std::vector<double> ratios;
    std::vector<double> near;
    for (int run = 0; run < kRuns; ++run) {
        near.push_back(saturated(server).steps_per_second());
        const DelayingProxy proxy(server.folder(), 1'000);
        const Scratch scratch(server);
        const StorePtr store = scratch.open_at("postgresql://ebb@/ebb_test?host=" + proxy.host());
        const Saturated measured = run_saturated(*store, {.seconds = kSeconds});
        scratch.require_completed(measured.workflows);
        figure.runs.push_back(measured.steps_per_second());
        ratios.push_back(measured.steps_per_second() / near.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("without it: {:.0f} steps/s", median(near));
    return figure;
}

}  // namespace

std::vector<Figure> postgres_figures(std::string_view only) {
    const PostgresServer server = make_server();
    std::vector<Figure> figures;
    const auto add = [&](std::string_view name, auto measure) {
        if (!only.empty() && only != name) return;
        for (Figure& figure : measure()) figures.push_back(std::move(figure));
    };
    using Figures = std::vector<Figure>;
    add("pg_3step_saturated", [&] { return Figures{saturated_figure(server)}; });
    add("pg_3step_one_at_a_time", [&] { return one_at_a_time_figures(server); });
    add("pg_step_flatness", [&] { return Figures{flatness_figure(server)}; });
    add("pg_claim_backlog", [&] { return Figures{backlog_figure(server)}; });
    add("pg_processes_2", [&] { return Figures{processes_figure(server, 2)}; });
    add("pg_processes_4", [&] { return Figures{processes_figure(server, 4)}; });
    add("pg_latency_2ms", [&] { return Figures{latency_figure(server)}; });
    return figures;
}

}  // namespace ebb::bench
