// `ebb result`, `ebb rerun`, and the words that other tools use for commands.

#include <gmock/gmock.h>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;

class CliResult : public ::testing::Test {
 protected:
    std::string start(std::string_view workflow, std::vector<std::string> more = {}) {
        std::vector<std::string> args{"start", world.file("w.yaml", workflow)};
        args.insert(args.end(), more.begin(), more.end());
        std::string id = world.run_db(args).out;
        id.pop_back();
        return id;
    }

    void work() { world.run_db({"worker", "--allow-exec", "--once", "-q"}); }

    CliWorld world;
};

TEST_F(CliResult, is_the_output_and_nothing_else) {
    const std::string id = start(kHello, {"-i", "\"ann\""});
    work();
    const Outcome outcome = world.run_db({"result", id});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "\"Hello, ann!\"\n");
    EXPECT_EQ(outcome.err, "");
}

TEST_F(CliResult, keeps_all_digits_of_numbers_as_every_other_view_does) {
    constexpr const char* kDigits = "12345678901234567890.123456789";
    const std::string given = std::string("{\"n\":") + kDigits + ",\"half\":0.5}";
    const std::string id = start(
        "workflow: echo\nhandlers:\n  echo: {exec: cat}\nsteps:\n  - step: echo\n", {"-i", given}
    );
    work();
    EXPECT_EQ(world.run_db({"result", id}).out, given + "\n");
    const std::vector<std::vector<std::string>> commands{
        {"result", "-o", "yaml"}, {"show"}, {"show", "--json"}, {"history"}, {"history", "--json"}
    };
    for (std::vector<std::string> command : commands) {
        command.push_back(id);
        const std::string out = world.run_db(command).out;
        EXPECT_THAT(out, HasSubstr(kDigits)) << command.front() << " " << command[1];
        EXPECT_EQ(out.find("number-"), std::string::npos) << out;
    }
}

TEST_F(CliResult, of_a_failed_instance_is_an_error_that_says_why) {
    const std::string id = start(kSaga);
    work();
    const Outcome outcome = world.run_db({"result", id});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("ebb: failed: charge: exit_65: the card was declined ("));
    EXPECT_THAT(outcome.err, HasSubstr("hint: `ebb show "));
}

TEST_F(CliResult, of_a_live_instance_is_refused) {
    const std::string id = start(kSignal);
    const Outcome outcome = world.run_db({"result", id});
    EXPECT_EQ(outcome.code, 4);
    EXPECT_THAT(outcome.err, HasSubstr("ebb: invalid_state: "));
    EXPECT_THAT(outcome.err, HasSubstr("has no result yet: it is running.\n"));
    EXPECT_THAT(outcome.err, HasSubstr("hint: `ebb wait "));
}

TEST_F(CliResult, of_a_dead_letter_names_the_cause_and_how_to_continue) {
    const std::string id = start(std::string(kSaga) + "on_error: dead_letter\n");
    work();
    const Outcome outcome = world.run_db({"result", id});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("ebb: dead_letter: charge: exit_65: the card was declined"));
    EXPECT_THAT(outcome.err, HasSubstr("`ebb requeue "));
}

TEST_F(CliResult, rerun_starts_a_new_instance_with_the_same_input) {
    const std::string id = start(kHello, {"-i", "\"ann\"", "--key", "k"});
    work();
    std::string again = world.run_db({"rerun", id}).out;
    again.pop_back();
    EXPECT_NE(again, id);
    work();
    EXPECT_EQ(world.run_db({"result", again}).out, "\"Hello, ann!\"\n");
    EXPECT_THAT(world.run_db({"show", again}).out, HasSubstr("ebb.rerun_of=" + id));
    const std::vector<std::string> reruns{
        "list", "--where", "labels[\"ebb.rerun_of\"] == \"" + id + "\"", "--json"
    };
    EXPECT_EQ(Json::parse(world.run_db(reruns).out)[0]["id"], again);
    // The key stays with the old instance.
    const Json json = Json::parse(world.run_db({"show", "key:hello/k", "--json"}).out);
    EXPECT_EQ(json["id"], id);
}

TEST_F(CliResult, rerun_refuses_an_instance_that_has_not_ended) {
    const std::string id = start(kHello, {"-i", "\"ann\""});
    const auto refused = world.run_db({"rerun", id});
    EXPECT_NE(refused.code, 0);
    EXPECT_THAT(refused.err, HasSubstr("It is running. Only an instance that has ended is rerun."));
    EXPECT_EQ(Json::parse(world.run_db({"list", "--json"}).out).size(), 1u);
}

TEST_F(CliResult, rerun_takes_another_input_and_the_newest_version) {
    const std::string id = start(kHello, {"-i", "\"ann\""});
    work();
    std::string text(kHello);
    text.insert(text.find("handlers:"), "version: 2\n");
    start(text, {"-i", "\"x\""});
    const Outcome again = world.run_db({"rerun", id, "-i", "\"bob\"", "--json"});
    ASSERT_EQ(again.code, 0) << again.err;
    const Json newest = Json::parse(again.out);
    EXPECT_EQ(newest["version"], 2);
    EXPECT_EQ(newest["is_new"], true);
    const Json old = Json::parse(world.run_db({"rerun", id, "--version", "1", "--json"}).out);
    EXPECT_EQ(old["version"], 1);
    work();
    EXPECT_EQ(world.run_db({"result", newest["id"].get<std::string>()}).out, "\"Hello, bob!\"\n");
}

TEST_F(CliResult, words_of_other_tools_are_answered_with_the_command) {
    const std::pair<const char*, const char*> words[] = {
        {"logs", "history -f"},
        {"ps", "list"},
        {"ls", "list"},
        {"status", "show"},
        {"describe", "show"},
        {"retry", "requeue"},
        {"delete", "purge"},
        {"reset", "rerun"},
    };
    for (const auto& [word, verb] : words) {
        const Outcome outcome = world.run({word});
        EXPECT_EQ(outcome.code, 2) << word;
        EXPECT_THAT(outcome.err, HasSubstr("hint: did you mean `ebb " + std::string(verb) + "`?"));
    }
}

}  // namespace
}  // namespace ebb::cli::testing
