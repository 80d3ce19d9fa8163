#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

#include "postgres_scratch.h"
#include "rules_figures.h"
#include "rules_flow.h"
#include "sql_session.h"
#include "store/migrations.h"
#include "surface_database.h"

// How soon a write in SQL is felt by a C++ worker that has nothing else to do, and how long one
// instance takes.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double ms_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

/// Notes when its handler is called.
class Bell {
 public:
    Handler handler() {
        return Handler([this](const Payload& input, const StepContext&) {
            const std::lock_guard lock(mutex_);
            called_ = SteadyClock::now();
            ++calls_;
            changed_.notify_one();
            return Payload::text(fmt::format("{{\"seen\":{}}}", Json::parse(input)["n"].dump()));
        });
    }

    /// When the `n`th call came.
    SteadyClock::time_point await(std::int64_t n) {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::seconds(30), [&] { return calls_ >= n; })) {
            throw std::runtime_error("a write in SQL was not felt");
        }
        return called_;
    }

 private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t calls_ = 0;
    SteadyClock::time_point called_;
};

/// Milliseconds from each COMMIT of `write` until the handler is called, one by one. A few first
/// ones do not count: each side has to make its connections.
std::vector<double> felt(
    Bell& bell,
    SqlSession& session,
    double seconds,
    const std::function<void(std::int64_t n)>& write,
    const std::function<bool(std::int64_t n)>& has_ended
) {
    constexpr std::int64_t kSkipped = 5;
    std::vector<double> milliseconds;
    const auto start = SteadyClock::now();
    for (std::int64_t n = 1; ms_since(start) < seconds * 1e3 || n <= kSkipped; ++n) {
        session.run("BEGIN");
        write(n);
        const auto committed = SteadyClock::now();
        session.run("COMMIT");
        const auto called = bell.await(n);
        if (n > kSkipped) {
            milliseconds.push_back(
                std::chrono::duration<double, std::milli>(called - committed).count()
            );
        }
        while (!has_ended(n)) {
        }
    }
    return milliseconds;
}

/// By `ebb.write`, which a process of Ebb decides.
std::vector<double> felt_by_mail(const PostgresServer& server, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    install_sql_workers({.url = server.url(), .schema = scratch.schema()});
    scratch.execute("SELECT {0}.grant_requests(current_user)");
    Bell bell;
    HandlerRegistry handlers;
    handlers.add_raw("look", bell.handler());
    Engine engine(*store, handlers);
    engine.register_workflow(looking());
    engine.run();
    const std::string id = engine.start("looking", Payload::text("{}")).id.to_string();
    SqlSession session(server.url());
    const std::string sql = fmt::format("SELECT {}.write($1::uuid, $2::jsonb)", scratch.schema());
    const std::vector<double> all = felt(
        bell,
        session,
        seconds,
        [&](std::int64_t n) { session.run(sql, {id, fmt::format("{{\"n\":{}}}", n)}); },
        [](std::int64_t) { return true; }
    );
    engine.drain(std::chrono::seconds(5));
    return all;
}

/// By an UPDATE of an application, which fires the transition in its own transaction.
std::vector<double> felt_by_update(const PostgresServer& server, double seconds) {
    const SurfaceDatabase database(server);
    SqlSession session(database.url());
    make_looking_flow(session);
    const StorePtr store = database.open();
    Bell bell;
    HandlerRegistry handlers;
    handlers.add_raw("look", bell.handler());
    Engine engine(*store, handlers);
    engine.run();
    session.run("INSERT INTO wed_flow DEFAULT VALUES");
    const std::vector<double> all = felt(
        bell,
        session,
        seconds,
        [&](std::int64_t n) { session.run("UPDATE wed_flow SET n = $1", {std::to_string(n)}); },
        [&](std::int64_t n) { return std::stoll(session.value("SELECT seen FROM wed_flow")) >= n; }
    );
    engine.drain(std::chrono::seconds(5));
    return all;
}

void add_felt(
    std::vector<Figure>& figures,
    const RulesAsked& asked,
    const std::string& name,
    const std::string& note,
    const std::function<std::vector<double>()>& measure
) {
    if (!is_asked(asked, name)) return;
    std::vector<double> all;
    for (int run = 0; run < asked.runs; ++run) {
        for (const double one : measure()) all.push_back(one);
    }
    Figure middle{
        .name = name,
        .value = median(all),
        .unit = "ms",
        .yardstick = "2 ms",
        .goal = 1.0,
        .note = note + ", idle; the goal is the most",
        .goal_is_most = true
    };
    middle.ratio = middle.value / 2;
    Figure slow = middle;
    slow.name = name + "_p99";
    slow.value = percentile(all, 0.99);
    slow.yardstick = "15 ms";
    slow.ratio = slow.value / 15;
    figures.push_back(middle);
    figures.push_back(slow);
}

/// Milliseconds of one instance after another that an engine without handlers starts and another
/// one claims.
std::vector<double> hop_times(const PostgresServer& server, const Load& load, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    const HandlerRegistry none;
    Engine client(*store, none);
    client.register_workflow(load.definition);
    Engine worker(*store, load.handlers);
    worker.run();
    std::vector<double> all;
    const auto start = SteadyClock::now();
    while (ms_since(start) < seconds * 1e3) {
        const auto began = SteadyClock::now();
        const InstanceId id = client.start(load.definition.name, load.input).id;
        if (client.wait(id).status != InstanceStatus::Completed) {
            throw std::runtime_error("an instance did not complete");
        }
        all.push_back(ms_since(began));
    }
    worker.drain(std::chrono::seconds(5));
    return all;
}

}  // namespace

void add_latency_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    add_felt(
        figures,
        asked,
        "rules_pg_detect",
        "from COMMIT of an application's UPDATE to the call of the C++ handler",
        [&] { return felt_by_update(server, asked.seconds); }
    );
    add_felt(
        figures,
        asked,
        "rules_pg_detect_write",
        "from COMMIT of ebb.write() to the call of the C++ handler",
        [&] { return felt_by_mail(server, asked.seconds); }
    );
    if (!is_asked(asked, "rules_pg_hop")) return;
    figures.push_back(compare(
        asked,
        {.name = "rules_pg_hop",
         .goal = 2,
         .note = "p50 of an instance of three transitions that another process of Ebb starts; the "
                 "goal is the most",
         .usual_name = "p50 of pg_3step_one_at_a_time, ms",
         .usual =
             [&] {
                 const Scratch scratch(server);
                 return median(run_one_at_a_time(*scratch.open(), asked.seconds));
             },
         .special = [&] { return median(hop_times(server, three_transitions(), asked.seconds)); },
         .unit = "ms",
         .goal_is_most = true}
    ));
}

}  // namespace ebb::bench
