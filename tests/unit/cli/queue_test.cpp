// `ebb queue` and `ebb workers`: what they print, set and refuse.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cli_world.h"
#include "store/store.h"
#include "support/clock.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kWorkflow = R"(workflow: bill
handlers:
  charge: {exec: [echo, "1"]}
steps:
  - {step: charge, queue: bank, concurrency_key: input.who}
)";

class CliQueue : public ::testing::Test {
 protected:
    CliQueue() {
        const std::string file = world_.file("bill.yaml", kWorkflow);
        for (int i = 0; i < 3; ++i) {
            world_.run_db({"start", file, "--input", R"({"who":"acme"})"});
        }
    }

    Json json(std::vector<std::string> args) {
        args.emplace_back("--json");
        const Outcome outcome = world_.run_db(std::move(args));
        EXPECT_EQ(outcome.code, kOk) << outcome.err;
        return Json::parse(outcome.out);
    }

    std::string refusal(std::vector<std::string> args) {
        const Outcome outcome = world_.run_db(std::move(args));
        EXPECT_NE(outcome.code, kOk);
        return outcome.err;
    }

    CliWorld world_;
};

TEST_F(CliQueue, run_starts_its_own_instance_however_many_wait_in_a_queue_with_limits) {
    world_.run_db({"queue", "set", "bank", "--concurrency", "2"});
    const std::string file = world_.file("bill.yaml", kWorkflow);
    const Outcome run =
        world_.run_db({"run", file, "--input", R"({"who":"acme"})", "--timeout", "1h"});
    EXPECT_EQ(run.code, kOk) << run.err;
    EXPECT_EQ(json({"list", "--status", "completed"}).size(), 1U);
    EXPECT_EQ(json({"list", "--status", "running"}).size(), 3U) << "workers run the others";
}

TEST_F(CliQueue, sets_shows_changes_and_clears_limits) {
    const Outcome set = world_.run_db({"queue", "set", "bank", "--concurrency", "4"});
    EXPECT_EQ(set.code, kOk) << set.err;
    EXPECT_EQ(
        normal(world_, set.out),
        "QUEUE RUNNING WAITING SLEEPING SLOTS PER KEY RATE\nbank 0 3 0 0 of 4 - -\n"
    );
    world_.run_db({"queue", "set", "bank", "--rate", "10/1m", "--concurrency-per-key=2"});
    const Json shown = json({"queue", "show", "bank"});
    EXPECT_EQ(shown["concurrency"], 4);
    EXPECT_EQ(shown["concurrency_per_key"], 2);
    EXPECT_EQ(shown["rate"]["starts"], 10);
    EXPECT_EQ(shown["rate"]["period"], "1m");
    EXPECT_EQ(shown["waiting"], 3);
    EXPECT_NE(shown["updated_at"], nullptr);
    world_.run_db({"queue", "set", "bank", "--concurrency", "none"});
    EXPECT_EQ(json({"queue"})[0]["concurrency"], nullptr);
    EXPECT_EQ(json({"queue"})[0]["concurrency_per_key"], 2);
    EXPECT_EQ(json({"queue", "clear", "bank"})["rate"], nullptr);
    EXPECT_EQ(json({"queue", "list"}).size(), 1U);
    EXPECT_NE(refusal({"queue", "show", "unknown"}).find("There is no queue"), std::string::npos);
}

TEST_F(CliQueue, limits_are_obeyed_by_workers) {
    world_.run_db({"queue", "set", "bank", "--concurrency", "0"});
    EXPECT_EQ(world_.run_db({"worker", "--allow-exec", "--once"}).code, kOk);
    EXPECT_EQ(json({"list", "--status", "running"}).size(), 3U);
    world_.run_db({"queue", "set", "bank", "--concurrency", "1", "--concurrency-per-key", "1"});
    EXPECT_EQ(world_.run_db({"worker", "--allow-exec", "--once"}).code, kOk);
    EXPECT_EQ(json({"list", "--status", "completed"}).size(), 3U);
}

TEST_F(CliQueue, says_what_it_does_not_understand) {
    EXPECT_THAT(refusal({"queue", "set", "bank"}), HasSubstr("There is nothing to set"));
    EXPECT_THAT(refusal({"queue", "set"}), HasSubstr("needs the name of a queue"));
    EXPECT_THAT(refusal({"queue", "clear", "bank", "--rate", "1/1s"}), HasSubstr("ebb queue set"));
    EXPECT_THAT(refusal({"queue", "sett", "bank"}), HasSubstr("did you mean \"set\"?"));
    EXPECT_THAT(
        refusal({"queue", "set", "bank", "--concurrency", "many"}),
        HasSubstr("\"many\" is neither a whole number nor `none`")
    );
    for (const char* rate : {"5", "5/", "/1s", "x/1s", "5/1x", "5/1s/2"}) {
        EXPECT_THAT(
            refusal({"queue", "set", "bank", "--rate", rate}), HasSubstr("such as 100/1m or 5/1s")
        );
    }
    EXPECT_THAT(
        refusal({"queue", "set", "bank", "--concurrency", "-1"}),
        HasSubstr("it goes from 0 to 1000000")
    );
    EXPECT_THAT(
        refusal({"queue", "set", "9", "--concurrency", "1"}),
        HasSubstr("is not a valid name of a queue")
    );
}

TEST_F(CliQueue, and_workers_list_tasks_that_no_worker_can_run) {
    const Outcome outcome = world_.run_db({"workers"});
    EXPECT_EQ(outcome.code, kOk);
    EXPECT_EQ(
        outcome.out,
        "3 tasks are waiting for the handler \"charge\" in the queue \"bank\", which no living "
        "worker has.\n"
    );
    EXPECT_THAT(outcome.err, HasSubstr("No workers."));
    const Json all = json({"workers"});
    EXPECT_EQ(all["workers"].size(), 0U);
    EXPECT_EQ(all["unserved"][0]["tasks"], 3);
}

TEST_F(CliQueue, and_workers_are_alive_or_draining_or_dead_and_hold_tasks) {
    const StorePtr store = open_sqlite_store({.path = world_.path("ebb.db")});
    const auto beat = [&](const std::string& id, int capacity, Duration lease) {
        WorkerRow row{.id = id, .host = "h", .pid = 7, .handlers = {"charge"}, .queues = {}};
        row.capacity = capacity;
        row.started_at = SystemClock().now();
        store->heartbeat(row, lease);
    };
    beat("a", 4, std::chrono::hours(1));
    beat("b", 0, std::chrono::hours(1));
    beat("c", 4, Duration(1));
    ClaimRequest request{.worker = "a", .handlers = {"charge"}, .queues = {}, .limit = 2};
    EXPECT_EQ(store->claim(request).size(), 2U);
    EXPECT_EQ(
        normal(world_, world_.run_db({"workers"}).out),
        "WORKER STATE TASKS THREADS SINCE QUEUES HANDLERS\n"
        "a alive 2 4 <ago> all charge\n"
        "b draining 0 - <ago> all charge\n"
        "c dead 0 4 <ago> all charge\n"
    );
    const Json all = json({"workers"})["workers"];
    EXPECT_EQ(all[0]["tasks"], 2);
    EXPECT_EQ(all[0]["is_draining"], false);
    EXPECT_EQ(all[1]["is_draining"], true);
    EXPECT_EQ(all[1]["threads"], 0);
    EXPECT_EQ(all[2]["is_alive"], false);
}

}  // namespace
}  // namespace ebb::cli::testing
