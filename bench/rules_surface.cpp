#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ebb/ebb.h>

#include "crew.h"
#include "postgres_scratch.h"
#include "rules_figures.h"
#include "rules_flow.h"
#include "surface_database.h"

// Flows that are tables of a PostgreSQL database: what applications and workers in SQL do in their
// own transactions, and C++ workers beside them.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// What a session does once and is counted as one.
using Turn = std::function<void(SqlSession& session)>;

/// Makes the turns of one session, which may remember something from one to the next.
using Turns = std::function<Turn()>;

/// Sessions that take turns on their own until the time is over. Returns how many they take in a
/// second; each session's time ends with its last turn.
double turns_per_second(
    const SurfaceDatabase& database, int sessions, double seconds, const Turns& turns
) {
    std::atomic<bool> ends{false};
    std::vector<double> rates(static_cast<std::size_t>(sessions));
    Crew crew(ends);
    for (double& rate : rates) {
        crew.add([&] {
            SqlSession session = database.session();
            const Turn turn = turns();
            const auto start = SteadyClock::now();
            double taken = 0;
            std::int64_t done = 0;
            for (; !ends && taken < seconds; taken = seconds_since(start)) {
                turn(session);
                done += 1;
            }
            rate = static_cast<double>(done) / taken;
        });
    }
    crew.join();
    return std::accumulate(rates.begin(), rates.end(), 0.0);
}

/// WED-SQL's own protocol: an instance is taken through its three transitions, each with a claim,
/// an UPDATE and a COMMIT. What starts the instances counts, but they start many at a time.
Turn updates() {
    struct Place {
        std::vector<std::string> wids{};
        int at = 0;  ///< the transition of the last of them that was made last
    };

    return [place = Place{}](SqlSession& session) mutable {
        constexpr int kTransitions = 3;
        if (place.wids.empty()) {
            const auto rows = session.run(
                "INSERT INTO wed_flow (at) SELECT 0 FROM generate_series(1, 64) RETURNING wid"
            );
            for (int i = 0; i < PQntuples(rows.get()); ++i) {
                place.wids.emplace_back(PQgetvalue(rows.get(), i, 0));
            }
        }
        const std::string wid = place.wids.back();
        const std::string number = std::to_string(place.at + 1);
        session.run("BEGIN");
        session.run("SELECT pg_try_advisory_xact_lock($1::integer, $2::integer)", {wid, number});
        session.run("UPDATE wed_flow SET at = $2 WHERE wid = $1", {wid, number});
        session.run("COMMIT");
        place.at = (place.at + 1) % kTransitions;
        if (place.at == 0) place.wids.pop_back();
    };
}

Turn inserts() {
    return [](SqlSession& session) { session.run("INSERT INTO wed_flow DEFAULT VALUES"); };
}

double work_in_new_database(
    const PostgresServer& server,
    int sessions,
    double seconds,
    const Turns& turns,
    int idle_triggers = 0
) {
    const SurfaceDatabase database(server, idle_triggers);
    return turns_per_second(database, sessions, seconds, turns);
}

/// What one costs the server, in transactions of pgbench, without waiting for the disk.
void add_cost(
    Figure& figure, const PostgresServer& server, const RulesAsked& asked, const Turns& turns
) {
    const SurfaceDatabase database(server);
    const double us = server_us_each(server, [&] {
        return turns_per_second(database, 1, asked.seconds, turns) * asked.seconds;
    });
    const double pgbench_us = server_us_each(server, [&] {
        return pgbench_n(server, 1, asked.seconds) * std::max(asked.seconds, 1.0);
    });
    figure.details = {
        {"server_us_each", us},
        {"server_us_per_pgbench_transaction", pgbench_us},
        {"cost_in_pgbench_transactions", us / pgbench_us}
    };
}

void add_update_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    for (const int sessions : {1, 4}) {
        const std::string name = fmt::format("rules_pg_update_{}", sessions);
        if (!is_asked(asked, name)) continue;
        figures.push_back(compare(
            asked,
            {.name = name,
             .goal = 0.45,
             .note = "WED-SQL's protocol: claim, UPDATE, COMMIT",
             .usual_name = fmt::format("pgbench -N, {} clients", sessions),
             .usual = [&] { return pgbench_n(server, sessions, asked.seconds); },
             .special =
                 [&] { return work_in_new_database(server, sessions, asked.seconds, updates); }}
        ));
        if (sessions == 1) add_cost(figures.back(), server, asked, updates);
    }
}

