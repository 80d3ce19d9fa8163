// `ebb stats`, `ebb top` and `ebb doctor`.

#include <gmock/gmock.h>

#include "cli_world.h"
#include "support/store_decorator.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CliOverview : public ::testing::Test {
 protected:
    void start(std::string_view workflow, const std::string& key) {
        const std::string file = world.file("w.yaml", workflow);
        ASSERT_EQ(world.run_db({"start", file, "-i", "\"a\"", "--key", key}).code, 0);
    }

    void work() { world.run_db({"worker", "--allow-exec", "--once", "-q"}); }

    /// The finding of one check.
    Json finding(const std::string& check) {
        for (const Json& each : Json::parse(world.run_db({"doctor", "--json"}).out)) {
            if (each["check"] == check) return each;
        }
        return nullptr;
    }

    CliWorld world;
};

TEST_F(CliOverview, stats_counts_by_workflow_and_status) {
    start(kHello, "one");
    start(kSaga, "two");
    work();
    start(kHello, "three");
    EXPECT_EQ(
        normal(world, world.run_db({"stats"}).out),
        "▸ 1 running ✓ 1 completed ✗ 1 failed no worker 1 task without a worker\n"
        "\n"
        "WORKFLOW RUNNING COMPLETED FAILED\n"
        "hello 1 1 -\n"
        "saga - - 1\n"
    );
    const Json json = Json::parse(world.run_db({"stats", "--json"}).out);
    EXPECT_EQ(json["instances"]["completed"], 1);
    EXPECT_EQ(json["workflows"]["saga"], Json({{"failed", 1}}));
    EXPECT_EQ(json["workers_alive"], 0);
    EXPECT_EQ(json["unserved_tasks"], 1);
}

TEST_F(CliOverview, stats_shows_the_activity) {
    start(kHello, "one");
    start(kSaga, "two");
    work();
    start(kHello, "three");
    const Outcome outcome = world.run_db({"stats", "--activity"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("The last 1d, in steps of 30m\n"));
    const std::string text = normal(world, outcome.out);
    EXPECT_THAT(
        text, HasSubstr("WORKFLOW STARTED COMPLETED FAILED DEAD UNDONE STEPS P50 P95 STARTS")
    );
    EXPECT_THAT(text, HasSubstr("hello 2 1 - - - 2 "));
    EXPECT_THAT(text, HasSubstr("saga 1 - 1 - 1 3 - -"));
    EXPECT_THAT(text, HasSubstr("all 3 1 1 - 1 5 "));
    EXPECT_THAT(outcome.out, HasSubstr("█"));
    const Json json = Json::parse(world.run_db({"stats", "--activity", "--json"}).out);
    EXPECT_EQ(json["complete"], true);
    EXPECT_EQ(json["all"]["total"]["started"], 3);
    const Json one = Json::parse(
        world.run_db({"stats", "--activity", "-w", "saga", "--window", "1h", "--json"}).out
    );
    EXPECT_EQ(one["all"]["total"]["started"], 1);
    EXPECT_EQ(one["step"], "1m");
}

TEST_F(CliOverview, stats_says_what_is_wrong_with_a_question_about_activity) {
    ASSERT_EQ(world.run_db({"migrate"}).code, 0);
    EXPECT_EQ(
        world.run_db({"stats", "--activity"}).out,
        "The last 1d, in steps of 30m\nNothing has started or ended in this time.\n"
    );
    const Outcome step = world.run_db({"stats", "--activity", "--step", "7m"});
    EXPECT_NE(step.code, 0);
    EXPECT_THAT(step.err, HasSubstr("the steps are 1m, 5m, 30m, 3h, 12h"));
    EXPECT_THAT(
        world.run_db({"stats", "--activity", "-w", "none"}).err, HasSubstr("no workflow \"none\"")
    );
    EXPECT_EQ(world.run_db({"stats", "--window", "1h"}).code, 2);
}

TEST_F(CliOverview, stats_of_an_empty_database) {
    ASSERT_EQ(world.run_db({"migrate"}).code, 0);
    EXPECT_EQ(world.run_db({"stats"}).out, "no instances  no worker\n");
    EXPECT_EQ(
        world.run_db({"top", "--once"}).out, "no instances  no worker\n\nNo instance is live.\n"
    );
}

TEST_F(CliOverview, top_shows_first_what_needs_an_operator) {
    start(kFrozen, "dead");
    start(kSignal, "waits");
    work();
    const std::string text = normal(world, world.run_db({"top", "--once"}).out);
    const std::size_t dead = text.find("frozen v1 ■ dead_letter");
    const std::size_t waits = text.find("parcel v1 ◷ waiting");
    ASSERT_NE(dead, std::string::npos) << text;
    ASSERT_NE(waits, std::string::npos) << text;
    EXPECT_LT(dead, waits);
}

TEST_F(CliOverview, no_line_of_them_is_wider_than_the_terminal) {
    start(kFrozen, "dead");
    start(kHello, "unserved");
    work();
    start(kHello, "more");
    world.is_terminal = true;
    world.columns = 80;
    world.environment["NO_COLOR"] = "1";
    for (const std::vector<std::string>& args :
         std::vector<std::vector<std::string>>{{"stats"}, {"doctor"}}) {
        const std::string text = world.run_db(args).out;
        for (std::size_t n = 0; !line_of(text, n).empty(); ++n) {
            std::string line = line_of(text, n);
            std::erase_if(line, [](char c) { return (c & 0xC0) == 0x80; });
            EXPECT_LE(line.size(), 80U) << line;
        }
    }
}

TEST_F(CliOverview, doctor_finds_what_is_wrong_and_what_to_do) {
    start(kHello, "one");
    const Outcome outcome = world.run_db({"doctor"});
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr("✓ schema     version "));
    EXPECT_THAT(outcome.out, HasSubstr("✓ clock      this host and the database agree within 1s"));
    EXPECT_THAT(outcome.out, HasSubstr("! workers    no worker is alive\n"));
    EXPECT_THAT(
        outcome.out,
        HasSubstr("✗ handlers   no worker can run 1 due task for the handler \"greet\"")
    );
    EXPECT_THAT(outcome.out, HasSubstr("! retention  ended instances are kept forever"));
    EXPECT_EQ(finding("handlers")["level"], "failure");
    work();
    EXPECT_EQ(finding("handlers")["level"], "ok");
    EXPECT_EQ(world.run_db({"doctor"}).code, 0);
    // It leaves no worker behind.
    EXPECT_EQ(Json::parse(world.run_db({"workers", "--json"}).out)["workers"], Json::array());
}

