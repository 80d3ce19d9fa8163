// `ebb worker` in this process: what it logs, and how it ends.

#include <csignal>

#include <ebb/error.h>

#include "cli/text.h"
#include "cli_world.h"
#include "support/store_decorator.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

TEST(CliWorker, once_ends_when_nothing_is_due) {
    CliWorld world;
    const std::string file = world.file("hello.yaml", kHello);
    world.run_db({"start", file, "-i", "\"a\""});
    const Outcome outcome = world.run_db({"worker", file, "--once", "--id", "w1"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("event=worker_started worker=w1"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("event=step_completed"), std::string::npos);
    EXPECT_NE(outcome.err.find("node=shout"), std::string::npos);
    EXPECT_NE(outcome.err.find("event=completed"), std::string::npos);
    EXPECT_NE(outcome.err.find("event=worker_stopped"), std::string::npos);
}

TEST(CliWorker, logs_json_lines_on_stdout) {
    CliWorld world;
    const std::string file = world.file("saga.yaml", kSaga);
    world.run_db({"start", file});
    const Outcome outcome = world.run_db({"worker", "--allow-exec", "--once", "--json"});
    EXPECT_EQ(outcome.err, "");
    bool has_failed = false;
    std::size_t n = 0;
    for (std::string line; !(line = line_of(outcome.out, n)).empty(); ++n) {
        const Json json = Json::parse(line);
        if (json["event"] != "step_failed") continue;
        has_failed = true;
        EXPECT_EQ(json["level"], "warning");
        EXPECT_EQ(json["node"], "charge");
        EXPECT_TRUE(json["error"].get<std::string>().starts_with("exit_65: the card was declined"));
    }
    EXPECT_TRUE(has_failed);
}

TEST(CliWorker, logs_lines_that_fit_on_a_terminal) {
    CliWorld world;
    const std::string file = world.file("saga.yaml", kSaga);
    world.is_terminal = true;
    world.environment["NO_COLOR"] = "1";
    for (const int columns : {80, 40}) {
        world.columns = columns;
        world.run_db({"start", file});
        const Outcome outcome = world.run_db({"worker", "--allow-exec", "--once", "--id", "w1"});
        std::size_t n = 0;
        for (std::string line; !(line = line_of(outcome.err, n)).empty(); ++n) {
            EXPECT_LE(display_width(line), columns) << line;
        }
        EXPECT_GT(n, 5U);
        EXPECT_THAT(outcome.err, ::testing::HasSubstr(" worker_started worker=w1"));
        EXPECT_THAT(outcome.err, ::testing::HasSubstr(" warning: step_failed"));
        EXPECT_THAT(outcome.err, ::testing::Not(::testing::HasSubstr("time=")));
        if (columns != 80) continue;
        EXPECT_THAT(outcome.err, ::testing::HasSubstr(" saga v1 node=charge "));
    }
}

TEST(CliWorker, serves_what_the_database_knows) {
    CliWorld world;
    world.run_db({"start", world.file("hello.yaml", kHello), "-i", "\"a\""});
    EXPECT_EQ(world.run_db({"worker", "--allow-exec", "--once", "-q"}).err, "");
    EXPECT_NE(world.run_db({"list"}).out.find("completed"), std::string::npos);
}

TEST(CliWorker, serves_a_version_that_is_registered_while_it_runs) {
    CliWorld world;
    const std::string text = "workflow: hello\nhandlers:\n  greet: {exec: [jq, '\"old\"']}\n";
    const std::string file = world.file("hello.yaml", text + "steps: [greet]\n");
    const std::string newer = world.file(
        "newer.yaml",
        "version: 2\nworkflow: hello\nhandlers: {greet: {exec: [jq, '\"new\"']}}\nsteps: [greet]\n"
    );
    CliWorld other;
    const std::string db = world.path("ebb.db");
    world.on_err = [&](const std::string& err, Interrupts& interrupts) {
        if (other.input.empty() && err.find("event=worker_started") != std::string::npos) {
            other.input = "started";
            EXPECT_EQ(other.run({"start", newer, "--key", "k", "--db", db}).code, 0);
        }
        if (err.find("event=completed") != std::string::npos && interrupts.count() == 0) {
            interrupts.interrupt(SIGTERM);
        }
    };
    EXPECT_EQ(world.run_db({"worker", file, "--allow-exec"}).code, 0);
    const Outcome shown = world.run_db({"show", "key:hello/k", "--json"});
    EXPECT_EQ(Json::parse(shown.out)["output"], "new") << shown.out;
    EXPECT_EQ(Json::parse(shown.out)["steps"][0]["attempts"], 1);
}

TEST(CliWorker, drains_at_the_first_signal) {
    CliWorld world;
    world.on_err = [](const std::string& err, Interrupts& interrupts) {
        const bool is_idle = err.find("event=completed") != std::string::npos;
        if (is_idle && interrupts.count() == 0) interrupts.interrupt(SIGTERM);
    };
    const std::string file = world.file("hello.yaml", kHello);
    world.run_db({"start", file, "-i", "\"a\""});
    const Outcome outcome = world.run_db({"worker", file});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("event=draining signal=15"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("clean=true"), std::string::npos);
}

TEST(CliWorker, stops_at_the_second_signal_and_hands_its_work_back) {
    CliWorld world;
    const std::string file = world.file("slow.yaml", R"(workflow: slow
handlers:
  sleep: {exec: [sleep, '600']}
steps: [sleep]
)");
    std::string id = world.run_db({"start", file}).out;
    id.pop_back();
    world.on_err = [](const std::string& err, Interrupts& interrupts) {
        const bool runs = err.find("event=call_started") != std::string::npos;
        if (runs && interrupts.count() == 0) interrupts.interrupt(SIGTERM);
        const bool drains = err.find("event=draining") != std::string::npos;
        if (drains && interrupts.count() == 1) interrupts.interrupt(SIGTERM);
    };
    const Outcome outcome = world.run_db({"worker", file, "--verbose"});
    EXPECT_EQ(outcome.code, 6);
    EXPECT_NE(outcome.err.find("event=stopping_now"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("clean=false"), std::string::npos);
    EXPECT_EQ(Json::parse(world.run_db({"show", id, "--json"}).out)["status"], "running");
}

class RightlessStore final : public ebb::testing::StoreDecorator {
 public:
    explicit RightlessStore(StorePtr inner) : StoreDecorator(*inner), owned_(std::move(inner)) {}

    void check_rights() override { throw Error(ErrorCode::StoreDenied, "GRANT it."); }

 private:
    StorePtr owned_;
};

TEST(CliWorker, ends_at_once_where_the_database_denies_what_every_worker_needs) {
    CliWorld world;
    const std::string file = world.file("hello.yaml", kHello);
    world.wrap_store = [](StorePtr store) {
        return StorePtr(new RightlessStore(std::move(store)));
    };
    for (const auto& args : std::vector<std::vector<std::string>>{
             {"worker", file}, {"worker", file, "--once"}, {"run", file, "-i", "1"}
         }) {
        const Outcome outcome = world.run_db(args);
        EXPECT_EQ(outcome.code, 5) << args[0];
        EXPECT_EQ(outcome.out, "");
        EXPECT_EQ(outcome.err, "ebb: store_denied: GRANT it.\n") << "and nothing else";
    }
    EXPECT_EQ(world.run_db({"list", "--ids"}).out, "") << "nothing was started";
}

/// As if a newer Ebb had registered the workflow `hello`.
class NewerStore : public ebb::testing::StoreDecorator {
 public:
    explicit NewerStore(StorePtr inner) : StoreDecorator(*inner), owned_(std::move(inner)) {}

    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override {
        auto row = owned_->find_workflow(name, version);
        if (row && row->name == "hello") {
            row->definition = R"({"workflow":"hello","version":1,"steps":[{"step":"a","new":1}]})";
        }
        return row;
    }

 private:
    StorePtr owned_;
};

TEST(CliWorker, continues_with_the_others_if_it_cannot_read_a_version) {
    CliWorld world;
    world.run_db({"start", world.file("hello.yaml", kHello), "-i", "\"a\""});
    std::string other(kHello);
    other.replace(other.find("hello"), 5, "other");
    world.run_db({"start", world.file("other.yaml", other), "-i", "\"b\""});
    world.wrap_store = [](StorePtr store) { return StorePtr(new NewerStore(std::move(store))); };
    const std::string cause = "/steps/0/new: ";
    const Outcome worked = world.run_db({"worker", "--allow-exec", "--once"});
    EXPECT_EQ(worked.code, 0) << worked.err;
    const std::string warning = "event=workflow_unreadable workflow=hello version=1 ";
    const std::size_t at = worked.err.find(warning);
    EXPECT_NE(at, std::string::npos) << worked.err;
    EXPECT_EQ(worked.err.find(warning, at + 1), std::string::npos) << "once";
    EXPECT_THAT(worked.err, ::testing::HasSubstr("event=instance_put_off"))
        << "it has the handler, which belongs to the other workflow, too";
    EXPECT_THAT(world.run_db({"list", "-s", "completed"}).out, ::testing::HasSubstr("other"));

    const std::string ids = world.run_db({"list", "-w", "hello", "--ids"}).out;
    const std::string id = line_of(ids, 0);
    const Outcome why = world.run_db({"why", id});
    EXPECT_EQ(why.code, 0) << why.err;
    EXPECT_THAT(
        why.out,
        ::testing::HasSubstr(
            "The instance was set aside: This version of Ebb cannot read the stored definition of "
            "hello version 1: " +
            cause
        )
    );
    const Outcome show = world.run_db({"show", id});
    EXPECT_EQ(show.code, 5);
    EXPECT_THAT(show.err, ::testing::HasSubstr("definition of hello version 1: " + cause));
    EXPECT_THAT(show.err, ::testing::HasSubstr("`ebb doctor` lists what cannot be read"));
    const Outcome doctor = world.run_db({"doctor"});
    EXPECT_EQ(doctor.code, 1);
    EXPECT_THAT(
        doctor.out,
        ::testing::HasSubstr(
            "this ebb cannot read 1 version: hello v1 (needed by 1 instance): " + cause
        )
    );
    EXPECT_EQ(world.run_db({"queue", "show", "anything"}).code, 0) << "it may be the version's";
}

TEST(CliWorker, refuses_bad_files_before_it_starts) {
    CliWorld world;
    const Outcome outcome = world.run_db({"worker", world.file("bad.yaml", "steps: 1\n")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.find("worker_started"), std::string::npos);
}

}  // namespace
}  // namespace ebb::cli::testing
