// Limits of a queue over real processes that all have a part in the work: who takes what is theirs
// to settle, so work is started until each has done some. Calls write their first and last line
// into one file; when tasks are claimed, a trigger notes by the clock of the database.

#include <csignal>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/json.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kWorkflow = R"(workflow: {0}
handlers:
  {0}:
    exec:
      - sh
      - -c
      - |
        read input
        echo "begin $PPID $EBB_IDEMPOTENCY_KEY $input" >>log
        sh -c true
        echo "end $PPID $EBB_IDEMPOTENCY_KEY $input" >>log
        echo 1
steps:
  - {{step: one, handler: {0}, queue: bank, concurrency_key: input}}
)";

const std::vector<std::string> kNames{"a", "b", "c"};

class CliLimits : public ::testing::Test {
 protected:
    CliLimits() {
        for (const std::string& name : kNames) {
            std::ofstream(directory_.path() / (name + ".yaml"))
                << fmt::format(fmt::runtime(kWorkflow), name);
        }
    }

    std::string run(std::vector<std::string> args) const {
        CliProcess process(directory(), args, db_);
        EXPECT_EQ(process.wait(), 0) << process.err();
        return process.out();
    }

    std::string directory() const { return directory_.path().string(); }

    /// So many of each workflow, by turns with the keys 1, 2 and 3.
    void start(int count) {
        for (int i = 0; i < count; ++i, ++started_) {
            for (const std::string& name : kNames) {
                run({"start", name + ".yaml", "--input", std::to_string(1 + started_ % 3)});
            }
        }
    }

    void start_until_called(const CliProcess& worker) {
        while (lines_of(worker) == 0) start(1);
    }

    void start_until_all_are_called() {
        for (const auto& [name, worker] : workers_) start_until_called(*worker);
    }

    std::unique_ptr<CliProcess> work(const std::string& name) const {
        return std::make_unique<CliProcess>(
            directory(),
            std::vector<std::string>{"worker", name + ".yaml", "--lease", "1s", "--threads", "4"},
            db_
        );
    }

    void work_on_all() {
        for (const std::string& name : kNames) workers_[name] = work(name);
    }

    void wait_for_all() const {
        for (const Json& instance : Json::parse(run({"list", "--json", "--limit", "1000"}))) {
            run({"wait", instance["id"].get<std::string>(), "--timeout", "200s"});
        }
    }

    void note(const std::string& words) const {
        std::ofstream(directory_.path() / "log", std::ios::app) << words << std::endl;
    }

    std::size_t lines_of(const CliProcess& worker) const {
        std::ifstream log(directory_.path() / "log");
        std::size_t lines = 0;
        const std::string begin = fmt::format("begin {} ", worker.pid());
        for (std::string line; std::getline(log, line);) lines += line.starts_with(begin) ? 1 : 0;
        return lines;
    }

    /// Fails where more calls were under way at once than `limit`, or of one key than
    /// `limit_per_key`, until the note `limits N M` says otherwise. After `killing PID` those of
    /// PID do not count: what it has left belongs to no process.
    void check_log(std::size_t limit, std::size_t limit_per_key) const {
        std::ifstream log(directory_.path() / "log");
        std::set<std::string> dead;
        std::map<std::string, std::map<std::string, std::string>> open;  // by key: call, worker
        for (std::string line; std::getline(log, line);) {
            std::istringstream words(line);
            std::string what;
            std::string worker;
            std::string call;
            std::string key;
            words >> what >> worker >> call >> key;
            if (what == "limits") {
                limit = std::stoul(worker);
                limit_per_key = std::stoul(call);
            } else if (what == "killing") {
                dead.insert(worker);
                for (auto& [name, calls] : open) {
                    std::erase_if(calls, [&](const auto& each) { return each.second == worker; });
                }
            } else if (what == "begin" && is_worker(worker) && !dead.contains(worker)) {
                open[key][call] = worker;
            } else if (what == "end" && is_worker(worker) && !dead.contains(worker)) {
                open[key].erase(call);
            }
            std::size_t all = 0;
            for (const auto& [name, calls] : open) {
                all += calls.size();
                EXPECT_LE(calls.size(), limit_per_key) << "key " << name << " at: " << line;
            }
            EXPECT_LE(all, limit) << line;
        }
    }

    /// And not the process that adopts the calls of one that was killed.
    bool is_worker(const std::string& pid) const { return pids_.contains(pid); }

    void remember(const CliProcess& worker) { pids_.insert(std::to_string(worker.pid())); }

