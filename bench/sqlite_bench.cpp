// Three-step workflows over the SQLite store (synchronous=FULL), beside hand-made prepared
// statements that write the same rows into the same tables: one commit per step, and one commit for
// 64 instances. And how soon one process feels what another has asked for.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sqlite3.h>

#include <ebb/ebb.h>

#include "reactions.h"
#include "report.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/uuid.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr double kSeconds = 3.0;
constexpr int kRuns = 3;
constexpr int kGroup = 64;
constexpr int kSteps = 3;
constexpr Duration kReaction = std::chrono::milliseconds(100);
constexpr int kReactions = 5;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

/// A database file of its own, on the disk where the build is (a RAM disk would make every commit
/// free).
class Scratch {
 public:
    Scratch()
        : path_(std::filesystem::current_path() / fmt::format("ebb-bench-{:x}.db", random_bits())) {
    }

    ~Scratch() {
        for (const char* suffix : {"", "-wal", "-shm", "-hints"})
            std::filesystem::remove(path_.string() + suffix);
    }

    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::string path() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

// The yardstick

class Raw {
 public:
    explicit Raw(const std::string& path) {
        open_sqlite_store({.path = path});
        check(sqlite3_open(path.c_str(), &db_));
        execute("PRAGMA journal_mode=WAL");
        execute("PRAGMA synchronous=FULL");
        execute("PRAGMA cache_size=-65536");
        begin_ = prepare("BEGIN IMMEDIATE");
        commit_ = prepare("COMMIT");
        start_ = prepare(
            "INSERT INTO instances (id, workflow, version, status, revision, priority, created_at, "
            "updated_at, state)"
            " VALUES (?1, 'bench', 1, 'running', 1, 0, ?2, ?2, ?3)"
        );
        task_ = prepare(
            "INSERT INTO tasks (instance_id, token, handler, queue, due_at, rank, lane, "
            "lease_owner)"
            " VALUES (?1, 1, 'a', 'default', ?2, ?2, 1, 'bench')"
        );
        step_ = prepare(
            "UPDATE instances SET revision = revision + 1, state = ?2, updated_at = ?3 WHERE id = "
            "?1 AND revision = ?4"
        );
        end_ = prepare(
            "UPDATE instances SET revision = revision + 1, status = 'completed', state = ?2, "
            "updated_at = ?3, finished_at = ?3"
            " WHERE id = ?1 AND revision = ?4"
        );
        event_ = prepare(
            "INSERT INTO history (instance_id, seq, type, node, token, visit, attempt, ref, "
            "worker, started_at, at, payload)"
            " VALUES (?1, ?2, ?3, 'a', 1, ?2, 1, ?2, 'bench', ?4, ?4, '{}')"
        );
        remove_ = prepare("DELETE FROM tasks WHERE instance_id = ?1");
    }

    ~Raw() {
        for (sqlite3_stmt* statement :
             {begin_, commit_, start_, task_, step_, end_, event_, remove_})
            sqlite3_finalize(statement);
        sqlite3_close(db_);
    }

    Raw(const Raw&) = delete;
    Raw& operator=(const Raw&) = delete;

    /// `group` three-step workflows whose steps share their commits.
    void workflows(int group) {
        std::vector<std::string> ids;
        for (int i = 0; i < group; ++i) ids.push_back(make_instance_id(SystemClock()).to_string());
        transaction(ids, [this](const std::string& id) {
            run(start_, id, {0, kState});
            run(event_, id, {1, "started"});
            run(task_, id, {0, ""});
        });
        for (int step = 1; step <= kSteps; ++step) {
            transaction(ids, [&](const std::string& id) {
                change(step < kSteps ? step_ : end_, id, step);
                run(event_, id, {step + 1, "step_completed"});
                if (step < kSteps) return;
                run(event_, id, {step + 2, "completed"});
                run(remove_, id, {0, ""});
            });
        }
    }

 private:
    static constexpr const char* kState =
        R"({"status":"running","seq":2,"last_token":1,"visit":2,)"
        R"("tokens":[{"id":1,"node":"b","visit":2,"attempt":1,"input":2}]})";

    struct Values {
        std::int64_t number;
        std::string text;
    };

    void check(int code) const {
        if (code != SQLITE_OK && code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db_));
    }