TEST_F(CliOverview, doctor_counts_dead_letters_and_rules) {
    start(kFrozen, "one");
    work();
    EXPECT_EQ(finding("failures")["text"], "1 instance is dead-lettered");
    ASSERT_EQ(world.run_db({"retention", "set", "*", "90d"}).code, 0);
    EXPECT_EQ(finding("retention")["level"], "ok");
}

/// A database whose clock is ahead.
class ClockAhead : public StoreDecorator {
 public:
    explicit ClockAhead(StorePtr store) : StoreDecorator(*store), store_(std::move(store)) {}

    std::vector<WorkerRow> workers() override {
        auto rows = StoreDecorator::workers();
        for (WorkerRow& row : rows) row.expires_at += std::chrono::minutes(5);
        return rows;
    }

 private:
    StorePtr store_;
};

TEST_F(CliOverview, doctor_finds_a_clock_that_is_ahead) {
    ASSERT_EQ(world.run_db({"migrate"}).code, 0);
    world.wrap_store = [](StorePtr store) { return StorePtr(new ClockAhead(std::move(store))); };
    const Json clock = finding("clock");
    EXPECT_EQ(clock["level"], "warning");
    EXPECT_THAT(clock["text"].get<std::string>(), HasSubstr("ahead of this host's"));
}

TEST_F(CliOverview, what_takes_an_instance_with_rules_back_and_its_tasks_have_names) {
    const std::string file = world.file("w.yaml", R"(workflow: loan
rules:
  attributes: {amount: integer, grade: text}
  on_idle: wait
  triggers:
    rate: {when: amount > 10 and grade is null, do: grade, writes: [grade]}
)");
    ASSERT_EQ(world.run_db({"start", file, "-i", R"({"amount": 20})"}).code, 0);
    const Outcome exported = world.run_db({"export", "@1"});
    EXPECT_THAT(exported.err, HasSubstr("its workflow \"loan\" has rules."));
    EXPECT_THAT(exported.err, Not(HasSubstr("hint:")));
    ASSERT_EQ(world.run_db({"recover", "@1", "--to", "1"}).code, 0);
    EXPECT_THAT(world.run_db({"list"}).out, HasSubstr("taken back to the write 1 by ann"));
    const std::string what = "(a timer, the end of a step, or a request)";
    EXPECT_EQ(
        world.run_db({"workers"}).out,
        "1 task is waiting in the queue \"default\" for any worker " + what +
            ", and no worker is alive.\n"
    );
    EXPECT_EQ(
        finding("handlers")["text"],
        "no worker can run 1 due task without a handler " + what + " in the queue \"default\""
    );
}

