// `ebb validate`: every problem with its place, in the style of compilers.

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

TEST(CliValidate, a_valid_file_is_drawn) {
    CliWorld world;
    const Outcome outcome = world.run({"validate", world.file("saga.yaml", kSaga)});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(line_of(normal(world, outcome.out), 0), "✓ <dir>/saga.yaml: saga v1 is valid");
    EXPECT_NE(outcome.out.find("charge"), std::string::npos);
}

TEST(CliValidate, problems_have_a_place_the_line_and_a_caret) {
    CliWorld world;
    const std::string file = world.file("bad.yaml", R"(workflow: bad
steps:
  - step: a
    max_attempts: 0
  - step: a
)");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(file + ":4:"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("    4 |     max_attempts: 0\n"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("^"), std::string::npos);
    EXPECT_NE(outcome.err.find(file + ":5:"), std::string::npos);
    EXPECT_NE(outcome.err.find("2 problems\n"), std::string::npos) << outcome.err;
}

TEST(CliValidate, problems_of_handlers_have_places_too) {
    CliWorld world;
    const std::string file = world.file("bad.yaml", R"(workflow: bad
handlers:
  a:
    exec: [a]
    timeout: soon
steps: [a]
)");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(file + ":5:"), std::string::npos) << outcome.err;
}

TEST(CliValidate, the_caret_is_below_the_column) {
    CliWorld world;
    const std::string file =
        world.file("bad.yaml", "workflow: bad\nsteps:\n  - {step: ä, stepp: a}\n");
    const Outcome outcome = world.run({"validate", file});
    const Json json = Json::parse(world.run({"validate", file, "--json"}).out);
    const auto column = json[0]["problems"][0]["column"].get<std::size_t>();
    std::string caret;
    for (std::size_t n = 0; n < 10; ++n) {
        if (caret.empty() && line_of(outcome.err, n).ends_with("^"))
            caret = line_of(outcome.err, n);
    }
    EXPECT_EQ(caret.size(), std::string("      | ").size() + column) << outcome.err;
}

TEST(CliValidate, json_lists_the_files) {
    CliWorld world;
    const std::string good = world.file("good.yaml", kHello);
    const std::string bad = world.file("bad.yaml", "steps: [a]\n");
    const Outcome outcome = world.run({"validate", good, bad, "--json"});
    EXPECT_EQ(outcome.code, 2);
    const Json json = Json::parse(outcome.out);
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0]["valid"], true);
    EXPECT_EQ(json[0]["workflow"], "hello");
    EXPECT_EQ(json[0]["problems"], Json::array());
    EXPECT_EQ(json[1]["valid"], false);
    EXPECT_TRUE(json[1]["workflow"].is_null());
    for (const char* field : {"code", "pointer", "message", "line", "column"}) {
        EXPECT_TRUE(json[1]["problems"][0].contains(field)) << field;
    }
}

TEST(CliValidate, a_field_that_never_exists_has_its_place_and_what_was_meant) {
    CliWorld world;
    const std::string file = world.file("bad.yaml", R"(workflow: bad
steps:
  - step: a
    input: "${ workflow.inptu.id }"
  - step: b
    input: {ok: "${ steps.a.output.anything }", id: "${ instance.id }"}
)");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(
        outcome.err.find(
            file + ":4:25: error: workflow has no field \"inptu\"; it has input, name and version. "
                   "Did you mean \"input\"? (unknown_field)\n"
        ),
        std::string::npos
    ) << outcome.err;
}

