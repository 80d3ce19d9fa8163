// What operators and people do to an instance, and what is refused.

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

class CliSteer : public ::testing::Test {
 protected:
    std::string start(std::string_view workflow) {
        std::string id = world.run_db({"start", world.file("w.yaml", workflow)}).out;
        id.pop_back();
        world.run_db({"worker", "--once", "-q"});
        return id;
    }

    std::string status(const std::string& id) {
        return Json::parse(world.run_db({"show", id, "--json"}).out)["status"].get<std::string>();
    }

    CliWorld world;
};

TEST_F(CliSteer, start_prints_the_id_and_knows_keys) {
    const std::string file = world.file("p.yaml", kSignal);
    const Outcome first = world.run_db({"start", file, "--key", "k"});
    EXPECT_EQ(first.code, 0);
    EXPECT_EQ(first.out.size(), 37U);
    EXPECT_EQ(first.err, "");
    const Outcome second = world.run_db({"start", "parcel", "--key", "k"});
    EXPECT_EQ(second.out, first.out);
    EXPECT_NE(second.err.find("The key \"k\" exists"), std::string::npos);
    const Json json = Json::parse(world.run_db({"start", "parcel", "--key", "k", "--json"}).out);
    EXPECT_EQ(json["is_new"], false);
    EXPECT_EQ(json["workflow"], "parcel");
}

TEST_F(CliSteer, start_refuses_what_it_does_not_know) {
    start(kSignal);
    const Outcome unknown = world.run_db({"start", "nothing"});
    EXPECT_EQ(unknown.code, 3);
    EXPECT_NE(unknown.err.find("(workflow_not_found)"), std::string::npos);
    EXPECT_EQ(world.run_db({"start", "parcel", "--version", "7"}).code, 3);
    EXPECT_EQ(world.run_db({"start", "parcel", "--input", "{"}).code, 2);
}

TEST_F(CliSteer, start_can_wait) {
    const std::string file = world.file("p.yaml", kSignal);
    const Outcome outcome = world.run_db({"start", file, "--wait", "--timeout", "1ms"});
    EXPECT_EQ(outcome.code, 6);
    EXPECT_EQ(outcome.out, "running\n");
}

TEST_F(CliSteer, cancel_and_abort_end_an_instance_and_say_so) {
    const std::string id = start(kSignal);
    const Outcome cancel = world.run_db({"cancel", id, "--reason", "changed my mind"});
    EXPECT_EQ(cancel.code, 0);
    EXPECT_EQ(cancel.out, "");
    EXPECT_EQ(normal(world, cancel.err), "Cancelled <id>; it is cancelled now.\n");
    EXPECT_NE(
        world.run_db({"why", id}).out.find("cancelled by ann (changed my mind)"), std::string::npos
    );
    const Outcome late = world.run_db({"abort", id});
    EXPECT_EQ(late.code, 4);
    EXPECT_NE(late.err.find("(invalid_state)"), std::string::npos);
    const std::string other = start(kSignal);
    EXPECT_EQ(Json::parse(world.run_db({"abort", other, "--json"}).out)["status"], "aborted");
}

TEST_F(CliSteer, pause_and_resume) {
    const std::string id = start(kSignal);
    EXPECT_EQ(world.run_db({"pause", id}).code, 0);
    EXPECT_EQ(status(id), "paused");
    EXPECT_EQ(world.run_db({"resume", id}).code, 0);
    EXPECT_EQ(status(id), "running");
}

