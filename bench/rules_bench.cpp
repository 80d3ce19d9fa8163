// Workflows with rules, beside workflows of steps and beside pgbench in the same run.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <libpq-fe.h>
#include <nlohmann/json.hpp>

#include <ebb/ebb.h>

#include "core/kernel/decide.h"
#include "postgres_figures.h"
#include "postgres_runs.h"
#include "postgres_scratch.h"
#include "postgres_yardstick.h"
#include "rules_flow.h"
#include "store/migrations.h"
#include "support/uuid.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

// rules_kernel

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
        .note = "ratio = cost near the 100,000th / near the 10th; the goal is the most it may be"
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

// Saturated runs

Figure compared(
    std::string name,
    double goal,
    std::string note,
    const RulesAsked& asked,
    const std::string& usual_name,
    const std::function<double()>& usual,
    const std::function<double()>& special
) {
    Figure figure{
        .name = std::move(name), .unit = "transitions/s", .goal = goal, .note = std::move(note)
    };
    std::vector<double> usuals;
    std::vector<double> ratios;
    for (int run = 0; run < asked.runs; ++run) {
        usuals.push_back(usual());
        figure.runs.push_back(special());
        ratios.push_back(figure.runs.back() / usuals.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("{}: {:.0f}/s", usual_name, median(usuals));
    return figure;
}

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

// Workers and applications in SQL

class Session {
 public:
    explicit Session(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
        if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error("no connection");
    }

    using Rows = std::unique_ptr<PGresult, void (*)(PGresult*)>;

    Rows run(const std::string& sql, const std::vector<std::string>& values = {}) {
        std::vector<const char*> texts;
        for (const std::string& value : values) texts.push_back(value.c_str());
        Rows rows(
            PQexecParams(
                connection_.get(),
                sql.c_str(),
                static_cast<int>(texts.size()),
                nullptr,
                texts.data(),
                nullptr,
                nullptr,
                0
            ),
            &PQclear
        );
        const ExecStatusType status = PQresultStatus(rows.get());
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) return rows;
        throw std::runtime_error(PQresultErrorMessage(rows.get()));
    }

 private:
    std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

void install(const PostgresServer& server, const Scratch& scratch) {
    install_sql_workers({.url = server.url(), .schema = scratch.schema()});
    scratch.execute("SELECT {0}.grant_work(current_user)");
    scratch.execute("SELECT {0}.grant_requests(current_user)");
}

/// Milliseconds from the COMMIT of a write in SQL until the handler is called, one by one.
std::vector<double> detected(const PostgresServer& server, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    install(server, scratch);
    Definition definition{.name = "detect"};
    definition.rules.emplace();
    definition.rules->attributes = {
        {.name = "n", .type = AttributeType::Integer, .initial = "0", .is_external = true},
        {.name = "seen", .type = AttributeType::Integer, .initial = "0"}
    };
    definition.rules->on_idle = Rules::OnIdle::Wait;
    definition.rules->triggers = {{.when = "n > seen"}};
    definition.steps = {{.name = "look", .description = {}, .kind = Step{}}};
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t calls = 0;
    SteadyClock::time_point called;
    HandlerRegistry handlers;
    handlers.add_raw("look", Handler([&](const Payload& input, const StepContext&) {
                         const std::lock_guard lock(mutex);
                         called = SteadyClock::now();
                         ++calls;
                         changed.notify_one();
                         const Json state = Json::parse(input);
                         return Payload::text(fmt::format("{{\"seen\":{}}}", state["n"].dump()));
                     }));
    Engine engine(*store, handlers);
    engine.register_workflow(definition);
    engine.run();
    const std::string id = engine.start("detect", Payload::text("{}")).id.to_string();
    Session session(server.url());
    std::vector<double> milliseconds;
    const std::string sql = fmt::format("SELECT {}.write($1::uuid, $2::jsonb)", scratch.schema());
    const auto start = SteadyClock::now();
    for (std::int64_t n = 1; seconds_since(start) < seconds; ++n) {
        session.run("BEGIN");
        session.run(sql, {id, fmt::format("{{\"n\":{}}}", n)});
        const auto committed = SteadyClock::now();
        session.run("COMMIT");
        std::unique_lock lock(mutex);
        const auto is_called = [&] { return calls >= n; };
        if (!changed.wait_for(lock, std::chrono::seconds(30), is_called)) {
            throw std::runtime_error("a write in SQL was not felt");
        }
        milliseconds.push_back(std::chrono::duration<double, std::milli>(called - committed).count()
        );
    }
    engine.drain(std::chrono::seconds(5));
    return milliseconds;
}

std::vector<Figure> detect_figures(const PostgresServer& server, const RulesAsked& asked) {
    std::vector<double> all;
    for (int run = 0; run < asked.runs; ++run) {
        for (const double one : detected(server, asked.seconds)) all.push_back(one);
    }
    Figure middle{
        .name = "rules_pg_detect",
        .value = median(all),
        .unit = "ms",
        .yardstick = "2 ms",
        .goal = 1.0,
        .note =
            "from COMMIT of ebb.write() to the call of the handler, idle; the goal is the most "
            "it may be"
    };
    middle.ratio = middle.value / 2;
    Figure slow = middle;
    slow.name = "rules_pg_detect_p99";
    slow.value = percentile(all, 0.99);
    slow.yardstick = "15 ms";
    slow.ratio = slow.value / 15;
    return {middle, slow};
}

/// One worker in SQL: jobs per call `n`, until `ends`. Returns how many it has handed in.
std::int64_t work_by_next(
    const std::string& url,
    const std::string& schema,
    int number,
    int n,
    const std::atomic<bool>& ends
) {
    Session session(url);
    const auto joined = session.run(fmt::format(
        "SELECT session FROM {}.work_join('sql-{}', ARRAY['a','b','c'], '{{}}', {})",
        schema,
        number,
        n
    ));
    const std::string token = PQgetvalue(joined.get(), 0, 0);
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

/// Transitions per second of workers in SQL. An engine without handlers decides what they hand in.
double next_per_second(const PostgresServer& server, int sessions, int n, double seconds) {
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    install(server, scratch);
    const HandlerRegistry none;
    Engine engine(*store, none);
    const Load load = three_transitions();
    engine.register_workflow(load.definition);
    engine.run();
    constexpr std::size_t kWaiting = 2'000;
    engine.start_all(load.definition.name, std::vector<Payload>(kWaiting, load.input));
    std::atomic<bool> ends{false};
    std::atomic<std::int64_t> done{0};
    std::mutex mutex;
    std::string failure;
    std::vector<std::jthread> workers;
    const auto start = SteadyClock::now();
    for (int i = 0; i < sessions; ++i) {
        workers.emplace_back([&, i] {
            try {
                done += work_by_next(server.url(), scratch.schema(), i, n, ends);
            } catch (const std::exception& error) {
                const std::lock_guard lock(mutex);
                failure = error.what();
            }
        });
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
    ends = true;
    workers.clear();
    if (!failure.empty()) throw std::runtime_error(failure);
    const double rate = static_cast<double>(done) / seconds_since(start);
    engine.drain(std::chrono::seconds(5));
    return rate;
}

/// Transactions per second of `pgbench -N`.
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

void add_next_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    for (const int n : {8, 1}) {
        for (const int sessions : {1, 4}) {
            const std::string name = fmt::format("rules_pg_next{}_{}", n, sessions);
            if (!asked.only.empty() && asked.only != name) continue;
            figures.push_back(compared(
                name,
                n == 8 ? 1.2 : 0.5,
                fmt::format("workers in SQL, {} jobs a call, {} sessions", n, sessions),
                asked,
                fmt::format("pgbench -N, {} clients", sessions),
                [&] { return pgbench_n(server, sessions, asked.seconds); },
                [&] { return next_per_second(server, sessions, n, asked.seconds); }
            ));
        }
    }
}

void add_postgres_figures(std::vector<Figure>& figures, const RulesAsked& asked) {
    const PostgresServer server = make_bench_server();
    const auto is_asked = [&](std::string_view name) {
        return asked.only.empty() || asked.only == name;
    };
    const double seconds = asked.seconds;
    if (is_asked("rules_pg_saturated")) {
        figures.push_back(compared(
            "rules_pg_saturated",
            0.5,
            "three transitions, started, run and completed in one process",
            asked,
            "pg_3step_saturated",
            [&] { return saturated_with(server, Load{}, seconds); },
            [&] { return saturated_with(server, three_transitions(), seconds); }
        ));
    }
    if (is_asked("rules_pg_100_idle_triggers")) {
        figures.push_back(compared(
            "rules_pg_100_idle_triggers",
            0.95,
            "saturated, with 100 more triggers whose conditions are never true",
            asked,
            "without them",
            [&] { return saturated_with(server, three_transitions(), seconds); },
            [&] { return saturated_with(server, three_transitions(100), seconds); }
        ));
    }
    if (is_asked("rules_pg_detect")) {
        for (Figure& figure : detect_figures(server, asked)) figures.push_back(std::move(figure));
    }
    add_next_figures(figures, server, asked);
}

}  // namespace

std::vector<Figure> rules_figures(const RulesAsked& asked) {
    std::vector<Figure> figures;
    const auto is_asked = [&](std::string_view name) {
        return asked.only.empty() || asked.only == name;
    };
    if (is_asked("rules_kernel")) figures = kernel_figures_of_rules(asked);
    if (is_asked("rules_sqlite_inflight_64")) {
        figures.push_back(compared(
            "rules_sqlite_inflight_64",
            0.45,
            "three transitions, 64 instances in flight",
            asked,
            "three steps, 64 in flight",
            [&] { return saturated_on_sqlite(Load{}, asked.seconds); },
            [&] { return saturated_on_sqlite(three_transitions(), asked.seconds); }
        ));
    }
    if (asked.only.empty() || asked.only.starts_with("rules_pg")) {
        add_postgres_figures(figures, asked);
    }
    return figures;
}

}  // namespace ebb::bench