    std::string execute(const std::string& sql) const {
        return ebb::testing::postgres_server().execute(
            fmt::format(fmt::runtime(sql), fmt::arg("schema", schema_))
        );
    }

    TempDirectory directory_;
    const std::string schema_ = ebb::testing::fresh_schema();
    int started_ = 0;
    const std::string db_ = ebb::testing::postgres_server().url() + "&schema=" + schema_;
    std::map<std::string, std::unique_ptr<CliProcess>> workers_;
    std::set<std::string> pids_;
};

TEST_F(CliLimits, a_limit_per_key_holds_over_all_workers_also_when_one_is_killed) {
    start(9);
    run({"queue", "set", "bank", "--concurrency", "2", "--concurrency-per-key", "1"});
    work_on_all();
    for (const auto& [name, worker] : workers_) remember(*worker);
    CliProcess& doomed = *workers_["a"];
    start_until_called(doomed);
    note(fmt::format("killing {}", doomed.pid()));
    doomed.signal(SIGKILL);
    doomed.wait();
    workers_["a"] = work("a");
    remember(*workers_["a"]);
    start_until_all_are_called();
    wait_for_all();
    check_log(2, 1);
}

TEST_F(CliLimits, a_limit_that_changes_is_felt_by_all_workers) {
    start(9);
    run({"queue", "set", "bank", "--concurrency", "6", "--concurrency-per-key", "2"});
    work_on_all();
    for (const auto& [name, worker] : workers_) remember(*worker);
    start_until_all_are_called();
    run({"queue", "set", "bank", "--concurrency", "0"});
    // What was claimed before the change may still begin; then there is nothing more.
    while (execute("SELECT count(*) FROM {schema}.tasks WHERE lease_owner IS NOT NULL") != "0\n") {
    }
    note("limits 0 0");
    const std::string beat = "SELECT min(expires_at) FROM {schema}.workers";
    const std::string seen = execute(beat);
    while (execute(beat) == seen) {
    }
    note("limits 1 1");
    run({"queue", "set", "bank", "--concurrency", "1", "--concurrency-per-key", "none"});
    wait_for_all();
    check_log(6, 2);
}

/// How many claims came sooner after the one `starts` before them than a second.
constexpr const char* kTooSoon =
    "SELECT count(*) FROM (SELECT at - lag(at, {starts}) OVER (ORDER BY at) AS since "
    "FROM {schema}.claims WHERE at > '{from}') AS c WHERE since < interval '1 second'";

TEST_F(CliLimits, a_rate_is_that_of_all_workers_together_and_so_is_a_new_one) {
    run({"migrate"});
    execute(
        "CREATE TABLE {schema}.claims (at timestamptz, worker text);"
        "CREATE FUNCTION {schema}.note_claim() RETURNS trigger LANGUAGE plpgsql AS $$"
        "BEGIN INSERT INTO {schema}.claims VALUES (now(), NEW.lease_owner); RETURN NULL; END$$;"
        "CREATE TRIGGER claiming AFTER UPDATE ON {schema}.tasks FOR EACH ROW "
        "WHEN (OLD.lease_owner IS NULL AND NEW.lease_owner IS NOT NULL AND NEW.queue = 'bank') "
        "EXECUTE FUNCTION {schema}.note_claim()"
    );
    const auto too_soon = [&](int starts, const std::string& from) {
        return ebb::testing::postgres_server().execute(fmt::format(
            fmt::runtime(kTooSoon),
            fmt::arg("starts", starts),
            fmt::arg("schema", schema_),
            fmt::arg("from", from)
        ));
    };
    const auto is_each_claimed_once = [&] {
        return execute("SELECT count(*) FROM {schema}.claims") ==
               std::to_string(kNames.size() * static_cast<std::size_t>(started_)) + "\n";
    };
    run({"queue", "set", "bank", "--rate", "5/1s"});
    start(6);
    work_on_all();
    while (execute("SELECT count(DISTINCT worker) FROM {schema}.claims") != "3\n") start(1);
    wait_for_all();
    EXPECT_TRUE(is_each_claimed_once());
    EXPECT_EQ(too_soon(5, "-infinity"), "0\n");
    run({"queue", "set", "bank", "--rate", "2/1s"});
    std::string changed = execute("SELECT now()");
    changed.pop_back();
    start(2);
    wait_for_all();
    EXPECT_TRUE(is_each_claimed_once());
    EXPECT_EQ(too_soon(2, changed), "0\n");
}

}  // namespace
}  // namespace ebb::cli::testing
