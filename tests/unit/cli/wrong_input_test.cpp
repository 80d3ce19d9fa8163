// Input that cannot be meant so, and was accepted once.

#include <filesystem>

#include <gmock/gmock.h>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CliWrongInput, a_signal_that_no_node_waits_for_is_refused) {
    CliWorld world;
    std::string id = world.run_db({"start", world.file("w.yaml", kSignal)}).out;
    id.pop_back();
    const Outcome outcome = world.run_db({"signal", id, "deliverd"});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(
        outcome.err,
        HasSubstr("ebb: not_waiting: No node of parcel v1 waits for the signal \"deliverd\". Did "
                  "you mean "
                  "\"delivered\"?")
    );
    EXPECT_THAT(world.run_db({"signal", id, "xyz"}).err, HasSubstr("It waits for \"delivered\"."));
    EXPECT_EQ(world.run_db({"signal", id, "delivered"}).code, 0);
}

TEST(CliWrongInput, a_workflow_without_signals_says_so) {
    CliWorld world;
    std::string id = world.run_db({"start", world.file("w.yaml", kApproval)}).out;
    id.pop_back();
    EXPECT_THAT(
        world.run_db({"signal", id, "go"}).err, HasSubstr("This workflow waits for no signals.")
    );
}

TEST(CliWrongInput, start_with_a_known_key_says_that_the_input_differs) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kSignal);
    const std::vector<std::string> base{"start", file, "--key", "k", "-i"};
    const auto start = [&](const std::string& input, bool is_json = false) {
        std::vector<std::string> args = base;
        args.push_back(input);
        if (is_json) args.push_back("--json");
        return world.run_db(args);
    };
    start(R"({"a": 1, "b": 2})");
    EXPECT_THAT(start(R"({"b":2,"a":1})").err, Not(HasSubstr("another input")));
    EXPECT_EQ(Json::parse(start(R"({"b":2,"a":1})", true).out)["has_same_input"], true);
    EXPECT_THAT(
        start(R"({"a": 7})").err,
        HasSubstr("instance. It was started with another input, which it keeps.\n")
    );
    EXPECT_EQ(Json::parse(start(R"({"a": 7})", true).out)["has_same_input"], false);
}

TEST(CliWrongInput, a_picture_in_a_format_that_is_not_written_is_refused) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kHello);
    for (const char* name : {"y.png", "y.pdf", "y.jpg", "y.doc"}) {
        const Outcome outcome = world.run({"diagram", file, "-o", world.path(name)});
        EXPECT_EQ(outcome.code, 2) << name;
        EXPECT_FALSE(std::filesystem::exists(world.path(name))) << name;
    }
    EXPECT_THAT(
        world.run({"diagram", file, "-o", world.path("y.png")}).err, HasSubstr("rsvg-convert -o ")
    );
    EXPECT_THAT(  // the converter does not write JPEG
        world.run({"diagram", file, "-o", world.path("y.jpg")}).err,
        HasSubstr("rsvg-convert -o " + world.path("y.png"))
    );
    EXPECT_EQ(world.run({"diagram", file, "-o", world.path("y.txt")}).code, 0);
    EXPECT_EQ(world.run({"diagram", file, "-o", world.path("y")}).code, 0);
    EXPECT_EQ(world.run({"diagram", file, "-f", "svg", "-o", world.path("y.doc")}).code, 0);
}