void add_insert_figure(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (!is_asked(asked, "rules_pg_insert")) return;
    figures.push_back(compare(
        asked,
        {.name = "rules_pg_insert",
         .goal = 0.8,
         .note = "an INSERT of an application that starts an instance",
         .usual_name = "pgbench -N, 1 client",
         .usual = [&] { return pgbench_n(server, 1, asked.seconds); },
         .special = [&] { return work_in_new_database(server, 1, asked.seconds, inserts); },
         .unit = "instances/s"}
    ));
    add_cost(figures.back(), server, asked, inserts);
}

/// While it lives, a commit waits 5 ms before it flushes, so that others can join it.
class SlowFlush {
 public:
    explicit SlowFlush(const PostgresServer& server) : server_(server) {
        server_.execute("ALTER ROLE ebb SET commit_delay = 5000");
        server_.execute("ALTER ROLE ebb SET commit_siblings = 0");
    }

    SlowFlush(const SlowFlush&) = delete;
    SlowFlush& operator=(const SlowFlush&) = delete;

    ~SlowFlush() {
        server_.execute("ALTER ROLE ebb RESET commit_delay");
        server_.execute("ALTER ROLE ebb RESET commit_siblings");
    }

 private:
    const PostgresServer& server_;
};

void add_flush_figure(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (!is_asked(asked, "rules_pg_flush_5ms")) return;
    const SlowFlush slow(server);
    const auto rate = [&](int sessions) {
        return work_in_new_database(server, sessions, asked.seconds, updates);
    };
    figures.push_back(compare(
        asked,
        {.name = "rules_pg_flush_5ms",
         .goal = 6,
         .note = "8 sessions in WED-SQL's protocol, on a disk whose flush takes 5 ms",
         .usual_name = "1 session",
         .usual = [=] { return rate(1); },
         .special = [=] { return rate(8); }}
    ));
}

void add_idle_figure(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (!is_asked(asked, "rules_pg_100_idle_triggers_in_sql")) return;
    constexpr int kIdle = 100;
    const auto rate = [&](int idle) {
        return work_in_new_database(server, 1, asked.seconds, updates, idle);
    };
    figures.push_back(compare(
        asked,
        {.name = "rules_pg_100_idle_triggers_in_sql",
         .goal = 0.95,
         .note = "WED-SQL's protocol, with 100 more triggers whose conditions are never true",
         .usual_name = "without them",
         .usual = [=] { return rate(0); },
         .special = [=] { return rate(kIdle); }}
    ));
}

/// Transitions per second of C++ workers on a flow that is tables.
double saturated_on_surface(const SurfaceDatabase& database, double seconds) {
    const StorePtr store = database.open();
    const Load load = three_transitions();
    Engine engine(*store, load.handlers);
    engine.run();
    Progress progress;
    const Saturated run = run_saturated_in(engine, progress, {.seconds = seconds}, load);
    engine.drain(std::chrono::seconds(5));
    return run.steps_per_second();
}

double saturated_on_new_surface(const PostgresServer& server, double seconds) {
    const SurfaceDatabase database(server);
    return saturated_on_surface(database, seconds);
}

double saturated_without_surface(const PostgresServer& server, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    Progress progress;
    return run_saturated(*store, progress, {.seconds = seconds}, three_transitions())
        .steps_per_second();
}

/// Steps per second of a workflow of steps, in a database that also has a flow.
double saturated_beside_flow(const PostgresServer& server, double seconds, bool has_triggers) {
    const SurfaceDatabase database(server);
    if (!has_triggers) {
        SqlSession owner = database.session();
        owner.run("DROP TRIGGER flows_started ON ebb.instances");
        owner.run("DROP TRIGGER flows_committed ON ebb.instances");
    }
    const StorePtr store = database.open();
    Progress progress;
    return run_saturated(*store, progress, {.seconds = seconds}, Load{}).steps_per_second();
}

