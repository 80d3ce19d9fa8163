// What `ebb run` and `ebb worker` run, and what they leave alone.

#include <gmock/gmock.h>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kOther = R"(workflow: other
handlers:
  shout: {exec: [jq, -c, '. + "?"']}
steps:
  - shout
)";

class CliSafety : public ::testing::Test {
 protected:
    std::string start(const std::string& file, std::vector<std::string> more = {}) {
        std::vector<std::string> args{"start", file, "-i", "\"ann\""};
        args.insert(args.end(), more.begin(), more.end());
        std::string id = world.run_db(args).out;
        id.pop_back();
        return id;
    }

    Json shown(const std::string& id) {
        return Json::parse(world.run_db({"show", id, "--json"}).out);
    }

    std::string status(const std::string& id) { return shown(id)["status"].get<std::string>(); }

    CliWorld world;
};

TEST_F(CliSafety, run_leaves_other_instances_alone) {
    const std::string file = world.file("hello.yaml", kHello);
    const std::string other = start(file);
    const Outcome outcome = world.run_db({"run", file, "-i", "\"bob\""});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "\"Hello, bob!\"\n");
    EXPECT_EQ(status(other), "running");
    EXPECT_EQ(shown(other)["revision"], 1) << shown(other);
}

TEST_F(CliSafety, run_leaves_other_instances_of_a_queue_with_limits_alone) {
    std::string text(kHello);
    text.insert(text.find("handlers:"), "defaults: {queue: narrow}\n");
    const std::string file = world.file("hello.yaml", text);
    ASSERT_EQ(world.run_db({"start", file, "-i", "\"x\"", "--key", "first"}).code, 0);
    ASSERT_EQ(world.run_db({"cancel", "key:hello/first"}).code, 0);
    ASSERT_EQ(world.run_db({"queue", "set", "narrow", "--concurrency", "1"}).code, 0);
    // Alone in the queue, it runs.
    const Outcome alone = world.run_db({"run", file, "-i", "\"bob\""});
    EXPECT_EQ(alone.out, "\"Hello, bob!\"\n") << alone.err;
    // Another instance that waits in the queue is neither run nor waited for.
    const std::string other = start(file);
    const Outcome behind = world.run_db({"run", file, "-i", "\"ann\"", "--key", "b"});
    EXPECT_EQ(behind.out, "\"Hello, ann!\"\n") << behind.err;
    EXPECT_EQ(shown(other)["revision"], 1) << shown(other);
    EXPECT_EQ(world.run_db({"worker", file, "--once", "-q"}).code, 0);
    EXPECT_EQ(status(other), "completed");
    EXPECT_EQ(status("key:hello/b"), "completed");
}

TEST_F(CliSafety, a_worker_without_the_file_runs_no_programs_of_the_database) {
    const std::string id = start(world.file("hello.yaml", kHello));
    const Outcome refused = world.run_db({"worker", "--once"});
    EXPECT_EQ(refused.code, 0) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("event=exec_refused"));
    EXPECT_THAT(refused.err, HasSubstr("workflow=hello version=1 handlers=greet,shout"));
    EXPECT_EQ(status(id), "running");
    const Outcome allowed = world.run_db({"worker", "--once", "--allow-exec"});
    EXPECT_THAT(allowed.err, Not(HasSubstr("exec_refused")));
    EXPECT_EQ(status(id), "completed");
}

TEST_F(CliSafety, the_file_or_the_environment_allows_them) {
    const std::string file = world.file("hello.yaml", kHello);
    const std::string first = start(file);
    EXPECT_EQ(world.run_db({"worker", file, "--once", "-q"}).err, "");
    EXPECT_EQ(status(first), "completed");
    const std::string second = start(file);
    world.environment["EBB_ALLOW_EXEC"] = "1";
    EXPECT_EQ(world.run_db({"worker", "--once", "-q"}).err, "");
    EXPECT_EQ(status(second), "completed");
}

TEST_F(CliSafety, a_workflow_that_shares_a_handler_name_with_a_file_is_left_to_other_workers) {
    const std::string other = start(world.file("other.yaml", kOther));
    const std::string file = world.file("hello.yaml", kHello);
    const std::string own = start(file);
    const Outcome outcome = world.run_db({"worker", file, "--once"});
    EXPECT_THAT(outcome.err, HasSubstr("workflow=other version=1 handlers=shout"));
    EXPECT_EQ(status(own), "completed");
    EXPECT_EQ(status(other), "running");
    // Nothing was written about it, not even an attempt.
    EXPECT_EQ(shown(other)["revision"], 1) << shown(other);
}

TEST_F(CliSafety, another_version_with_another_program_is_left_to_other_workers) {
    const std::string old_file = world.file("old.yaml", kOther);
    const std::string old_one = start(old_file);
    std::string text(kOther);
    text.replace(text.find("+ \"?\""), 5, "+ \"!\"");
    text.insert(text.find("handlers:"), "version: 2\n");
    const std::string file = world.file("new.yaml", text);
    const std::string new_one = start(file);
    EXPECT_EQ(world.run_db({"worker", file, "--once"}).code, 0);
    EXPECT_EQ(shown(new_one)["output"], "ann!");
    EXPECT_EQ(status(old_one), "running");
    EXPECT_EQ(world.run_db({"run", "--resume", old_one, old_file}).out, "\"ann?\"\n");
}

TEST_F(CliSafety, resume_needs_the_file_or_leave) {
    const std::string file = world.file("hello.yaml", kHello);
    const std::string id = start(file);
    const Outcome refused = world.run_db({"run", "--resume", id});
    EXPECT_EQ(refused.code, 2);
    EXPECT_THAT(
        refused.err,
        HasSubstr("The handler \"greet\" of hello v1 runs a program that only the database names.")
    );
    EXPECT_EQ(shown(id)["revision"], 1) << shown(id);
    EXPECT_EQ(world.run_db({"run", "--resume", id, file}).out, "\"Hello, ann!\"\n");
}

TEST_F(CliSafety, a_workflow_without_programs_needs_no_leave) {
    const std::string id = start(world.file("parcel.yaml", kSignal));
    ASSERT_EQ(world.run_db({"signal", id, "delivered"}).code, 0);
    EXPECT_EQ(world.run_db({"run", "--resume", id}).code, 0);
}

}  // namespace
}  // namespace ebb::cli::testing