    void execute(const char* sql) { check(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }

    sqlite3_stmt* prepare(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        check(sqlite3_prepare_v2(db_, sql, -1, &statement, nullptr));
        return statement;
    }

    void step(sqlite3_stmt* statement) {
        check(sqlite3_step(statement));
        sqlite3_reset(statement);
    }

    static std::int64_t now() { return SystemClock().now().time_since_epoch().count(); }

    void bind_id(sqlite3_stmt* statement, const std::string& id) {
        sqlite3_bind_text(statement, 1, id.data(), static_cast<int>(id.size()), SQLITE_STATIC);
    }

    void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
        sqlite3_bind_text(
            statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT
        );
    }

    void run(sqlite3_stmt* statement, const std::string& id, const Values& values) {
        bind_id(statement, id);
        if (statement == event_) {
            sqlite3_bind_int64(statement, 2, values.number);
            bind_text(statement, 3, values.text);
            sqlite3_bind_int64(statement, 4, now());
        } else if (statement != remove_) {
            sqlite3_bind_int64(statement, 2, now());
            if (statement == start_) bind_text(statement, 3, values.text);
        }
        step(statement);
    }

    void change(sqlite3_stmt* statement, const std::string& id, int revision) {
        bind_id(statement, id);
        bind_text(statement, 2, kState);
        sqlite3_bind_int64(statement, 3, now());
        sqlite3_bind_int64(statement, 4, revision);
        step(statement);
    }

    template <typename Each>
    void transaction(const std::vector<std::string>& ids, Each each) {
        step(begin_);
        for (const std::string& id : ids) each(id);
        step(commit_);
    }

    sqlite3* db_ = nullptr;
    sqlite3_stmt *begin_ = nullptr, *commit_ = nullptr, *start_ = nullptr, *task_ = nullptr,
                 *step_ = nullptr, *end_ = nullptr, *event_ = nullptr, *remove_ = nullptr;
};

double raw_steps_per_second(int group) {
    const Scratch scratch;
    Raw raw(scratch.path());
    const auto start = SteadyClock::now();
    std::int64_t done = 0;
    while (seconds_since(start) < kSeconds) {
        raw.workflows(group);
        done += group;
    }
    return static_cast<double>(done * kSteps) / seconds_since(start);
}

// Ebb

HandlerRegistry no_op_handlers() {
    HandlerRegistry handlers;
    for (const char* name : {"a", "b", "c"}) {
        handlers.add_raw(name, Handler([](const Payload& input, const StepContext&) {
                             return input;
                         }));
    }
    return handlers;
}

struct OneAtATime {
    double steps_per_second = 0;
    std::vector<double> latencies_ms;
};

OneAtATime one_at_a_time() {
    const Scratch scratch;
    const StorePtr store = open_sqlite_store({.path = scratch.path()});
    const HandlerRegistry handlers = no_op_handlers();
    Engine engine(*store, handlers);
    engine.register_workflow(WorkflowBuilder("bench").step("a").step("b").step("c").build());
    engine.run();
    OneAtATime measured;
    const auto start = SteadyClock::now();
    std::int64_t done = 0;
    while (seconds_since(start) < kSeconds) {
        const auto began = SteadyClock::now();
        if (engine.wait(engine.start("bench", Payload::text("{}")).id).status !=
            InstanceStatus::Completed)
            throw std::runtime_error("not completed");
        measured.latencies_ms.push_back(seconds_since(began) * 1e3);
        ++done;
    }
    measured.steps_per_second = static_cast<double>(done * kSteps) / seconds_since(start);
    engine.drain(std::chrono::seconds(5));
    return measured;
}

/// kGroup instances in flight, the next ones when they have ended, as the yardstick does it; counts
/// those that ended, in the database too.
double many_in_flight() {
    const Scratch scratch;
    const StorePtr store = open_sqlite_store({.path = scratch.path()});
    const HandlerRegistry handlers = no_op_handlers();
    Engine engine(*store, handlers);
    engine.register_workflow(WorkflowBuilder("bench").step("a").step("b").step("c").build());
    std::mutex mutex;
    std::condition_variable changed;
    std::int64_t ended = 0;
    engine.add_observer(make_observer([&](const InstanceSummary& instance,
                                          std::span<const HistoryEntry>) {
        if (instance.finished_at == TimePoint{}) return;
        const std::lock_guard lock(mutex);
        ++ended;
        changed.notify_one();
    }));
    engine.run();
    std::int64_t started = 0;
    const std::vector<Payload> batch(kGroup, "{}");
    const auto start = SteadyClock::now();
    while (seconds_since(start) < kSeconds) {
        engine.start_all("bench", batch);
        started += kGroup;
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return started == ended; });
    }
    const double elapsed = seconds_since(start);
    engine.drain(std::chrono::seconds(5));
    for (const StatusCount& count : store->count()) {
        if (count.status != InstanceStatus::Completed || count.count != started)
            throw std::runtime_error("the database counts otherwise");
    }
    return static_cast<double>(started * kSteps) / elapsed;
}

