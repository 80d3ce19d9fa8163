// `ebb run --resume` after a process was killed, and `ebb dev` while its file changes.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/json.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

/// The step waits until the file `go` is there.
constexpr std::string_view kSlow = R"(workflow: slow
handlers:
  work: {exec: [sh, -c, 'echo work >>log; until [ -e go ]; do sleep 0.01; done; echo "\"done\""']}
steps:
  - work
)";

class CliResume : public ::testing::TestWithParam<std::string> {
 protected:
    CliResume() : db_(GetParam() == "sqlite" ? "ebb.db" : postgres_url()) {
        write("slow.yaml", kSlow);
    }

    static std::string postgres_url() {
        return ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
    }

    std::string directory() const { return directory_.path().string(); }

    void write(const std::string& name, std::string_view text) const {
        std::ofstream(directory_.path() / name) << text;
    }

    TempDirectory directory_;
    const std::string db_;
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    CliResume,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

// The dead worker's lease runs for an hour, so only a take-over that does not wait for it can end.
TEST_P(CliResume, takes_over_at_once_from_a_killed_worker) {
    CliProcess start(directory(), {"start", "slow.yaml", "--key", "k"}, db_);
    ASSERT_EQ(start.wait(), 0) << start.err();
    CliProcess worker(directory(), {"worker", "slow.yaml", "--lease", "1h", "--verbose"}, db_);
    ASSERT_TRUE(worker.wait_for("event=call_started")) << worker.err();
    worker.signal(SIGKILL);
    EXPECT_EQ(worker.wait(), 128 + SIGKILL);
    write("go", "");
    CliProcess resumed(directory(), {"run", "--resume", "key:slow/k", "slow.yaml"}, db_);
    EXPECT_EQ(resumed.wait(), 0) << resumed.err();
    EXPECT_EQ(resumed.out(), "\"done\"\n");
    // The lost call counts as an attempt.
    CliProcess show(directory(), {"show", "key:slow/k", "--json"}, db_);
    EXPECT_EQ(show.wait(), 0);
    EXPECT_EQ(Json::parse(show.out())["steps"][0]["attempts"], 2) << show.out();
    // When it became due, and how long it took until it was known to be lost.
    CliProcess timeline(directory(), {"show", "key:slow/k"}, db_);
    EXPECT_EQ(timeline.wait(), 0);
    const std::regex lost(R"(attempt 1 +lost +\+\S+ +\d\S* +its worker stopped)");
    EXPECT_TRUE(std::regex_search(timeline.out(), lost)) << timeline.out();
}

TEST_P(CliResume, a_restarted_worker_takes_over_at_once_from_the_killed_one) {
    CliProcess start(directory(), {"start", "slow.yaml", "--key", "k"}, db_);
    ASSERT_EQ(start.wait(), 0) << start.err();
    CliProcess worker(directory(), {"worker", "slow.yaml", "--lease", "1h", "--verbose"}, db_);
    ASSERT_TRUE(worker.wait_for("event=call_started")) << worker.err();
    worker.signal(SIGKILL);
    EXPECT_EQ(worker.wait(), 128 + SIGKILL);
    write("go", "");
    // It ends when nothing is due: a task that is still leased to the dead worker is not.
    CliProcess restarted(directory(), {"worker", "slow.yaml", "--once"}, db_);
    EXPECT_EQ(restarted.wait(), 0) << restarted.err();
    CliProcess show(directory(), {"show", "key:slow/k", "--json"}, db_);
    EXPECT_EQ(show.wait(), 0);
    EXPECT_EQ(Json::parse(show.out())["status"], "completed") << show.out();
    EXPECT_EQ(Json::parse(show.out())["steps"][0]["attempts"], 2) << show.out();
}

TEST_P(CliResume, takes_nothing_from_a_worker_that_lives) {
    CliProcess start(directory(), {"start", "slow.yaml", "--key", "k"}, db_);
    ASSERT_EQ(start.wait(), 0) << start.err();
    CliProcess worker(directory(), {"worker", "slow.yaml", "--lease", "1h", "--verbose"}, db_);
    ASSERT_TRUE(worker.wait_for("event=call_started")) << worker.err();
    CliProcess resumed(directory(), {"run", "--resume", "key:slow/k", "slow.yaml"}, db_);
    ASSERT_TRUE(resumed.wait_for("continues")) << resumed.err();
    write("go", "");
    EXPECT_EQ(resumed.wait(), 0) << resumed.err();
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 0) << worker.err();
    CliProcess show(directory(), {"show", "key:slow/k", "--json"}, db_);
    EXPECT_EQ(show.wait(), 0);
    EXPECT_EQ(Json::parse(show.out())["steps"][0]["attempts"], 1) << show.out();
}

class CliDev : public ::testing::Test {
 protected:
    void write(const std::string& name, const std::string& text) const {
        // As editors do it: the file is there with its old or with its new text.
        const auto path = directory_.path() / name;
        std::ofstream(path.string() + ".new") << text;
        std::filesystem::rename(path.string() + ".new", path);
    }

    static std::string greeting(const std::string& word) {
        return "workflow: hi\nhandlers:\n  greet: {exec: [jq, -c, '\"" + word +
               " \" + .']}\nsteps:\n  - greet\n";
    }

    TempDirectory directory_;
};

TEST_F(CliDev, runs_each_text_that_is_saved) {
    write("hi.yaml", greeting("Hello"));
    CliProcess dev(directory_.path().string(), {"dev", "hi.yaml", "-i", "\"ann\""}, "");
    ASSERT_TRUE(dev.wait_for("\"Hello ann\"")) << dev.err();
    write("hi.yaml", greeting("Good morning"));
    ASSERT_TRUE(dev.wait_for("\"Good morning ann\"")) << dev.err();
    EXPECT_THAT(dev.err(), HasSubstr("hi v2"));
    write("hi.yaml", "workflow: hi\nsteps: [{stepp: greet}]\n");
    ASSERT_TRUE(dev.wait_for("The version before this change still runs.")) << dev.err();
    EXPECT_THAT(dev.err(), HasSubstr("hi.yaml:2:"));
    write("hi.yaml", greeting("Good night"));
    ASSERT_TRUE(dev.wait_for("\"Good night ann\"")) << dev.err();
    dev.signal(SIGINT);
    EXPECT_EQ(dev.wait(), 0) << dev.err();
    EXPECT_TRUE(std::filesystem::exists(directory_.path() / ".ebb" / "dev.db"));
}

TEST_F(CliDev, has_its_own_store) {
    write("hi.yaml", greeting("Hello"));
    CliProcess dev(directory_.path().string(), {"dev", "hi.yaml", "--db", "x.db"}, "");
    EXPECT_EQ(dev.wait(), 2);
    EXPECT_THAT(dev.err(), HasSubstr("`ebb dev` has its own store"));
}

}  // namespace
}  // namespace ebb::cli::testing