TEST(CliValidate, goes_on_after_a_file_that_it_cannot_read) {
    CliWorld world;
    const std::string good = world.file("good.yaml", kHello);
    const std::string missing = world.path("missing.yaml");
    const std::string nothing = world.path("no*.yaml");
    const Outcome outcome = world.run({"validate", missing, nothing, good});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(line_of(normal(world, outcome.out), 0), "✓ <dir>/good.yaml: hello v1 is valid");
    const std::string err = normal(world, outcome.err);
    EXPECT_NE(
        err.find("<dir>/missing.yaml: error: The file \"<dir>/missing.yaml\" does not exist."),
        std::string::npos
    ) << err;
    EXPECT_NE(
        err.find("<dir>/no*.yaml: error: There is no YAML or JSON file that matches"),
        std::string::npos
    ) << err;
    EXPECT_NE(err.find("2 problems\n"), std::string::npos) << err;
    const Json json = Json::parse(world.run({"validate", missing, good, "--json"}).out);
    ASSERT_EQ(json.size(), 2U);
    EXPECT_EQ(json[0]["problems"][0]["code"], "invalid_argument");
    EXPECT_EQ(json[1]["valid"], true);
}

TEST(CliValidate, finds_definitions_in_a_folder_that_misspell_steps) {
    CliWorld world;
    const std::string file = world.file("bad.yaml", "workflow: bad\nstepss: [a]\n");
    world.file("other.json", R"({"workflow": "bad", "version": 1, "status": "running", "id": 1})");
    const Outcome outcome = world.run({"validate", world.path("")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("Did you mean \"steps\"?"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("other.json"), std::string::npos) << outcome.err;
}

TEST(CliValidate, reports_a_comment_in_json_once) {
    CliWorld world;
    for (const std::string comment : {"// why \"a\"", "/* why\n\"a\": */", "/* // */"}) {
        const std::string file = world.file(
            "a.json", "{\"workflow\": \"a\",\n " + comment + "\n \"steps\": [\"http://b\"]}\n"
        );
        const Json json = Json::parse(world.run({"validate", file, "--json"}).out);
        std::vector<std::string> found;
        for (const Json& problem : json[0]["problems"]) {
            found.push_back(problem["code"].get<std::string>() + problem["line"].dump());
        }
        // Slashes in a text do not begin a comment: the name of the step is judged.
        const auto line = 3 + std::count(comment.begin(), comment.end(), '\n');
        EXPECT_EQ(
            found, (std::vector<std::string>{"json_syntax2", fmt::format("invalid_name{}", line)})
        ) << comment;
    }
    const std::string unclosed = world.file("b.json", "{\"workflow\": \"a\", /*");
    EXPECT_EQ(world.run({"validate", unclosed}).code, 2);
}

TEST(CliValidate, refuses_json_that_only_yaml_allows) {
    CliWorld world;
    const std::string file = world.file("a.json", "{\"workflow\": \"a\",\n \"steps\": [\"b\",]}\n");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(
        outcome.err.find(
            file + ":2:15: error: This is not JSON: nothing follows this comma. Remove it. "
                   "(json_syntax)\n"
        ),
        std::string::npos
    ) << outcome.err;
    // Both faults of one text are found, each once.
    const std::string both =
        world.file("b.json", "{\"workflow\": \"a\",\n # why\n \"stepss\": [\"b\"]}\n");
    const Json json = Json::parse(world.run({"validate", both, "--json"}).out);
    ASSERT_EQ(json[0]["problems"].size(), 2U) << json;
    EXPECT_EQ(json[0]["problems"][0]["code"], "json_syntax");
    EXPECT_EQ(
        json[0]["problems"][0]["message"],
        "This is not JSON: syntax error while parsing object key - invalid literal; expected "
        "string literal. JSON has no comments."
    );
    EXPECT_EQ(json[0]["problems"][1]["code"], "unknown_key");
}

TEST(CliValidate, reads_stdin_and_survives_any_bytes) {
    CliWorld world;
    world.input = std::string(kHello);
    EXPECT_EQ(world.run({"validate", "-"}).code, 0);
    for (const std::string_view text :
         {"", "\xFF\xFE", "{", "- a\n\t- b", "a: &x [*x]", "\x1b[2J: 1"}) {
        world.input = text;
        const Outcome outcome = world.run({"validate", "-"});
        EXPECT_EQ(outcome.code, 2);
        EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
    }
}

}  // namespace
}  // namespace ebb::cli::testing
