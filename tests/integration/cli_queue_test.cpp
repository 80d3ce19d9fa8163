// Limits of queues over real processes: whatever the workers do, and when they die, never more
// calls are between their first and their last line than the limit, and every instance ends. The
// calls write the lines themselves, into one file.

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/json.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kWorkflow = R"(workflow: demo
handlers:
  work:
    exec:
      - sh
      - -c
      - |
        echo "begin $EBB_IDEMPOTENCY_KEY" >>log
        sh -c true
        echo "end $EBB_IDEMPOTENCY_KEY" >>log
        echo 1
steps:
  - {step: one, handler: work, queue: bank}
  - {step: two, handler: work, queue: bank, concurrency_key: instance.id}
)";

constexpr int kInstances = 24;
constexpr std::size_t kLimit = 3;

class CliQueues : public ::testing::TestWithParam<std::string> {
 protected:
    CliQueues() : db_(GetParam() == "sqlite" ? "ebb.db" : postgres_url()) {
        std::ofstream(directory_.path() / "demo.yaml") << kWorkflow;
        for (int i = 0; i < kInstances; ++i) run({"start", "demo.yaml"});
        run({"queue", "set", "bank", "--concurrency", std::to_string(kLimit)});
    }

    static std::string postgres_url() {
        return ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
    }

    std::string run(std::vector<std::string> args) const {
        CliProcess process(directory(), args, db_);
        EXPECT_EQ(process.wait(), 0) << process.err();
        return process.out();
    }

    std::vector<std::string> worker() const {
        return {"worker", "demo.yaml", "--lease", "1s", "--threads", "4", "--verbose"};
    }

    std::string directory() const { return directory_.path().string(); }

    std::ofstream append_to_log() const {
        return std::ofstream(directory_.path() / "log", std::ios::app);
    }

    void wait_for_all() const {
        const Json instances = Json::parse(run({"list", "--json", "--limit", "100"}));
        ASSERT_EQ(instances.size(), kInstances);
        for (const Json& instance : instances) {
            run({"wait", instance["id"].get<std::string>(), "--timeout", "120s"});
        }
    }

    /// The most calls that were under way at once. `killed` in the log: no call of before is.
    std::size_t most_at_once() const {
        std::ifstream log(directory_.path() / "log");
        std::set<std::string> open;
        std::size_t most = 0;
        for (std::string word, call; log >> word;) {
            if (word == "killed") {
                open.clear();
                continue;
            }
            log >> call;
            if (word == "begin") {
                open.insert(call);
            } else {
                open.erase(call);
            }
            most = std::max(most, open.size());
        }
        return most;
    }

    TempDirectory directory_;
    const std::string db_;
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    CliQueues,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

TEST_P(CliQueues, hold_their_limit_over_two_workers) {
    CliProcess first(directory(), worker(), db_);
    CliProcess second(directory(), worker(), db_);
    wait_for_all();
    EXPECT_LE(most_at_once(), kLimit);
    EXPECT_GE(most_at_once(), 2U);
    first.signal(SIGTERM);
    second.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(second.wait(), 0) << second.err();
    EXPECT_THAT(run({"queue"}), HasSubstr("0 of 3"));
}

TEST_P(CliQueues, hold_their_limit_when_a_worker_is_killed_and_give_its_slots_to_others) {
    CliProcess dying(directory(), worker(), db_);
    ASSERT_TRUE(dying.wait_for_lines(6)) << dying.err();
    dying.signal(SIGKILL);
    dying.wait();
    append_to_log() << "killed" << std::endl;
    CliProcess first(directory(), worker(), db_);
    CliProcess second(directory(), worker(), db_);
    wait_for_all();
    EXPECT_LE(most_at_once(), kLimit);
    first.signal(SIGTERM);
    second.signal(SIGTERM);
    EXPECT_EQ(first.wait(), 0) << first.err();
    EXPECT_EQ(second.wait(), 0) << second.err();
}

TEST_P(CliQueues, are_opened_and_closed_while_workers_run) {
    run({"queue", "set", "bank", "--concurrency", "0"});
    CliProcess process(directory(), worker(), db_);
    ASSERT_TRUE(process.wait_for("worker_started")) << process.err();
    // It is known from its first heartbeat on.
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    Json workers;
    do {
        workers = Json::parse(run({"workers", "--json"}));
    } while (workers["workers"].empty() && std::chrono::steady_clock::now() < patience);
    EXPECT_EQ(workers["unserved"].size(), 0U);
    EXPECT_EQ(workers["workers"][0]["handlers"][0], "work");
    const Json instances = Json::parse(run({"list", "--json", "--limit", "100"}));
    EXPECT_THAT(
        run({"why", instances[0]["id"].get<std::string>()}),
        HasSubstr("waits for an operator to open the queue \"bank\"")
    );
    EXPECT_EQ(most_at_once(), 0U);
    run({"queue", "clear", "bank"});
    wait_for_all();
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 0) << process.err();
}

}  // namespace
}  // namespace ebb::cli::testing