TEST(CliWrongInput, a_queue_that_does_not_exist_is_refused) {
    CliWorld world;
    std::string text(kHello);
    text.insert(text.find("handlers:"), "defaults: {queue: narrow}\n");
    const std::string file = world.file("w.yaml", text);
    ASSERT_EQ(world.run_db({"start", file, "-i", "\"a\""}).code, 0);
    ASSERT_EQ(world.run_db({"worker", file, "--once", "-q"}).code, 0);
    const Outcome outcome = world.run_db({"queue", "show", "narow"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("There is no queue \"narow\""));
    EXPECT_EQ(world.run_db({"queue", "clear", "narow"}).code, 2);
    // Empty now, but a step uses it.
    EXPECT_EQ(world.run_db({"queue", "show", "narrow"}).code, 0);
    EXPECT_EQ(world.run_db({"queue", "show", "default"}).code, 0);
    // Limits may be set before anything uses it.
    ASSERT_EQ(world.run_db({"queue", "set", "later", "--concurrency", "2"}).code, 0);
    EXPECT_EQ(world.run_db({"queue", "show", "later"}).code, 0);
    EXPECT_THAT(world.run_db({"queue", "show", "latr"}).err, HasSubstr("Did you mean \"later\"?"));
}

TEST(CliWrongInput, retention_of_a_workflow_that_does_not_exist_is_not_cleared) {
    CliWorld world;
    ASSERT_EQ(world.run_db({"start", world.file("w.yaml", kSignal)}).code, 0);
    const Outcome outcome = world.run_db({"retention", "clear", "parcle"});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(
        outcome.err, HasSubstr("There is no workflow \"parcle\", and no retention rule for it.")
    );
    EXPECT_EQ(world.run_db({"retention", "clear", "parcel"}).code, 0);
    EXPECT_EQ(world.run_db({"retention", "clear", "*"}).code, 0);
}

TEST(CliWrongInput, a_misspelled_workflow_is_recognized) {
    CliWorld world;
    ASSERT_EQ(world.run_db({"start", world.file("w.yaml", kSignal), "--key", "k"}).code, 0);
    const auto hint = [&](const std::vector<std::string>& args) {
        const Outcome outcome = world.run_db(args);
        EXPECT_EQ(outcome.code, 3) << args.front();
        return line_of(outcome.err, 1);
    };
    const std::string meant = "hint: did you mean \"parcel\"?";
    EXPECT_EQ(hint({"start", "Parcel"}), meant);
    EXPECT_EQ(hint({"list", "-w", "parcle"}), meant);
    EXPECT_EQ(hint({"show", "key:parcle/k"}), meant);
    EXPECT_EQ(hint({"diagram", "parcle"}), meant);
    const std::string newest = "hint: the newest version of \"parcel\" is 1";
    EXPECT_EQ(hint({"start", "parcel", "--version", "7"}), newest);
    EXPECT_EQ(hint({"diff", "parcel@1", "parcel@2"}), newest);
    EXPECT_THAT(hint({"start", "letter"}), HasSubstr("`ebb workflows` lists"));
    EXPECT_THAT(world.run_db({"show", "key:parcel/nope"}).err, HasSubstr("with the key \"nope\""));
}

TEST(CliWrongInput, the_name_and_the_version_of_a_workflow_may_be_one_word) {
    CliWorld world;
    ASSERT_EQ(world.run_db({"start", world.file("w.yaml", kSignal)}).code, 0);
    EXPECT_EQ(world.run_db({"start", "parcel@1"}).code, 0);
    EXPECT_EQ(world.run_db({"start", "parcel@1", "--version", "1"}).code, 0);
    EXPECT_EQ(world.run_db({"start", "parcel@2"}).code, 3);
    const Outcome outcome = world.run_db({"start", "parcel@1", "--version", "2"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("parcel@1 is version 1, not 2"));
    EXPECT_THAT(world.run_db({"start", "parcel@new"}).err, HasSubstr("\"new\" is not a version."));
    EXPECT_EQ(world.run_db({"diagram", "parcel"}).out, world.run_db({"diagram", "parcel@1"}).out);
}

TEST(CliWrongInput, a_file_that_cannot_be_started_makes_no_database) {
    CliWorld world;
    const std::string file = world.file("w.yaml", "workflow: w\nsteps: []\n");
    EXPECT_EQ(world.run_db({"start", file}).code, 2);
    const std::string good = world.file("good.yaml", kSignal);
    EXPECT_EQ(world.run_db({"start", good, "--label", "a"}).code, 2);
    const Outcome list = world.run_db({"list"});
    EXPECT_EQ(list.code, 5);
    EXPECT_THAT(list.err, HasSubstr("There is no database"));
}

TEST(CliWrongInput, a_label_that_is_given_twice_is_refused) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kSignal);
    const Outcome outcome = world.run_db({"start", file, "-l", "a=x", "-l", "b=x", "-l", "a=y"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--label: \"a\" is given twice; a label has one value."));
}

TEST(CliWrongInput, a_file_that_is_not_a_snapshot_is_named) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kSignal);
    ASSERT_EQ(world.run_db({"start", file}).code, 0);
    const Outcome outcome = world.run_db({"import", file});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(
        outcome.err, HasSubstr(file + " cannot be imported: The snapshot is not valid JSON")
    );
}