/// A database whose time is later.
class LaterStore : public StoreDecorator {
 public:
    explicit LaterStore(StorePtr store) : StoreDecorator(*store), store_(std::move(store)) {}

    TimePoint now() const override { return StoreDecorator::now() + std::chrono::minutes(5); }

 private:
    StorePtr store_;
};

TEST_F(CliOverview, delayed_says_what_no_worker_starts_and_why) {
    start(kHello, "one");
    start(kHello, "two");
    start(kApproval, "waits for a person");
    const Outcome early = world.run_db({"delayed"});
    EXPECT_EQ(early.out, "");
    EXPECT_EQ(early.err, "No task has been due for more than a minute without a start.\n");
    world.wrap_store = [](StorePtr store) { return StorePtr(new LaterStore(std::move(store))); };
    const Outcome late = world.run_db({"delayed"});
    EXPECT_EQ(late.code, 0) << late.err;
    EXPECT_THAT(
        normal(world, late.out),
        ::testing::MatchesRegex("WORKFLOW HANDLER QUEUE TASKS SINCE FIRST WHY\n"
                                "hello greet default 2 .* no living worker has the handler\n")
    );
    const Json json = Json::parse(world.run_db({"delayed", "--json"}).out);
    ASSERT_EQ(json.size(), 1U);
    EXPECT_EQ(json[0]["tasks"], 2);
    EXPECT_EQ(json[0]["reason"], "no_worker");
    EXPECT_EQ(world.run_db({"delayed", "--workflow", "approval", "--json"}).out, "[]\n");
}

TEST_F(CliOverview, delayed_says_that_nothing_carries_out_a_timer) {
    start("workflow: nap\nsteps: [{delay: a, for: 1ms}]\n", "naps");
    world.wrap_store = [](StorePtr store) { return StorePtr(new LaterStore(std::move(store))); };
    const Outcome outcome = world.run_db({"delayed"});
    EXPECT_THAT(
        normal(world, outcome.out),
        ::testing::MatchesRegex("WORKFLOW HANDLER QUEUE TASKS SINCE FIRST WHY\n"
                                "nap - - 1 .* no worker is alive .*\n")
    );
    const Json json = Json::parse(world.run_db({"delayed", "--json"}).out);
    ASSERT_EQ(json.size(), 1U);
    EXPECT_TRUE(json[0]["handler"].is_null());
    EXPECT_EQ(json[0]["reason"], "no_engine");
}

/// A database that has noticed something.
class Noticing : public StoreDecorator {
 public:
    explicit Noticing(StorePtr store) : StoreDecorator(*store), store_(std::move(store)) {}

    std::vector<StoreNotice> take_notices() override {
        return {{"clock_skew", "The clock of this machine is 1h ahead."}};
    }

 private:
    StorePtr store_;
};

TEST_F(CliOverview, why_says_that_a_clock_is_wrong) {
    start(kHello, "one");
    EXPECT_THAT(world.run_db({"why", "@1"}).err, Not(HasSubstr("clock")));
    world.wrap_store = [](StorePtr store) { return StorePtr(new Noticing(std::move(store))); };
    const Outcome outcome = world.run_db({"why", "@1"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.err, HasSubstr("The clock of this machine is 1h ahead."));
}

TEST_F(CliOverview, doctor_says_that_there_is_no_database) {
    const Outcome outcome = world.run_db({"doctor"});
    EXPECT_EQ(outcome.code, 5);
    EXPECT_THAT(outcome.out, HasSubstr("✗ database"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("workers")));
    EXPECT_EQ(world.run({"doctor"}).code, 2);
}

}  // namespace
}  // namespace ebb::cli::testing