/// Processor time of this process, which hardly depends on what else the machine does.
class Cost {
 public:
    /// `run` returns steps per second and lasts kSeconds.
    template <class Run>
    double measure(Run run) {
        const double cpu = cpu_seconds();
        const auto begun = SteadyClock::now();
        const double rate = run();
        costs_.push_back((cpu_seconds() - cpu) * 1e6 / (rate * seconds_since(begun)));
        return rate;
    }

    double us_per_step() const { return median(costs_); }

 private:
    std::vector<double> costs_;
};

Figure sqlite_reaction_figure(std::string name, std::string note, double (Team::*reaction_ms)()) {
    Figure figure = reaction_figure(kReaction, kReactions, [&] {
        const Scratch scratch;
        Team team([&] { return open_sqlite_store({.path = scratch.path()}); }, 1);
        return (team.*reaction_ms)();
    });
    figure.name = std::move(name);
    figure.note = std::move(note) + "; the ratio is the slowest run's, the goal is the most";
    return figure;
}

/// One instance after another, and how long each takes.
std::vector<Figure> one_figures() {
    Figure one{.name = "sqlite_3step_inflight_1", .unit = "steps/s", .goal = 0.85};
    std::vector<double> ratios;
    std::vector<double> latencies;
    std::vector<double> raws;
    for (int run = 0; run < kRuns; ++run) {
        raws.push_back(raw_steps_per_second(1));
        const OneAtATime ebb = one_at_a_time();
        one.runs.push_back(ebb.steps_per_second);
        ratios.push_back(ebb.steps_per_second / raws.back());
        latencies.insert(latencies.end(), ebb.latencies_ms.begin(), ebb.latencies_ms.end());
    }
    one.value = median(one.runs);
    one.ratio = median(ratios);
    one.yardstick =
        fmt::format("bare statements, one commit per step: {:.0f} steps/s", median(raws));
    const auto latency = [&](std::string name, double p) {
        return Figure{
            .name = std::move(name),
            .value = percentile(latencies, p),
            .unit = "ms",
            .note = "a whole workflow, one in flight"
        };
    };
    return {one, latency("sqlite_3step_p50", 0.5), latency("sqlite_3step_p99", 0.99)};
}

Figure many_figure() {
    Figure many{.name = "sqlite_3step_inflight_64", .unit = "steps/s", .goal = 0.7};
    Cost raw_cost;
    Cost cost;
    std::vector<double> ratios;
    std::vector<double> raws;
    for (int run = 0; run < kRuns; ++run) {
        raws.push_back(raw_cost.measure([] { return raw_steps_per_second(kGroup); }));
        many.runs.push_back(cost.measure([] { return many_in_flight(); }));
        ratios.push_back(many.runs.back() / raws.back());
    }
    many.value = median(many.runs);
    many.ratio = median(ratios);
    many.yardstick =
        fmt::format("bare statements, 64 instances per commit: {:.0f} steps/s", median(raws));
    many.details = {
        {"cpu_us_per_step", cost.us_per_step()},
        {"cpu_us_per_step_of_the_yardstick", raw_cost.us_per_step()},
    };
    return many;
}

}  // namespace

std::vector<Figure> sqlite_figures(std::string_view only) {
    std::vector<Figure> figures;
    const auto is_asked = [&](std::string_view name) { return only.empty() || only == name; };
    // They fork, so they come before there are threads.
    if (is_asked("sqlite_decision")) {
        figures.push_back(sqlite_reaction_figure(
            "sqlite_decision",
            "from decide() to the call of the next handler in another process",
            &Team::decide_ms
        ));
    }
    if (is_asked("sqlite_cancel")) {
        figures.push_back(sqlite_reaction_figure(
            "sqlite_cancel",
            "from cancel() to the stop of the handler that runs in another process",
            &Team::cancel_ms
        ));
    }
    if (is_asked("sqlite_3step_inflight_1")) {
        for (Figure& figure : one_figures()) figures.push_back(std::move(figure));
    }
    if (is_asked("sqlite_3step_inflight_64")) figures.push_back(many_figure());
    return figures;
}

}  // namespace ebb::bench