TEST(CliWrongInput, ended_instances_are_run_again_and_others_are_explained) {
    CliWorld world;
    ASSERT_EQ(world.run_db({"start", world.file("w.yaml", kSignal)}).code, 0);
    EXPECT_THAT(
        world.run_db({"signal", "@1", "xyz"}).err,
        HasSubstr("hint: `ebb why ID` explains the state of the instance\n")
    );
    EXPECT_THAT(world.run_db({"trace", "@1"}).err, Not(HasSubstr("hint:")));
    ASSERT_EQ(world.run_db({"cancel", "@1"}).code, 0);
    EXPECT_THAT(
        world.run_db({"resume", "@1"}).err,
        HasSubstr("hint: `ebb rerun ID` starts its work again, as a new instance\n")
    );
}

TEST(CliWrongInput, a_database_in_a_folder_that_does_not_exist_names_the_folder) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kSignal);
    for (const std::vector<std::string>& args :
         {std::vector<std::string>{"list"}, std::vector<std::string>{"start", file}}) {
        std::vector<std::string> words = args;
        words.insert(words.end(), {"--db", world.path("nodir/x.db")});
        const Outcome outcome = world.run(words);
        EXPECT_EQ(outcome.code, 5);
        EXPECT_THAT(normal(world, outcome.err), HasSubstr("the folder \"<dir>/nodir\" does not"));
    }
}

TEST(CliWrongInput, a_command_without_a_server_says_that_it_does_not_use_it) {
    CliWorld world;
    const std::string file = world.file("w.yaml", kHello);
    world.environment["EBB_SERVER"] = "http://127.0.0.1:1";
    const Outcome memory = world.run({"run", file, "-i", "\"ann\""});
    EXPECT_EQ(memory.code, 0) << memory.err;
    EXPECT_THAT(
        memory.err,
        HasSubstr(
            "EBB_SERVER names a server, but `ebb run` does not use one: it works in memory here.\n"
        )
    );
    world.environment["EBB_DB"] = world.path("ebb.db");
    const Outcome doctor = world.run({"doctor"});
    EXPECT_THAT(normal(world, doctor.err), HasSubstr("it works on <dir>/ebb.db (EBB_DB).\n"));
    world.environment.erase("EBB_DB");
    for (const char* command : {"doctor", "retention", "token"}) {
        const Outcome refused = world.run({command});
        EXPECT_EQ(refused.code, 2) << command;
        EXPECT_THAT(refused.err, HasSubstr("give the --db of the server, or set EBB_DB"))
            << command;
        EXPECT_THAT(refused.err, Not(HasSubstr("memory"))) << command;
    }
    EXPECT_THAT(world.run({"login-link"}).err, HasSubstr("give its --db, or set EBB_DB"));
    world.environment["EBB_DB"] = world.path("ebb.db");
    // --db is what was asked for.
    EXPECT_THAT(world.run_db({"doctor"}).err, Not(HasSubstr("EBB_SERVER")));
}

TEST(CliWrongInput, an_option_with_one_value_names_it) {
    CliWorld world;
    EXPECT_THAT(
        world.run({"run", world.file("w.yaml", kHello), "--stub", "nope=1"}).err,
        HasSubstr("ebb: usage: --stub: \"nope=1\" is not allowed; write echo.\n")
    );
}

TEST(CliWrongInput, validate_reports_problems_of_handlers_beside_others) {
    CliWorld world;
    const std::string file = world.file("w.yaml", R"(workflow: w
verson: 2
handlers:
  a: {exek: [cat]}
steps:
  - {step: a, timout: 5s}
)");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 2);
    const std::size_t first = outcome.err.find("w.yaml:2:1: error:");
    const std::size_t second = outcome.err.find("w.yaml:4:");
    const std::size_t third = outcome.err.find("w.yaml:6:");
    EXPECT_LT(first, second) << outcome.err;
    EXPECT_LT(second, third) << outcome.err;
    EXPECT_NE(third, std::string::npos) << outcome.err;
}

TEST(CliWrongInput, validate_of_broken_yaml_says_where) {
    CliWorld world;
    const Outcome outcome = world.run({"validate", world.file("w.yaml", "workflow: [\n")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("w.yaml:"));
}

}  // namespace
}  // namespace ebb::cli::testing
