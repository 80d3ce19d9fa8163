// Workers that die at any moment: whatever a SIGKILL interrupts, every instance reaches its end,
// and no step and no compensation is committed twice. The moment is drawn by the number of lines
// that the worker has said, so it falls between, before and within commits, and no clock decides
// anything.

#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include <ebb/json.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kWorkflow = R"(workflow: demo
handlers:
  work: {exec: [sh, -c, 'echo "\"done\""']}
  undo: {exec: [sh, -c, 'echo undo >>log']}
steps:
  - {step: one, handler: work, compensate: undo}
  - parallel: both
    branches:
      left: [{step: two, handler: work, compensate: undo}]
      right: [{step: three, handler: work, compensate: undo}]
  - condition: check
    when: workflow.input.bad
    then: [{fail: bad, message: on purpose}]
  - {step: four, handler: work}
)";

std::string name_of(const Json& node) {
    return node.is_string() ? node.get<std::string>() : std::string();
}

constexpr int kInstances = 16;
constexpr int kKills = 4;  // a step whose lease is lost for the fifth time fails

class CliKills : public ::testing::TestWithParam<std::string> {
 protected:
    CliKills() : db_(GetParam() == "sqlite" ? "ebb.db" : postgres_url()) {
        std::ofstream(directory_.path() / "demo.yaml") << kWorkflow;
    }

    static std::string postgres_url() {
        return ebb::testing::postgres_server().url() + "&schema=" + ebb::testing::fresh_schema();
    }

    std::string run(std::vector<std::string> args) const {
        CliProcess process(directory(), args, db_);
        EXPECT_EQ(process.wait(), 0) << process.err();
        return process.out();
    }

    std::string directory() const { return directory_.path().string(); }

    /// Every event of the instance, by type and node.
    std::map<std::string, int> events(const std::string& id) const {
        std::map<std::string, int> counts;
        std::istringstream lines(run({"history", id, "-o", "jsonl"}));
        for (std::string line; std::getline(lines, line);) {
            const Json event = Json::parse(line);
            ++counts[event["type"].get<std::string>() + " " + name_of(event["node"])];
        }
        return counts;
    }

    TempDirectory directory_;
    const std::string db_;
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    CliKills,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

TEST_P(CliKills, at_any_moment_lose_nothing_and_repeat_nothing) {
    for (int i = 0; i < kInstances; ++i) {
        run({"start", "demo.yaml", "--input", i % 2 == 0 ? R"({"bad":false})" : R"({"bad":true})"});
    }
    std::mt19937 random(std::random_device{}());
    std::uniform_int_distribution<std::size_t> moments(1, 25);
    for (int kill = 0; kill < kKills; ++kill) {
        const std::size_t lines = moments(random);
        SCOPED_TRACE("killed after " + std::to_string(lines) + " lines");
        CliProcess worker(directory(), {"worker", "demo.yaml", "--lease", "1s", "--verbose"}, db_);
        if (worker.wait_for_lines(lines)) worker.signal(SIGKILL);
        worker.wait();
    }
    CliProcess worker(directory(), {"worker", "demo.yaml", "--lease", "1s", "-q"}, db_);
    const Json instances = Json::parse(run({"list", "--json", "--limit", "100"}));
    ASSERT_EQ(instances.size(), kInstances);
    for (const Json& instance : instances) {
        const auto id = instance["id"].get<std::string>();
        SCOPED_TRACE(id);
        CliProcess waiting(directory(), {"wait", id, "--timeout", "60s"}, db_);
        const bool is_completed = waiting.wait() == 0;
        std::map<std::string, int> happened = events(id);
        const bool is_bad = happened.contains("step_failed bad");
        EXPECT_EQ(is_completed, !is_bad);
        for (const char* node : {"one", "two", "three"}) {
            EXPECT_EQ(happened[std::string("step_completed ") + node], 1) << node;
            EXPECT_EQ(happened[std::string("step_compensated ") + node], is_bad ? 1 : 0);
        }
        EXPECT_EQ(happened["step_completed four"], is_bad ? 0 : 1);
        EXPECT_EQ(happened["started "], 1);
    }
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 0) << worker.err();
}

}  // namespace
}  // namespace ebb::cli::testing