/// An application has one row locked, whose transition waits for a worker.
double saturated_beside_open_row(const PostgresServer& server, double seconds) {
    const SurfaceDatabase database(server);
    database.start(1);
    SqlSession application = database.session();
    application.run("BEGIN");
    application.run("SELECT 1 FROM wed_flow FOR UPDATE");
    // The held instance ends only after this, so it is none of the run's own.
    const StorePtr store = database.open();
    const Load load = three_transitions();
    Engine engine(*store, load.handlers);
    engine.run();
    Progress progress;
    const Saturated run = run_saturated_in(engine, progress, {.seconds = seconds}, load);
    application.run("ROLLBACK");
    engine.drain(std::chrono::seconds(5));
    return run.steps_per_second();
}

void add_cpp_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (is_asked(asked, "rules_pg_surface")) {
        figures.push_back(compare(
            asked,
            {.name = "rules_pg_surface",
             .goal = 0.6,
             .note = "C++ workers on a flow that is tables",
             .usual_name = "rules_pg_saturated",
             .usual = [&] { return saturated_without_surface(server, asked.seconds); },
             .special = [&] { return saturated_on_new_surface(server, asked.seconds); }}
        ));
    }
    if (is_asked(asked, "rules_pg_beside_flow")) {
        figures.push_back(compare(
            asked,
            {.name = "rules_pg_beside_flow",
             .goal = 0.95,
             .note = "three steps of another workflow in a database with a flow",
             .usual_name = "without the flow's triggers",
             .usual = [&] { return saturated_beside_flow(server, asked.seconds, false); },
             .special = [&] { return saturated_beside_flow(server, asked.seconds, true); },
             .unit = "steps/s"}
        ));
    }
    if (is_asked(asked, "rules_pg_open_row")) {
        figures.push_back(compare(
            asked,
            {.name = "rules_pg_open_row",
             .goal = 0.9,
             .note = "C++ workers while an application keeps one row's transaction open",
             .usual_name = "without it",
             .usual = [&] { return saturated_on_new_surface(server, asked.seconds); },
             .special = [&] { return saturated_beside_open_row(server, asked.seconds); }}
        ));
    }
}

/// Milliseconds of a claim of 64 jobs, which are given back.
double claim_ms(SqlSession& session) {
    session.run("BEGIN");
    const auto start = SteadyClock::now();
    const auto jobs = session.run("SELECT job FROM wed_claim('a', 64)");
    const double ms = seconds_since(start) * 1e3;
    session.run("ROLLBACK");
    if (PQntuples(jobs.get()) != 64) throw std::runtime_error("a claim found less than there is");
    return ms;
}

void add_backlog_figure(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (!is_asked(asked, "rules_pg_backlog")) return;
    constexpr int kFew = 1'000;
    constexpr int kMany = 1'000'000;
    constexpr int kClaims = 200;
    const SurfaceDatabase few(server);
    const SurfaceDatabase many(server);
    few.start(1);
    few.multiply(kFew);
    many.start(1);
    many.multiply(kMany);
    SqlSession of_few = few.session();
    SqlSession of_many = many.session();
    std::vector<double> small;
    std::vector<double> large;
    for (int i = 0; i < kClaims; ++i) {
        small.push_back(claim_ms(of_few));
        large.push_back(claim_ms(of_many));
    }
    Figure figure{
        .name = "rules_pg_backlog",
        .value = median(large),
        .unit = "ms",
        .yardstick = fmt::format("the same with 1,000 instances: {:.3f} ms", median(small)),
        .goal = 1.2,
        .runs = {median(large)},
        .note =
            "p50 of wed_claim of 64 jobs, with 1,000,000 instances that wait; the goal is the most",
        .goal_is_most = true
    };
    figure.ratio = figure.value / median(small);
    figures.push_back(figure);
}

}  // namespace

void add_surface_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    add_cpp_figures(figures, server, asked);
    add_update_figures(figures, server, asked);
    add_insert_figure(figures, server, asked);
    add_flush_figure(figures, server, asked);
    add_idle_figure(figures, server, asked);
    add_backlog_figure(figures, server, asked);
}

}  // namespace ebb::bench
