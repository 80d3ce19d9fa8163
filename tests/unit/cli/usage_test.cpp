// The errors for wrong arguments and for commands without a database.

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/command_info.h"
#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(CliUsage, misspelled_commands_are_recognized) {
    CliWorld world;
    const Outcome wrong = world.run({"lst"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(
        wrong.err, "ebb: usage: There is no command \"lst\".\nhint: did you mean `ebb list`?\n"
    );
    EXPECT_EQ(wrong.out, "");
    EXPECT_EQ(
        world.run({"order.yaml"}).err,
        "ebb: usage: There is no command \"order.yaml\".\nhint: did you mean `ebb run "
        "order.yaml`?\n"
    );
    EXPECT_EQ(
        world.run({"banana"}).err,
        "ebb: usage: There is no command \"banana\".\nhint: `ebb --help` lists the commands\n"
    );
}

TEST(CliUsage, misspelled_options_are_recognized) {
    CliWorld world;
    const Outcome wrong = world.run({"run", "x.yaml", "--inptu", "1"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(
        wrong.err, "ebb: usage: `ebb run` has no option --inptu.\nhint: did you mean --input?\n"
    );
    EXPECT_EQ(
        world.run({"list", "--jsn"}).err,
        "ebb: usage: `ebb list` has no option --jsn.\nhint: did you mean --json?\n"
    );
    // The dashes, which all options share, make no two of them alike.
    EXPECT_EQ(
        world.run({"show", "@1", "--at", "9"}).err,
        "ebb: usage: `ebb show` has no option --at.\nhint: `ebb show --help` shows how it is "
        "used\n"
    );
    EXPECT_EQ(line_of(world.run({"list", "--filter", "x"}).err, 1), "hint: did you mean --where?");
    EXPECT_EQ(line_of(world.run({"list", "-limit", "9"}).err, 1), "hint: did you mean --limit?");
}

TEST(CliUsage, a_wrong_value_is_named_before_a_word_that_is_left_over) {
    CliWorld world;
    EXPECT_EQ(
        line_of(world.run({"decide", "@1", "approve", "confirm"}).err, 0),
        "ebb: usage: VERDICT: \"approve\" is not one of confirm, reject; did you mean "
        "\"confirm\"?"
    );
}

TEST(CliUsage, values_out_of_range_say_what_is_allowed) {
    CliWorld world;
    const auto err = [&](const std::vector<std::string>& args) {
        const Outcome outcome = world.run(args);
        EXPECT_EQ(outcome.code, 2);
        return line_of(outcome.err, 0);
    };
    EXPECT_EQ(
        err({"run", "x.yaml", "--timeout", "soon"}),
        "ebb: usage: --timeout: \"soon\" is not a valid duration; write 90s, 5m, 1h30m or 500ms."
    );
    EXPECT_EQ(
        err({"diagram", "x.yaml", "--format", "sgv"}),
        "ebb: usage: --format: \"sgv\" is not one of mermaid, plantuml, dot, svg, text; did you "
        "mean "
        "\"svg\"?"
    );
    EXPECT_EQ(err({"wait"}), "ebb: usage: INSTANCE is required.");
    EXPECT_EQ(
        err({"start", "x", "--priority", "101"}),
        "ebb: usage: --priority: \"101\" is not a number from -100 to 100."
    );
    EXPECT_EQ(
        err({"list", "--limit", "0"}),
        "ebb: usage: --limit: \"0\" is not a number from 1 to 100000."
    );
    EXPECT_EQ(
        err({"run", "x", "--threads", "many"}),
        "ebb: usage: --threads: \"many\" is not a number from 1 to 4096."
    );
    EXPECT_EQ(err({"wait", "abcd", "efgh"}), "ebb: usage: `ebb wait` does not expect \"efgh\".");
    EXPECT_EQ(err({}), "ebb: usage: A command is missing.");
}

TEST(CliUsage, values_that_would_mislead_are_refused) {
    CliWorld world;
    const std::string file = world.file("p.yaml", kSignal);
    const auto expect_refused = [&](std::vector<std::string> args, const std::string& why) {
        const Outcome outcome = world.run_db(std::move(args));
        EXPECT_EQ(outcome.code, 2) << why << outcome.err;
        EXPECT_THAT(outcome.err, ::testing::HasSubstr(why));
    };
    expect_refused({"worker", "--once", "--queues", ""}, "\"\" names no queue");
    expect_refused({"worker", "--once", "--queues", "bank,,x"}, "\"\" names no queue");
    expect_refused(
        {"worker", "--once", "--queues", "a b"},
        "\"a b\" is not a valid name of a queue: a name has 1"
    );
    expect_refused(
        {"worker", "--once", "--queues", "bank,7"}, "\"7\" is not a valid name of a queue"
    );
    expect_refused({"worker", "--once", "--lease", "99ms"}, "\"99ms\" is not within 100ms to ");
    expect_refused({"worker", "--once", "--lease", "25h"}, "\"25h\" is not within 100ms to ");
    expect_refused({"start", file, "--timeout", "1s"}, "--timeout requires --wait");
    EXPECT_EQ(world.run_db({"worker", "--once", "-q", "--lease", "100ms"}).code, 0);
    EXPECT_EQ(
        world.run_db({"worker", "--once", "-q", "--queues", "bank,x", "--queues", "c"}).code, 0
    );
    world.environment["EBB_DB"] = world.path("ebb.db");
    const Outcome empty = world.run({"list", "--db", ""});
    EXPECT_EQ(empty.code, 2);
    EXPECT_THAT(empty.err, ::testing::HasSubstr("--db: it is empty"));
    EXPECT_EQ(world.run({"list"}).code, 0);
}

TEST(CliUsage, every_command_has_help_and_help_is_not_an_error) {
    CliWorld world;
    const Outcome all = world.run({"--help"});
    EXPECT_EQ(all.code, 0);
    EXPECT_EQ(all.err, "");
    for (const CommandInfo& command : describe_commands()) {
        if (command.name.empty()) continue;
        EXPECT_NE(all.out.find("  " + command.name + " "), std::string::npos) << command.name;
        const Outcome help = world.run({command.name, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_EQ(help.out, world.run({"help", command.name}).out);
        for (const OptionInfo& option : command.options) {
            EXPECT_NE(help.out.find(option.names.front()), std::string::npos)
                << command.name << " " << option.names.front();
        }
    }
}

TEST(CliUsage, every_help_text_fits_80_columns) {
    CliWorld world;
    for (const CommandInfo& command : describe_commands()) {
        std::vector<std::string> args{"--help"};
        if (!command.name.empty()) args.insert(args.begin(), command.name);
        std::istringstream help(world.run(args).out);
        int lines = 0;
        for (std::string line; std::getline(help, line); ++lines) {
            EXPECT_LE(line.size(), 80U) << "ebb " << command.name << ": " << line;
        }
        EXPECT_GT(lines, 5) << command.name;
    }
}

TEST(CliUsage, help_says_what_kind_of_value_an_option_takes) {
    CliWorld world;
    const std::string list = world.run({"list", "--help"}).out;
    EXPECT_THAT(list, ::testing::HasSubstr("\n  --error TEXT  "));
    EXPECT_THAT(list, ::testing::HasSubstr("\n  -s,--status STATUS,...  "));
    const std::string decide = world.run({"decide", "--help"}).out;
    EXPECT_THAT(decide, ::testing::HasSubstr("\n  --comment TEXT  "));
    EXPECT_THAT(decide, ::testing::HasSubstr("\n  INSTANCE REQUIRED  "));
}

TEST(CliUsage, help_has_the_groups_in_the_order_of_use) {
    CliWorld world;
    const std::string help = world.run({"--help"}).out;
    std::size_t last = 0;
    for (const char* group : {"Run", "Inspect", "Control", "Workflows", "Other"}) {
        const std::size_t at = help.find(fmt::format("\n{}:\n", group));
        ASSERT_NE(at, std::string::npos) << group;
        EXPECT_GT(at, last) << group;
        last = at;
    }
}

TEST(CliUsage, version_is_a_command_and_an_option) {
    CliWorld world;
    const Outcome version = world.run({"version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_TRUE(version.out.starts_with("ebb 0."));
    EXPECT_EQ(world.run({"--version"}).out, version.out);
    EXPECT_EQ(world.run({"version", "--json"}).out.substr(0, 13), "{\"version\":\"0");
}

TEST(CliUsage, commands_that_need_a_database_say_so) {
    CliWorld world;
    const Outcome none = world.run({"list"});
    EXPECT_EQ(none.code, 2);
    EXPECT_EQ(
        none.err,
        "ebb: invalid_argument: `ebb list` needs a database: give --db PATH (SQLite) or --db "
        "postgresql://..., or "
        "set EBB_DB.\n"
    );
    const Outcome memory = world.run({"worker", "--db", "memory:"});
    EXPECT_EQ(memory.code, 2);
    EXPECT_NE(memory.err.find("memory: ends with each command"), std::string::npos);
    const Outcome missing = world.run({"show", "abcd", "--db", world.path("none.db")});
    EXPECT_EQ(missing.code, 5);
    EXPECT_NE(missing.err.find("There is no database"), std::string::npos);
    EXPECT_EQ(world.run({"list", "--db", "postgresql://h/d"}).code, 5);
}

TEST(CliUsage, another_word_for_a_value_is_recognized) {
    CliWorld world;
    EXPECT_EQ(
        line_of(world.run_db({"decide", "@1", "approve"}).err, 0),
        "ebb: usage: VERDICT: \"approve\" is not one of confirm, reject; did you mean \"confirm\"?"
    );
    EXPECT_THAT(
        world.run_db({"list", "--waiting", "people"}).err, HasSubstr("did you mean \"person\"?")
    );
    EXPECT_THAT(world.run_db({"decide", "@1", "maybe"}).err, Not(HasSubstr("did you mean")));
    EXPECT_THAT(
        world.run({"completion"}).err, HasSubstr("SHELL is required: one of bash, zsh, fish.")
    );
}

TEST(CliUsage, an_option_without_its_value_says_what_the_value_is) {
    CliWorld world;
    EXPECT_EQ(
        line_of(world.run({"cancel", "@1", "--by"}).err, 0), "ebb: usage: --by needs a value: NAME."
    );
}

TEST(CliUsage, help_for_a_misspelled_command_names_the_right_one) {
    CliWorld world;
    EXPECT_EQ(world.run({"help", "lst"}).err, world.run({"lst"}).err);
    EXPECT_EQ(world.run({"help", "list"}).out, world.run({"list", "--help"}).out);
    EXPECT_EQ(world.run({"help"}).out, world.run({"--help"}).out);
}

TEST(CliUsage, help_explains_instances_only_if_the_command_has_one) {
    CliWorld world;
    for (const char* command : {"show", "run", "list", "cancel"}) {
        EXPECT_THAT(world.run({command, "--help"}).out, HasSubstr("An INSTANCE is")) << command;
    }
    for (const char* command : {"init", "validate", "doctor", "queue"}) {
        EXPECT_THAT(world.run({command, "--help"}).out, Not(HasSubstr("An INSTANCE is")));
    }
    EXPECT_THAT(world.run({"--help"}).out, HasSubstr("An INSTANCE is"));
}

TEST(CliUsage, dev_refuses_a_file_that_does_not_exist) {
    CliWorld world;
    const Outcome outcome = world.run({"dev", world.path("none.yaml")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("none.yaml\" does not exist. `ebb init --yaml`"));
}

TEST(CliUsage, a_terminal_gets_errors_and_hints_broken_at_spaces) {
    CliWorld world;
    const auto widest = [&](const std::vector<std::string>& args) {
        std::istringstream lines(world.run_db(args).err);
        std::size_t most = 0;
        for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
        return most;
    };
    const std::vector<std::string> wrong_time{"list", "--since", "yesterdayy"};
    const std::string plain = world.run_db(wrong_time).err;
    EXPECT_GT(widest(wrong_time), 80U);
    world.is_terminal = true;
    world.columns = 80;
    world.environment["NO_COLOR"] = "1";
    EXPECT_LE(widest(wrong_time), 80U);
    std::string joined = world.run_db(wrong_time).err;
    std::replace(joined.begin(), joined.end() - 1, '\n', ' ');
    EXPECT_EQ(joined, plain);
    EXPECT_LE(widest({"decide", "@1", "confirm"}), 80U);
    const std::string file = world.file("w.yaml", "workflow: w\nsteps: [{step: a, tmeout: 1s}]\n");
    EXPECT_LE(widest({"run", file}), 80U + file.size());
}

TEST(CliUsage, a_watched_database_that_does_not_exist_is_an_error) {
    CliWorld world;
    const std::string none = world.path("none.db");
    for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
             {"top", "--once", "--db", none}, {"top", "--db", none}, {"list", "-f", "--db", none}
         }) {
        const Outcome outcome = world.run(args);
        EXPECT_EQ(outcome.code, 5) << args.front();
        EXPECT_THAT(outcome.err, HasSubstr("There is no database"));
    }
}

TEST(CliUsage, the_environment_names_the_database) {
    CliWorld world;
    world.environment["EBB_DB"] = world.path("env.db");
    const std::string file = world.file("hello.yaml", kHello);
    EXPECT_EQ(world.run({"start", file, "--input", "\"a\""}).code, 0);
    EXPECT_NE(world.run({"list"}).out.find("hello v1"), std::string::npos);
}

TEST(CliUsage, errors_are_json_if_json_is_requested) {
    CliWorld world;
    const Outcome outcome = world.run({"list", "--json"});
    EXPECT_EQ(outcome.out, "");
    const Json json = Json::parse(outcome.err);
    EXPECT_EQ(json["error"]["code"], "invalid_argument");
    EXPECT_EQ(Json::parse(world.run({"--json", "lst"}).err)["error"]["code"], "usage");
}

TEST(CliUsage, stops_quietly_when_its_reader_is_gone) {
    CliWorld world;
    world.is_closed = true;
    const Outcome outcome = world.run({"version"});
    EXPECT_EQ(outcome.code, 141);
    EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace ebb::cli::testing
