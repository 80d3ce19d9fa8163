#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

#include "crew.h"
#include "postgres_scratch.h"
#include "rules_figures.h"
#include "rules_flow.h"
#include "sql_session.h"
#include "store/migrations.h"

// Workers in SQL that hand in and claim with one call, `work_next`.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// One worker in SQL: jobs per call `n`, until `ends`. Returns how many it has handed in.
std::int64_t work_by_next(
    const std::string& url,
    const std::string& schema,
    int number,
    int n,
    const std::atomic<bool>& ends
) {
    SqlSession session(url);
    const std::string token = session.value(fmt::format(
        "SELECT session FROM {}.work_join('sql-{}', ARRAY['a','b','c'], '{{}}', {})",
        schema,
        number,
        n
    ));
    const std::string sql =
        fmt::format("SELECT job, step FROM {}.work_next($1::uuid, $2::jsonb, {})", schema, n);
    Json results = Json::array();
    std::int64_t done = 0;
    while (!ends) {
        done += static_cast<std::int64_t>(results.size());
        const auto jobs = session.run(sql, {token, results.dump()});
        results = Json::array();
        for (int i = 0; i < PQntuples(jobs.get()); ++i) {
            const char step = *PQgetvalue(jobs.get(), i, 1);
            results.push_back(
                {{"job", PQgetvalue(jobs.get(), i, 0)}, {"output", {{"at", step - 'a' + 1}}}}
            );
        }
        if (results.empty()) std::this_thread::yield();
    }
    session.run(fmt::format("SELECT {}.work_leave($1::uuid)", schema), {token});
    return done;
}

/// Transitions of workers in SQL. An engine without handlers decides what they hand in.
double next_transitions(const PostgresServer& server, int sessions, int n, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    install_sql_workers({.url = server.url(), .schema = scratch.schema()});
    scratch.execute("SELECT {0}.grant_work(current_user)");
    const HandlerRegistry none;
    Engine engine(*store, none);
    const Load load = three_transitions();
    engine.register_workflow(load.definition);
    engine.run();
    constexpr std::size_t kWaiting = 2'000;
    engine.start_all(load.definition.name, std::vector<Payload>(kWaiting, load.input));
    std::atomic<bool> ends{false};
    std::atomic<std::int64_t> done{0};
    Crew crew(ends);
    const auto start = SteadyClock::now();
    for (int i = 0; i < sessions; ++i) {
        crew.add([&, i] { done += work_by_next(server.url(), scratch.schema(), i, n, ends); });
    }
    std::int64_t ended = 0;
    while (seconds_since(start) < seconds) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const auto now = static_cast<std::int64_t>(engine.counters().finished);
        if (now - ended < 100) continue;
        const auto more = static_cast<std::size_t>(now - ended);
        engine.start_all(load.definition.name, std::vector<Payload>(more, load.input));
        ended = now;
    }
    crew.end();
    engine.drain(std::chrono::seconds(5));
    return static_cast<double>(done);
}

}  // namespace

void add_next_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    for (const int n : {8, 1}) {
        for (const int sessions : {1, 4}) {
            const std::string name = fmt::format("rules_pg_next{}_{}", n, sessions);
            if (!is_asked(asked, name)) continue;
            const auto transitions = [&] {
                return next_transitions(server, sessions, n, asked.seconds);
            };
            figures.push_back(compare(
                asked,
                {.name = name,
                 .goal = n == 8 ? 1.2 : 0.5,
                 .note = fmt::format(
                     "workers in SQL, {} job{} a call, {} session{}; a process of Ebb decides",
                     n,
                     n == 1 ? "" : "s",
                     sessions,
                     sessions == 1 ? "" : "s"
                 ),
                 .usual_name = fmt::format("pgbench -N, {} clients", sessions),
                 .usual = [&] { return pgbench_n(server, sessions, asked.seconds); },
                 .special = [&] { return transitions() / asked.seconds; }}
            ));
            if (sessions > 1) continue;
            figures.back().details = {
                {"server_us_per_transition", server_us_each(server, transitions)}
            };
        }
    }
}

}  // namespace ebb::bench
