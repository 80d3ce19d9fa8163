// A worker whose database role lacks rights: it ends at the start, or says what is missing and goes
// on when it is given back. Method: real processes over PostgreSQL, as a role of their own.

#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli_process.h"
#include "support/os_file.h"
#include "support/postgres_server.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

// Its first step takes a right away from its own worker, as the owner could at any time.
constexpr std::string_view kWorkflow = R"(workflow: demo
handlers:
  deny: {exec: [psql, -q, ADMIN, -c, 'REVOKE INSERT ON SCHEMA.history FROM hand']}
  next: {exec: [echo, '1']}
steps: [deny, next]
)";

class CliRights : public ::testing::Test {
 protected:
    CliRights() {
        execute("DROP ROLE IF EXISTS hand");
        execute("CREATE ROLE hand LOGIN");
        run(admin_, {"migrate"});
        execute("GRANT USAGE ON SCHEMA " + schema_ + " TO hand");
        execute("GRANT ALL ON ALL TABLES IN SCHEMA " + schema_ + " TO hand");
        std::string text(kWorkflow);
        text.replace(text.find("ADMIN"), 5, "'" + server().url() + "'");
        text.replace(text.find("SCHEMA"), 6, schema_);
        std::ofstream(directory_.path() / "demo.yaml") << text;
    }

    ~CliRights() override {
        execute("DROP SCHEMA " + schema_ + " CASCADE");
        execute("DROP ROLE hand");
    }

    static ebb::testing::PostgresServer& server() { return ebb::testing::postgres_server(); }

    static void execute(const std::string& sql) { server().execute(sql); }

    std::string directory() const { return directory_.path().string(); }

    std::string run(const std::string& db, const std::vector<std::string>& args) const {
        CliProcess process(directory(), args, db);
        EXPECT_EQ(process.wait(), 0) << process.err();
        return process.out();
    }

    const std::string schema_ = ebb::testing::fresh_schema();
    const std::string admin_ = server().url() + "&schema=" + schema_;
    const std::string hand_ = server().url("ebb_test", "hand") + "&schema=" + schema_;
    TempDirectory directory_;
};

TEST_F(CliRights, that_are_missing_at_the_start_end_the_worker) {
    execute("REVOKE UPDATE ON " + schema_ + ".tasks FROM hand");
    CliProcess worker(directory(), {"worker", "demo.yaml"}, hand_);
    EXPECT_EQ(worker.wait(), 5);
    EXPECT_THAT(worker.err(), HasSubstr("ebb: store_denied: "));
    EXPECT_THAT(worker.err(), HasSubstr("GRANT UPDATE ON " + schema_ + ".tasks TO hand;"));
    EXPECT_EQ(worker.err().find("worker_started"), std::string::npos);
}

TEST_F(CliRights, that_are_taken_away_are_reported_and_waited_for) {
    const std::string id = run(admin_, {"start", "demo.yaml"});
    CliProcess worker(directory(), {"worker", "demo.yaml"}, hand_);
    ASSERT_TRUE(worker.wait_for("event=worker_denied")) << worker.err();
    ASSERT_TRUE(worker.wait_for("TO hand;"));
    EXPECT_THAT(worker.err(), HasSubstr("GRANT INSERT ON " + schema_ + ".history TO hand;"));
    execute("GRANT INSERT ON " + schema_ + ".history TO hand");
    ASSERT_TRUE(worker.wait_for("event=completed")) << worker.err();
    EXPECT_TRUE(worker.wait_for("event=worker_allowed")) << worker.err();
    worker.signal(SIGTERM);
    EXPECT_EQ(worker.wait(), 0);
    EXPECT_EQ(worker.err().find("event=step_failed"), std::string::npos) << worker.err();
    EXPECT_EQ(worker.err().find("attempt="), std::string::npos) << "it is not called twice";
}

}  // namespace
}  // namespace ebb::cli::testing
