#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ebb/ebb.h>

#include "postgres_scratch.h"
#include "rules_figures.h"
#include "sql_session.h"
#include "store/migrations.h"
#include "surface_database.h"
#include "three_steps.h"

// Workers in Python, each a process of its own that speaks to PostgreSQL only.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double ms_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

/// Processes of sql_worker.py that have joined. They end with this object, or with this process.
class PythonWorkers {
 public:
    PythonWorkers(const std::string& url, const std::string& schema, int count, int slots) {
        SqlSession session(url);
        session.run(fmt::format("SELECT {}.grant_work(current_user)", schema));
        for (int i = 0; i < count; ++i) start(url, schema, fmt::format("python-{}", i), slots);
        const std::string question =
            fmt::format("SELECT count(*) FROM {}.workers WHERE id LIKE 'python-%'", schema);
        const auto begun = SteadyClock::now();
        while (std::stoi(session.value(question)) < count) {
            if (ms_since(begun) > 30'000)
                throw std::runtime_error("the Python workers do not join");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }

    PythonWorkers(const PythonWorkers&) = delete;
    PythonWorkers& operator=(const PythonWorkers&) = delete;

    ~PythonWorkers() {
        for (const pid_t process : processes_) kill(process, SIGTERM);
        for (const pid_t process : processes_) waitpid(process, nullptr, 0);
    }

 private:
    void start(
        const std::string& url, const std::string& schema, const std::string& name, int slots
    ) {
        const std::filesystem::path here(EBB_BENCH_DIR);
        // Debian has psycopg for its own Python only.
        std::vector<std::string> words{
            "/usr/bin/python3",
            "-B",
            here / "sql_worker.py",
            here.parent_path() / "clients/python",
            url,
            schema,
            name,
            std::to_string(slots)
        };
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        pid_t process = -1;
        if (posix_spawn(&process, arguments.front(), nullptr, nullptr, arguments.data(), environ) !=
            0) {
            throw std::runtime_error("a Python worker did not start");
        }
        processes_.push_back(process);
    }

    std::vector<pid_t> processes_;
};

/// A flow of three steps whose handlers are in Python; an engine without handlers decides.
class Flow {
 public:
    Flow(const PostgresServer& server, int workers, int slots)
        : scratch_(server), store_(made(server, scratch_)), engine_(*store_, none_) {
        engine_.register_workflow(three_steps());
        engine_.run();
        python_.emplace(server.url(), scratch_.schema(), workers, slots);
    }

    Engine& engine() { return engine_; }

    void end() {
        python_.reset();
        engine_.drain(std::chrono::seconds(5));
    }

 private:
    static StorePtr made(const PostgresServer& server, const Scratch& scratch) {
        StorePtr store = scratch.open();
        install_sql_workers({.url = server.url(), .schema = scratch.schema()});
        return store;
    }

    Scratch scratch_;
    StorePtr store_;
    HandlerRegistry none_;
    Engine engine_;
    std::optional<PythonWorkers> python_;
};

double flow_steps_per_second(const PostgresServer& server, double seconds) {
    constexpr int kProcesses = 4;
    constexpr int kSlots = 4;
    Flow flow(server, kProcesses, kSlots);
    Progress progress;
    const Saturated run =
        run_saturated_in(flow.engine(), progress, {.seconds = seconds, .window = 512, .batch = 64});
    flow.end();
    return run.steps_per_second();
}

std::vector<double> flow_times(const PostgresServer& server, double seconds) {
    Flow flow(server, 1, 1);
    std::vector<double> all;
    const auto start = SteadyClock::now();
    while (ms_since(start) < seconds * 1e3) {
        const auto began = SteadyClock::now();
        const InstanceId id = flow.engine().start("bench", Payload::text("{}")).id;
        if (flow.engine().wait(id).status != InstanceStatus::Completed) {
            throw std::runtime_error("a flow of Python workers did not complete");
        }
        all.push_back(ms_since(began));
    }
    flow.end();
    return all;
}

/// Milliseconds from the COMMIT of an UPDATE until the Python handler is called. Its clock is that
/// of this process. An engine without handlers decides what the worker reports.
std::vector<double> felt_by_python(const PostgresServer& server, double seconds) {
    constexpr std::int64_t kSkipped = 5;
    const SurfaceDatabase database(server);
    SqlSession session(database.url());
    make_looking_flow(session);
    const StorePtr store = database.open();
    const HandlerRegistry none;
    Engine engine(*store, none);
    engine.run();
    const PythonWorkers python(database.url(), "ebb", 1, 1);
    session.run("INSERT INTO wed_flow DEFAULT VALUES");
    std::vector<double> all;
    const auto start = SteadyClock::now();
    for (std::int64_t n = 1; ms_since(start) < seconds * 1e3 || n <= kSkipped; ++n) {
        session.run("BEGIN");
        session.run("UPDATE wed_flow SET n = $1", {std::to_string(n)});
        const auto committed = SteadyClock::now().time_since_epoch();
        session.run("COMMIT");
        const auto begun = SteadyClock::now();
        while (std::stoll(session.value("SELECT seen FROM wed_flow")) < n) {
            if (ms_since(begun) > 30'000) throw std::runtime_error("a write was not felt");
        }
        const std::chrono::nanoseconds called(std::stoll(session.value("SELECT called FROM wed_flow"
        )));
        if (n <= kSkipped) continue;
        all.push_back(std::chrono::duration<double, std::milli>(called - committed).count());
    }
    engine.drain(std::chrono::seconds(5));
    return all;
}

/// The median of all runs, beside what it may be at most.
Figure at_most(
    const RulesAsked& asked,
    std::string name,
    double most,
    std::string note,
    const std::function<std::vector<double>()>& measure
) {
    std::vector<double> all;
    for (int run = 0; run < asked.runs; ++run) {
        for (const double one : measure()) all.push_back(one);
    }
    Figure figure{
        .name = std::move(name),
        .value = median(all),
        .unit = "ms",
        .yardstick = fmt::format("{} ms", most),
        .goal = 1.0,
        .note = std::move(note),
        .goal_is_most = true
    };
    figure.ratio = figure.value / most;
    return figure;
}

}  // namespace

void add_python_figures(
    std::vector<Figure>& figures, const PostgresServer& server, const RulesAsked& asked
) {
    if (is_asked(asked, "work_pg_flow")) {
        Figure figure{
            .name = "work_pg_flow",
            .unit = "steps/s",
            .yardstick = "2,000 steps/s",
            .goal = 1.0,
            .note = "three no-op steps in four Python processes; a process of Ebb decides"
        };
        for (int run = 0; run < asked.runs; ++run) {
            figure.runs.push_back(flow_steps_per_second(server, asked.seconds));
        }
        figure.value = median(figure.runs);
        figure.ratio = figure.value / 2'000;
        figures.push_back(figure);
    }
    if (is_asked(asked, "work_pg_flow_one_at_a_time")) {
        figures.push_back(at_most(
            asked,
            "work_pg_flow_one_at_a_time",
            8,
            "p50 of three no-op steps in a Python process; the goal is the most",
            [&] { return flow_times(server, asked.seconds); }
        ));
    }
    if (is_asked(asked, "rules_pg_detect_python")) {
        figures.push_back(at_most(
            asked,
            "rules_pg_detect_python",
            4,
            "p50 from COMMIT of an application's UPDATE to the call of the Python handler, idle; "
            "the goal is the most",
            [&] { return felt_by_python(server, asked.seconds); }
        ));
    }
}

}  // namespace ebb::bench
