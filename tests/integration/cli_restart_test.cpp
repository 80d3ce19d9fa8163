// Commands that wait survive a PostgreSQL server that goes away and comes back, as workers do.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kWorkflow = R"(workflow: parcel
steps:
  - signal: delivered
)";

TEST(CliRestart, commands_that_wait_continue_when_the_server_is_back) {
    const TempDirectory directory;
    const std::string folder = directory.path().string();
    std::ofstream(directory.path() / "parcel.yaml") << kWorkflow;
    ebb::testing::PostgresServer server;
    const std::string db = server.url();
    const auto done = [&](const std::vector<std::string>& args) {
        CliProcess process(folder, args, db);
        EXPECT_EQ(process.wait(), 0) << process.err();
    };
    done({"migrate"});

    CliProcess run(folder, {"run", "parcel.yaml", "--key", "run"}, db);
    ASSERT_TRUE(run.wait_for("delivered")) << run.err();
    CliProcess starting(folder, {"start", "parcel", "--key", "start", "--wait"}, db);
    ASSERT_TRUE(starting.wait_for("-")) << starting.err();

    server.stop();
    for (CliProcess* process : {&run, &starting}) {
        ASSERT_TRUE(process->wait_for("out of reach")) << process->err();
    }
    server.start();
    for (CliProcess* process : {&run, &starting}) {
        ASSERT_TRUE(process->wait_for("answers again")) << process->err();
    }
    for (const char* key : {"key:parcel/run", "key:parcel/start"})
        done({"signal", key, "delivered"});
    EXPECT_EQ(run.wait(), 0) << run.err();
    CliProcess worker(folder, {"worker", "--allow-exec", "--once", "-q"}, db);
    EXPECT_EQ(worker.wait(), 0) << worker.err();
    EXPECT_EQ(starting.wait(), 0) << starting.err();
}

}  // namespace
}  // namespace ebb::cli::testing
