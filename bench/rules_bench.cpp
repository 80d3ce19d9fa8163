// Workflows with rules, beside workflows of steps and beside pgbench in the same run.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <ebb/ebb.h>

#include "postgres_runs.h"
#include "postgres_scratch.h"
#include "postgres_yardstick.h"
#include "rules_figures.h"
#include "rules_flow.h"
#include "support/uuid.h"

namespace ebb::bench {

using testing::PostgresServer;

Figure compare(const RulesAsked& asked, const Compared& compared) {
    Figure figure{
        .name = compared.name,
        .unit = compared.unit,
        .goal = compared.goal,
        .note = compared.note,
        .goal_is_most = compared.goal_is_most
    };
    std::vector<double> usuals;
    std::vector<double> ratios;
    for (int run = 0; run < asked.runs; ++run) {
        usuals.push_back(compared.usual());
        figure.runs.push_back(compared.special());
        ratios.push_back(figure.runs.back() / usuals.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("{}: {:.0f}", compared.usual_name, median(usuals));
    return figure;
}

double pgbench_n(const PostgresServer& server, int clients, double seconds) {
    if (server.execute("SELECT 1 FROM pg_database WHERE datname = 'pgbench_n'").empty()) {
        server.execute("CREATE DATABASE pgbench_n");
        run_pgbench(server, "pgbench_n", "-i -q");
    }
    const std::string text = run_pgbench(
        server,
        "pgbench_n",
        fmt::format("-n -N -M prepared -c {0} -j {0} -T {1:.0f}", clients, std::max(seconds, 1.0))
    );
    const std::size_t at = text.find("tps = ");
    if (at == std::string::npos) throw std::runtime_error("pgbench said: " + text);
    return std::stod(text.substr(at + 6));
}

namespace {

/// While it lives, sessions that begin do not wait for the disk at a commit.
class NoWaiting {
 public:
    explicit NoWaiting(const PostgresServer& server) : server_(server) {
        server_.execute("ALTER ROLE ebb SET synchronous_commit = off");
    }

    NoWaiting(const NoWaiting&) = delete;
    NoWaiting& operator=(const NoWaiting&) = delete;

    ~NoWaiting() { server_.execute("ALTER ROLE ebb RESET synchronous_commit"); }

 private:
    const PostgresServer& server_;
};

double saturated_with(const PostgresServer& server, Load load, double seconds) {
    return saturated_at(server, server.url(), {.load = std::move(load), .seconds = seconds})
        .client.steps_per_second();
}

/// A database on the disk where the build is: a RAM disk would make every commit free.
class SqliteFile {
 public:
    SqliteFile()
        : path_(std::filesystem::current_path() / fmt::format("ebb-bench-{:x}.db", random_bits())) {
    }

    SqliteFile(const SqliteFile&) = delete;
    SqliteFile& operator=(const SqliteFile&) = delete;

    ~SqliteFile() {
        for (const char* suffix : {"", "-wal", "-shm", "-hints"}) {
            std::filesystem::remove(path_.string() + suffix);
        }
    }

    std::string path() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

double saturated_on_sqlite(const Load& load, double seconds) {
    const SqliteFile file;
    const StorePtr store = open_sqlite_store({.path = file.path()});
    Progress progress;
    constexpr int kInFlight = 64;
    const Saturation saturation{
        .seconds = seconds, .workflows = 0, .window = kInFlight, .batch = kInFlight
    };
    return run_saturated(*store, progress, saturation, load).steps_per_second();
}

Figure saturated_figure_of_rules(const PostgresServer& server, const RulesAsked& asked) {
    Figure figure = compare(
        asked,
        {.name = "rules_pg_saturated",
         .goal = 0.5,
         .note = "three transitions, started, run and completed in one process; WED-SQL at its "
                 "best: 2,420/s",
         .usual_name = "pg_3step_saturated",
         .usual = [&] { return saturated_with(server, Load{}, asked.seconds); },
         .special = [&] { return saturated_with(server, three_transitions(), asked.seconds); }}
    );
    const double us = server_us_each(server, [&] {
        const Way way{.load = three_transitions(), .seconds = asked.seconds};
        return saturated_at(server, server.url(), way).client.steps();
    });
    const double pgbench_us = server_us_each(server, [&] {
        return pgbench_n(server, 1, asked.seconds) * std::max(asked.seconds, 1.0);
    });
    figure.details = {
        {"server_us_per_transition", us},
        {"server_us_per_pgbench_transaction", pgbench_us},
        {"cost_in_pgbench_transactions", us / pgbench_us}
    };
    return figure;
}

/// The run goes on if a part cannot be measured: the other figures take a quarter of an hour.
/// `name` stands in the report for those that are missing.
void add_part(
    std::vector<Figure>& figures, std::string_view name, const std::function<void()>& measure
) {
    try {
        measure();
    } catch (const std::exception& error) {
        figures.push_back({
            .name = std::string(name),
            .unit = "failed",
            .note = fmt::format("FAILED: {}", error.what()),
            .verdict = "failed",
        });
    }
}

void add_postgres_figures(std::vector<Figure>& figures, const RulesAsked& asked) {
    const PostgresServer server = make_bench_server();
    const double seconds = asked.seconds;
    if (is_asked(asked, "rules_pg_saturated")) {
        figures.push_back(saturated_figure_of_rules(server, asked));
    }
    if (is_asked(asked, "rules_pg_100_idle_triggers")) {
        figures.push_back(compare(
            asked,
            {.name = "rules_pg_100_idle_triggers",
             .goal = 0.95,
             .note = "saturated, with 100 more triggers whose conditions are never true",
             .usual_name = "without them",
             .usual = [&] { return saturated_with(server, three_transitions(), seconds); },
             .special = [&] { return saturated_with(server, three_transitions(100), seconds); }}
        ));
    }
    add_part(figures, "rules_pg_latency", [&] { add_latency_figures(figures, server, asked); });
    add_part(figures, "rules_pg_next", [&] { add_next_figures(figures, server, asked); });
    add_part(figures, "rules_pg_surface", [&] { add_surface_figures(figures, server, asked); });
    add_part(figures, "rules_pg_python", [&] { add_python_figures(figures, server, asked); });
}

}  // namespace

double server_us_each(const PostgresServer& server, const std::function<double()>& work) {
    const NoWaiting no_waiting(server);
    const ServerUse before = use_of(server);
    const double count = work();
    wait_for_sessions(server, 0);
    return (use_of(server) - before).cpu_seconds * 1e6 / count;
}

std::vector<Figure> rules_figures(const RulesAsked& asked) {
    std::vector<Figure> figures;
    if (is_asked(asked, "rules_kernel")) figures = kernel_figures_of_rules(asked);
    if (is_asked(asked, "rules_sqlite_inflight_64")) {
        figures.push_back(compare(
            asked,
            {.name = "rules_sqlite_inflight_64",
             .goal = 0.45,
             .note = "three transitions, 64 instances in flight",
             .usual_name = "three steps, 64 in flight",
             .usual = [&] { return saturated_on_sqlite(Load{}, asked.seconds); },
             .special = [&] { return saturated_on_sqlite(three_transitions(), asked.seconds); }}
        ));
    }
    const bool is_of_server = asked.only.empty() || asked.only.starts_with("rules_pg") ||
                              asked.only.starts_with("work_pg");
    if (is_of_server) add_postgres_figures(figures, asked);
    judge(figures);
    return figures;
}

}  // namespace ebb::bench
