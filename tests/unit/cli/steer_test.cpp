// What operators and other people can do to an instance, and what is refused.

#include <filesystem>

#include <sys/stat.h>

#include "cli/payload_argument.h"
#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

class CliSteer : public ::testing::Test {
 protected:
    std::string start(std::string_view workflow) {
        std::string id = world.run_db({"start", world.file("w.yaml", workflow)}).out;
        id.pop_back();
        world.run_db({"worker", "--allow-exec", "--once", "-q"});
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

TEST_F(CliSteer, start_refuses_unknown_workflows) {
    start(kSignal);
    const Outcome unknown = world.run_db({"start", "nothing"});
    EXPECT_EQ(unknown.code, 3);
    EXPECT_NE(unknown.err.find("ebb: workflow_not_found: "), std::string::npos);
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
    EXPECT_EQ(normal(world, cancel.err), "Cancelled <id>; its status is now cancelled.\n");
    EXPECT_NE(world.run_db({"why", id}).out.find(" by ann (changed my mind)."), std::string::npos);
    const Outcome late = world.run_db({"abort", id});
    EXPECT_EQ(late.code, 4);
    EXPECT_NE(late.err.find("ebb: invalid_state: "), std::string::npos);
    const std::string other = start(kSignal);
    EXPECT_EQ(Json::parse(world.run_db({"abort", other, "--json"}).out)["status"], "aborted");
}

TEST_F(CliSteer, an_act_that_is_repeated_says_that_nothing_has_changed) {
    const std::string id = start(kSignal);
    const auto repeated = [&](const std::string& act, const std::string& target) {
        EXPECT_EQ(world.run_db({act, target}).code, 0);
        const Outcome again = world.run_db({act, target});
        EXPECT_EQ(again.code, 0);
        return normal(world, again.err);
    };
    const std::string nothing = "Nothing has changed: <id> was ";
    EXPECT_EQ(repeated("pause", id), nothing + "already paused; its status is now paused.\n");
    EXPECT_EQ(
        repeated("cancel", id), nothing + "already cancelled; its status is now cancelled.\n"
    );
    const std::string other = start(kSignal);
    EXPECT_EQ(repeated("abort", other), nothing + "already aborted; its status is now aborted.\n");
    start(kSignal);
    const std::vector<std::string> all{"pause", "--where", "status != \"completed\"", "--yes"};
    EXPECT_THAT(world.run_db(all).err, ::testing::HasSubstr("Paused 1 instance"));
    EXPECT_THAT(world.run_db(all).err, ::testing::HasSubstr("1 had nothing to do"));
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
    EXPECT_NE(alone.err.find("ebb: not_allowed: "), std::string::npos) << alone.err;
    EXPECT_NE(alone.err.find("--role"), std::string::npos);
    EXPECT_EQ(world.run_db({"decide", id, "maybe", "--role", "manager"}).code, 2);
    EXPECT_EQ(
        world.run_db({"decide", id, "confirm", "--role", "manager", "--node", "none"}).code, 4
    );
    const Outcome done =
        world.run_db({"decide", id, "confirm", "--role", "manager", "--comment", "fine"});
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(normal(world, done.err), "Confirmed <id>; its status is now running.\n");
    const Outcome again = world.run_db({"decide", id, "confirm", "--role", "manager"});
    EXPECT_EQ(again.code, 0);
    EXPECT_EQ(
        normal(world, again.err),
        "Nothing has changed: ann had already confirmed <id>; its status is now running.\n"
    );
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
    const std::string shown = normal(world, world.run_db({"show", id}).out);
    EXPECT_NE(shown.find("ann confirmed +<t> fine"), std::string::npos) << shown;
}

TEST_F(CliSteer, signal_carries_a_payload) {
    const std::string id = start(kSignal);
    world.input = "{\"to\":\"eve\"}";
    EXPECT_EQ(world.run_db({"signal", id, "delivered", "--payload", "-", "--by", "bob"}).code, 0);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    EXPECT_NE(world.run_db({"history", id}).out.find("bob"), std::string::npos);
    const Json json = Json::parse(world.run_db({"show", id, "--json"}).out);
    EXPECT_EQ(json["status"], "completed");
    EXPECT_EQ(json["output"]["to"], "eve");
    const Outcome bare = world.run_db({"signal", id, "delivered", "--payload", "B1"});
    EXPECT_EQ(bare.code, 2);
    EXPECT_NE(bare.err.find("The value of --payload is not valid JSON"), std::string::npos);
    EXPECT_NE(bare.err.find("--payload '\"B1\"'"), std::string::npos) << bare.err;
}

TEST_F(CliSteer, a_signal_that_does_not_conform_to_its_schema_is_refused) {
    const std::string id = start(
        "workflow: parcel\nsteps:\n"
        "  - signal: delivered\n    schema: {type: object, properties: {by: {type: string}}}\n"
    );
    const Outcome wrong = world.run_db({"signal", id, "delivered", "--payload", R"({"by": 7})"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("/by"), std::string::npos) << wrong.err;
    EXPECT_EQ(status(id), "running");
    EXPECT_EQ(world.run_db({"signal", id, "delivered", "--payload", R"({"by": "ann"})"}).code, 0);
}

TEST_F(CliSteer, a_signal_may_be_called_like_a_command) {
    const std::string id = start("workflow: parcel\nsteps:\n  - signal: list\n");
    const Outcome sent = world.run_db({"signal", id, "list", "--payload", "1"});
    EXPECT_EQ(sent.code, 0) << sent.err;
}

TEST_F(CliSteer, requeue_lets_a_dead_letter_try_again) {
    const std::string id = start(kFrozen);
    EXPECT_EQ(status(id), "dead_letter");
    const Outcome nothing = world.run_db({"requeue", id, "--skip-compensation"});
    EXPECT_EQ(nothing.code, 2);
    EXPECT_EQ(world.run_db({"requeue", id, "--input", "{\"ok\":true}"}).code, 0);
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
}

TEST_F(CliSteer, export_moves_an_instance_to_a_file_and_import_brings_it_back) {
    const std::string id = start(kFrozen);
    const std::string file = world.path("moved.json");
    EXPECT_EQ(world.run_db({"export", id, "--output", file}).code, 0);
    EXPECT_EQ(status(id), "moved");
    const Outcome waited = world.run_db({"wait", id});
    EXPECT_EQ(waited.code, 4);
    EXPECT_THAT(waited.err, ::testing::HasSubstr("continues elsewhere"));
    EXPECT_THAT(world.run_db({"show", id}).out, ::testing::HasSubstr("moved"));
    EXPECT_THAT(world.run_db({"why", id}).out, ::testing::HasSubstr("continues elsewhere"));
    const Outcome resumed = world.run_db({"run", "--allow-exec", "--resume", id});
    EXPECT_EQ(resumed.code, 4) << resumed.err;
    EXPECT_THAT(resumed.err, ::testing::HasSubstr("continues elsewhere"));
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
    world.run_db({"worker", "--allow-exec", "--once", "-q"});
    EXPECT_EQ(status(id), "completed");
    EXPECT_EQ(world.run_db({"export", id}).code, 4);
    EXPECT_EQ(world.run_db({"import", world.path("none.json")}).code, 2);
}

TEST_F(CliSteer, requeue_and_resume_say_that_there_was_nothing_to_do) {
    const std::string id = start(kSignal);
    const Outcome requeued = world.run_db({"requeue", id});
    EXPECT_EQ(requeued.code, 0);
    EXPECT_EQ(
        normal(world, requeued.err),
        "There is nothing to requeue: <id> was not dead-lettered; its status is now running.\n"
    );
    const Outcome resumed = world.run_db({"resume", id});
    EXPECT_EQ(resumed.code, 0);
    EXPECT_EQ(
        normal(world, resumed.err),
        "There is nothing to resume: <id> was not paused; its status is now running.\n"
    );
    world.run_db({"pause", id});
    EXPECT_EQ(
        normal(world, world.run_db({"resume", id}).err),
        "Resumed <id>; its status is now running.\n"
    );
    const std::string dead = start(kFrozen);
    EXPECT_EQ(
        normal(world, world.run_db({"requeue", dead}).err),
        "Requeued <id>; its status is now running.\n"
    );
}

TEST_F(CliSteer, by_is_the_system_user_if_the_environment_names_none) {
    const auto by_of = [&](const std::string& id) {
        const Outcome lines = world.run_db({"history", id, "--json"});
        return Json::parse(lines.out)[0]["payload"].dump() + lines.out;
    };
    EXPECT_THAT(by_of(start(kSignal)), ::testing::HasSubstr("ann"));
    world.user_name = "uid-7";
    world.environment.erase("USER");
    const std::string id = start(kSignal);
    world.run_db({"pause", id});
    EXPECT_THAT(by_of(id), ::testing::HasSubstr("\"by\":\"uid-7\""));
    EXPECT_FALSE(ebb::user_name().empty());
}

TEST_F(CliSteer, new_databases_and_exports_are_for_their_owner_only) {
    const mode_t mask = ::umask(0022);
    const std::string id = start(kFrozen);
    const std::string file = world.path("private.json");
    EXPECT_EQ(world.run_db({"export", id, "-o", file}).code, 0);
    ::umask(mask);
    namespace fs = std::filesystem;
    constexpr fs::perms kOwner = fs::perms::owner_read | fs::perms::owner_write;
    EXPECT_EQ(fs::status(file).permissions(), kOwner);
    EXPECT_EQ(fs::status(world.path("ebb.db")).permissions(), kOwner);
}

TEST_F(CliSteer, export_to_a_file_that_cannot_be_written_moves_nothing) {
    const std::string id = start(kFrozen);
    const Outcome refused = world.run_db({"export", id, "-o", world.path("none/x.json")});
    EXPECT_EQ(refused.code, 74);
    EXPECT_THAT(refused.err, ::testing::HasSubstr("none/x.json\" cannot be written"));
    EXPECT_EQ(status(id), "dead_letter");
}

TEST_F(CliSteer, export_that_is_refused_leaves_the_file_as_it_was) {
    const std::string id = start(kFrozen);
    world.run_db({"abort", id});
    const std::string kept = world.file("kept.json", "kept");
    EXPECT_EQ(world.run_db({"export", id, "-o", kept}).code, 4);
    EXPECT_EQ(read_file(kept, 100), "kept");
    EXPECT_EQ(world.run_db({"export", id, "-o", world.path("new.json")}).code, 4);
    EXPECT_FALSE(std::filesystem::exists(world.path("new.json")));
}

TEST_F(CliSteer, export_replaces_the_whole_file_even_a_longer_one) {
    const std::string id = start(kFrozen);
    const std::string file = world.file("old.json", std::string(100'000, 'x'));
    EXPECT_EQ(world.run_db({"export", id, "-o", file}).code, 0);
    EXPECT_EQ(Json::parse(read_file(file, 1'000'000))["workflowId"], id);
}

TEST_F(CliSteer, export_whose_disk_is_full_says_where_the_snapshot_is) {
    const std::string id = start(kFrozen);
    const Outcome full = world.run_db({"export", id, "-o", "/dev/full"});
    EXPECT_EQ(full.code, 74);
    EXPECT_THAT(full.err, ::testing::HasSubstr("/dev/full\" cannot be written: No space left"));
    EXPECT_THAT(full.err, ::testing::HasSubstr("The instance " + id + " is moved"));
    EXPECT_THAT(full.err, ::testing::HasSubstr("`ebb export " + id + " --db "));
    EXPECT_EQ(status(id), "moved");
    const Outcome json = world.run_db({"export", id, "-o", "/dev/full", "--json"});
    EXPECT_EQ(Json::parse(json.err)["error"]["code"], "output");
    EXPECT_EQ(Json::parse(world.run_db({"export", id}).out)["workflowId"], id);
    world.is_closed = true;
    const Outcome unread = world.run_db({"export", id});
    EXPECT_EQ(unread.code, 141);
    EXPECT_THAT(unread.err, ::testing::HasSubstr("The instance " + id + " is moved"));
}

constexpr std::string_view kRules = R"(
workflow: journey
rules:
  attributes:
    phase: {default: none, external: true}
    price: {type: integer, default: 0, external: true}
    note: {type: text, default: x, external: true}
    room: text
  triggers:
    reserve: {when: phase = 'received' and price > 0}
    remind: {when: phase = 'received' and price = 0, mode: once}
  final: {cancelled: phase = 'cancelled'}
)";

TEST_F(CliSteer, write_changes_attributes_by_their_types) {
    const std::string file = world.file("w.yaml", kRules);
    EXPECT_EQ(world.run_db({"start", file}).code, 4) << "nothing would be fired";
    world.run_db({"start", file, "-i", R"({"phase": "received"})"});
    const Outcome written = world.run_db({"write", "@1", "price=12", "note:=null"});
    EXPECT_EQ(written.code, 0) << written.err;
    EXPECT_NE(written.err.find("Wrote to"), std::string::npos);
    const Json shown = Json::parse(world.run_db({"show", "@1", "--json"}).out);
    EXPECT_EQ(
        shown["attributes"],
        Json::parse(R"({"phase": "received", "price": 12, "note": null, "room": null})")
    );
    const std::string why = world.run_db({"why", "@1"}).out;
    EXPECT_NE(why.find("Step \"reserve\" waits for a worker"), std::string::npos) << why;
    const Outcome again = world.run_db({"write", "@1", "price=12"});
    EXPECT_NE(again.err.find("Nothing to write"), std::string::npos) << again.err;
}

TEST_F(CliSteer, write_says_which_status_the_instance_has_now) {
    world.run_db(
        {"start",
         world.file(
             "x.yaml",
             "workflow: x\nrules:\n  attributes: {phase: {external: true}}\n  on_idle: wait\n"
             "  triggers: {pack: {when: phase = 'paid'}}\n  final: {done: phase = 'done'}\n"
         )}
    );
    const auto told = [&](const std::string& phase) {
        const Outcome outcome = world.run_db({"write", "@1", "phase=" + phase});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    EXPECT_NE(told("new").find("; its status is now waiting.\n"), std::string::npos);
    const std::string again = told("new");
    EXPECT_NE(again.find("Nothing to write"), std::string::npos) << again;
    EXPECT_NE(again.find("; its status is now waiting.\n"), std::string::npos) << again;
    EXPECT_NE(told("done").find("; its status is now completed.\n"), std::string::npos);
}

TEST_F(CliSteer, trace_prints_what_each_write_did) {
    const std::string file = world.file("w.yaml", kRules);
    world.run_db({"start", file, "-i", R"({"phase": "received"})"});
    world.run_db({"write", "@1", "price=12", "--by", "ada"});
    const std::string table = world.run_db({"trace", "@1"}).out;
    EXPECT_NE(table.find("outside by ada"), std::string::npos) << table;
    EXPECT_NE(table.find("price 0 -> 12"), std::string::npos) << table;
    EXPECT_NE(table.find("+reserve -remind"), std::string::npos) << table;
    EXPECT_NE(world.run_db({"show", "@1"}).out.find("outside by ada"), std::string::npos);
    const Json trace = Json::parse(world.run_db({"trace", "@1", "--json"}).out);
    ASSERT_EQ(trace.size(), 2U);
    EXPECT_EQ(trace[1]["changes"]["price"]["after"], 12);
    EXPECT_EQ(trace[1]["fired"], Json::array({"reserve"}));
    EXPECT_EQ(trace[1]["became_false"][0]["name"], "remind");
    const Json before = Json::parse(world.run_db({"trace", "@1", "--at", "2"}).out);
    EXPECT_EQ(before["price"], 0);
    EXPECT_EQ(Json::parse(world.run_db({"trace", "@1", "--after", "2", "--json"}).out).size(), 1U);
    const auto events = Json::parse(world.run_db({"history", "@1", "--json"}).out).size();
    EXPECT_EQ(world.run_db({"trace", "@1", "--at", std::to_string(events)}).code, 0);
    const Outcome late = world.run_db({"trace", "@1", "--at", std::to_string(events + 1)});
    EXPECT_EQ(late.code, 2);
    EXPECT_EQ(
        late.err,
        "ebb: invalid_argument: There is no event " + std::to_string(events + 1) +
            ": the events have the numbers 1 to " + std::to_string(events) + ".\n"
    );
}

TEST_F(CliSteer, write_says_what_is_wrong_and_changes_nothing) {
    const std::string file = world.file("w.yaml", kRules);
    world.run_db({"start", file, "-i", R"({"phase": "received"})"});
    const auto error_of = [&](std::vector<std::string> assignment) {
        std::vector<std::string> args{"write", "@1"};
        args.insert(args.end(), assignment.begin(), assignment.end());
        const Outcome outcome = world.run_db(args);
        EXPECT_NE(outcome.code, 0);
        return outcome.err;
    };
    EXPECT_NE(error_of({"price"}).find("NAME=VALUE"), std::string::npos);
    EXPECT_NE(error_of({}).find("NAME=VALUE"), std::string::npos);
    EXPECT_NE(
        error_of({"price=twelve"})
            .find("attribute \"price\" (integer) cannot be \"twelve\"; allowed is a whole number."),
        std::string::npos
    );
    EXPECT_NE(
        error_of({"note:=abc"})
            .find("\"note\" (text) needs a JSON value, and abc is not one. Write a text in quotes: "
                  "note:='\"abc\"'."),
        std::string::npos
    );
    EXPECT_NE(
        error_of({"note=a", "note=b"}).find("The attribute \"note\" has two values."),
        std::string::npos
    );
    EXPECT_NE(error_of({"prize=12"}).find("There is no attribute \"prize\""), std::string::npos);
    EXPECT_NE(error_of({"room=12"}).find("ebb: not_allowed: "), std::string::npos);
    EXPECT_EQ(world.run_db({"write", "@1", "room=12", "--repair"}).code, 0);
    EXPECT_EQ(world.run_db({"export", "@1"}).code, 4) << "an instance with rules stays here";
}

constexpr std::string_view kTrip = R"(
workflow: trip
handlers:
  book: {exec: [echo, '{"room": "12"}']}
  free: {exec: [echo, "null"]}
rules:
  evolution: follow
  on_idle: wait
  attributes:
    phase: {default: none, external: true}
    room: text
  triggers:
    book: {when: phase = 'paid' and room is null, writes: [room], compensate: free, mode: once}
)";

TEST_F(CliSteer, recover_takes_an_instance_back_and_its_dry_run_only_says_so) {
    const std::string file = world.file("trip.yaml", kTrip);
    world.run_db({"start", file, "-i", R"({"phase": "paid"})"});
    EXPECT_EQ(world.run_db({"worker", file, "--once", "-q"}).code, 0);
    const auto room = [&] {
        return Json::parse(world.run_db({"show", "@1", "--json"}).out)["attributes"]["room"];
    };
    ASSERT_EQ(room(), "12");
    const Outcome plan = world.run_db({"recover", "@1", "--to", "1", "--dry-run"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.out, ::testing::HasSubstr("Would undo book (event 3)"));
    EXPECT_THAT(plan.out, ::testing::HasSubstr("calling \"free\""));
    EXPECT_THAT(plan.out, ::testing::HasSubstr("fired are book"));
    const Json json =
        Json::parse(world.run_db({"recover", "@1", "--to", "1", "--dry-run", "--json"}).out);
    EXPECT_EQ(json["undone"][0]["restored"], Json::parse(R"({"room": null})"));
    EXPECT_EQ(json["attributes"]["room"], nullptr);
    EXPECT_EQ(room(), "12") << "nothing was done";
    EXPECT_NE(world.run_db({"recover", "@1", "--to", "3", "--dry-run"}).code, 0);
    EXPECT_EQ(world.run_db({"recover", "@1", "--to", "1", "--then", "stop"}).code, 0);
    EXPECT_EQ(world.run_db({"worker", file, "--once", "-q"}).code, 0);
    EXPECT_EQ(room(), nullptr);
    EXPECT_EQ(Json::parse(world.run_db({"show", "@1", "--json"}).out)["status"], "dead_letter");
}

TEST_F(CliSteer, rematch_lets_an_instance_follow_to_the_newest_version) {
    const std::string file = world.file("trip.yaml", kTrip);
    world.run_db({"start", file, "-i", R"({"phase": "paid"})"});
    EXPECT_EQ(world.run_db({"worker", file, "--once", "-q"}).code, 0);
    std::string later(kTrip);
    const auto replace = [&](std::string_view from, std::string_view to) {
        later.replace(later.find(from), from.size(), to);
    };
    replace("rules:", "version: 2\nrules:");
    replace("room: text", "door: {renamed_from: room}");
    replace("room is null", "door is null");
    replace("[room]", "[door]");
    // Registers it, and finds nothing to run.
    EXPECT_EQ(world.run_db({"worker", world.file("later.yaml", later), "--once", "-q"}).code, 0);
    EXPECT_THAT(world.run_db({"why", "@1"}).out, ::testing::HasSubstr("continues on version 2"));
    const Outcome first = world.run_db({"rematch", "@1"});
    EXPECT_THAT(first.err, ::testing::HasSubstr("Checked all conditions")) << first.err;
    const Json shown = Json::parse(world.run_db({"show", "@1", "--json"}).out);
    EXPECT_EQ(shown["version"], 2);
    EXPECT_EQ(shown["attributes"]["door"], "12");
    EXPECT_THAT(world.run_db({"rematch", "@1"}).err, ::testing::HasSubstr("Nothing new fires"));
    EXPECT_THAT(world.run_db({"trace", "@1"}).out, ::testing::HasSubstr("migrated"));
}

}  // namespace
}  // namespace ebb::cli::testing