TEST_F(CliSteer, decide_needs_the_role_and_a_wait) {
    const std::string id = start(kApproval);
    const Outcome alone = world.run_db({"decide", id, "confirm"});
    EXPECT_EQ(alone.code, 4);
    EXPECT_NE(alone.err.find("(not_allowed)"), std::string::npos) << alone.err;
    EXPECT_NE(alone.err.find("--role"), std::string::npos);
    EXPECT_EQ(world.run_db({"decide", id, "maybe", "--role", "manager"}).code, 2);
    EXPECT_EQ(
        world.run_db({"decide", id, "confirm", "--role", "manager", "--node", "none"}).code, 4
    );
    const Outcome done =
        world.run_db({"decide", id, "confirm", "--role", "manager", "--comment", "fine"});
    EXPECT_EQ(done.code, 0) << done.err;
    world.run_db({"worker", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
    const std::string shown = normal(world, world.run_db({"show", id}).out);
    EXPECT_NE(shown.find("ann confirmed +<t> fine"), std::string::npos) << shown;
}

TEST_F(CliSteer, signal_carries_a_payload) {
    const std::string id = start(kSignal);
    world.input = "{\"to\":\"eve\"}";
    EXPECT_EQ(world.run_db({"signal", id, "delivered", "--payload", "-"}).code, 0);
    world.run_db({"worker", "--once", "-q"});
    const Json json = Json::parse(world.run_db({"show", id, "--json"}).out);
    EXPECT_EQ(json["status"], "completed");
    EXPECT_EQ(json["output"]["to"], "eve");
    EXPECT_EQ(world.run_db({"signal", id, "delivered", "--payload", "nope"}).code, 2);
}

TEST_F(CliSteer, a_signal_may_be_called_like_a_command) {
    const std::string id = start(kSignal);
    const Outcome sent = world.run_db({"signal", id, "list", "--payload", "1"});
    EXPECT_EQ(sent.code, 0) << sent.err;
}

TEST_F(CliSteer, requeue_lets_a_dead_letter_try_again) {
    const std::string id = start(kFrozen);
    EXPECT_EQ(status(id), "dead_letter");
    const Outcome nothing = world.run_db({"requeue", id, "--skip-compensation"});
    EXPECT_EQ(nothing.code, 2);
    EXPECT_EQ(world.run_db({"requeue", id, "--input", "{\"ok\":true}"}).code, 0);
    world.run_db({"worker", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
}

TEST_F(CliSteer, export_moves_an_instance_to_a_file_and_import_brings_it_back) {
    const std::string id = start(kFrozen);
    const std::string file = world.path("moved.json");
    EXPECT_EQ(world.run_db({"export", id, "--output", file}).code, 0);
    EXPECT_EQ(status(id), "moved");
    const Outcome waited = world.run_db({"wait", id});
    EXPECT_EQ(waited.code, 4);
    EXPECT_THAT(waited.err, ::testing::HasSubstr("goes on elsewhere"));
    EXPECT_THAT(world.run_db({"show", id}).out, ::testing::HasSubstr("moved"));
    EXPECT_THAT(world.run_db({"why", id}).out, ::testing::HasSubstr("goes on elsewhere"));
    const Outcome resumed = world.run_db({"run", "--resume", id});
    EXPECT_EQ(resumed.code, 4) << resumed.err;
    EXPECT_THAT(resumed.err, ::testing::HasSubstr("goes on elsewhere"));
    EXPECT_EQ(world.run_db({"requeue", id, "--input", "{\"ok\":true}"}).code, 4);
    const Outcome again = world.run_db({"export", id});
    EXPECT_EQ(Json::parse(again.out)["workflowId"], id);
    const Outcome back = world.run_db({"import", file, "--json"});
    EXPECT_EQ(back.code, 0) << back.err;
    EXPECT_EQ(Json::parse(back.out)["is_new"], true);
    EXPECT_EQ(status(id), "dead_letter");
    world.input = again.out;
    EXPECT_EQ(Json::parse(world.run_db({"import", "-", "--json"}).out)["is_new"], false);
    EXPECT_EQ(world.run_db({"requeue", id, "--input", "{\"ok\":true}"}).code, 0);
    world.run_db({"worker", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
    EXPECT_EQ(world.run_db({"export", id}).code, 4);
    EXPECT_EQ(world.run_db({"import", world.path("none.json")}).code, 2);
}

}  // namespace
}  // namespace ebb::cli::testing
