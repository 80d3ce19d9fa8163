// `ebb diff`: two files, or two versions of a store.

#include "cli/payload_argument.h"
#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kBefore = R"(workflow: order
version: 3
steps:
  - {step: reserve, compensate: release}
  - {step: charge, timeout: 5s}
  - notify
)";

constexpr std::string_view kAfter = R"(workflow: order
version: 4
steps:
  - {step: reserve, compensate: release}
  - pack
  - {step: charge, timeout: 9s}
)";

struct CliDiff : ::testing::Test {
    CliWorld world;
    std::string before = world.file("before.yaml", kBefore);
    std::string after = world.file("after.yaml", kAfter);
};

TEST_F(CliDiff, names_each_node_with_pointer_and_both_values) {
    const Outcome outcome = world.run({"diff", before, after});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    EXPECT_EQ(
        outcome.out,
        "order v3 → order v4: 1 added, 1 removed, 1 changed\n"
        "~ /version: 3 → 4\n"
        "+ pack  step added at /steps/1\n"
        "~ charge  step changed at /steps/2\n"
        "    /timeout: \"5s\" → \"9s\"\n"
        "− notify  step removed at /steps/2\n"
    );
}

TEST_F(CliDiff, the_same_content_has_exit_code_0) {
    const Outcome outcome = world.run({"diff", before, before});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.out, "order v3 order v3: no difference\n");
}

TEST_F(CliDiff, a_registered_version_is_drawn_by_its_name) {
    for (const std::string& file : {before, after}) {
        const Outcome started = world.run_db({"start", file});
        ASSERT_EQ(started.code, 0) << started.err;
    }
    const Outcome older = world.run_db({"diagram", "order@3", "-f", "text"});
    EXPECT_EQ(older.code, 0) << older.err;
    EXPECT_NE(older.out.find("notify"), std::string::npos) << older.out;
    EXPECT_EQ(older.out.find("pack"), std::string::npos) << older.out;
    EXPECT_EQ(world.run_db({"diagram", "order@5"}).code, 3);
}

TEST_F(CliDiff, a_picture_for_a_program_names_its_nodes) {
    const Outcome outcome = world.run({"diff", before, after, "--format", "svg", "--json"});
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    const auto picture = Json::parse(outcome.out)["diagram"].get<std::string>();
    for (const std::string node : {"pack", "charge", "notify"}) {
        EXPECT_NE(picture.find("data-node=\"" + node + "\""), std::string::npos) << node;
    }
    const Outcome shown = world.run({"diff", before, after, "--format", "svg"});
    EXPECT_EQ(shown.out.find("data-node"), std::string::npos);
}

TEST_F(CliDiff, json_has_the_values_as_json) {
    const Outcome outcome = world.run({"diff", before, after, "--json"});
    EXPECT_EQ(outcome.code, 1);
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json["equal"], false);
    EXPECT_EQ(json["needs_version"], false);
    EXPECT_EQ(json["before"]["version"], 3);
    EXPECT_EQ(json["workflow"][0]["pointer"], "/version");
    EXPECT_EQ(json["nodes"][1]["node"], "charge");
    EXPECT_EQ(json["nodes"][1]["pointer_before"], "/steps/1");
    EXPECT_EQ(json["nodes"][1]["pointer_after"], "/steps/2");
    EXPECT_EQ(
        json["nodes"][1]["fields"],
        Json::parse(R"([{"pointer": "/timeout", "before": "5s", "after": "9s"}])")
    );
}

TEST_F(CliDiff, draws_the_difference) {
    const std::string picture = world.path("diff.svg");
    EXPECT_EQ(world.run({"diff", before, after, "-o", picture}).code, 1);
    const std::string svg = read_file(picture, 1'000'000);
    EXPECT_NE(svg.find("class=\"added\""), std::string::npos) << svg;
    EXPECT_NE(svg.find("class=\"removed\""), std::string::npos);
    EXPECT_NE(svg.find(">changed: timeout</text>"), std::string::npos);
    EXPECT_NE(svg.find(">notify</text>"), std::string::npos) << "where it was";
    const Outcome refused = world.run({"diff", before, after, "-o", world.path("diff.png")});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("`ebb diff` does not write png files"), std::string::npos);
}

TEST_F(CliDiff, markdown_has_a_table_and_the_picture) {
    const Outcome outcome = world.run({"diff", before, after, "-f", "md"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(outcome.out.starts_with(
        "### `order v3` → `order v4`\n\n"
        "1 added, 1 removed, 1 changed\n\n"
        "| | node | kind | change | where and what |\n"
        "|---|---|---|---|---|\n"
        "| ~ | | workflow | changed | `/version`: `3` → `4` |\n"
        "| + | `pack` | step | added | at `/steps/1` |\n"
        "| ~ | `charge` | step | changed | at `/steps/2`<br>`/timeout`: `\"5s\"` → `\"9s\"` |\n"
        "| − | `notify` | step | removed | at `/steps/2` |\n\n"
        "<details><summary>Picture</summary>\n\n```mermaid\n"
    )) << outcome.out;
    EXPECT_TRUE(outcome.out.ends_with("```\n\n</details>\n"));
    const Outcome same = world.run({"diff", before, before, "-f", "md"});
    EXPECT_EQ(same.code, 0);
    EXPECT_EQ(same.out, "### `order v3`: no difference\n");
}

TEST_F(CliDiff, markdown_takes_hostile_texts_as_texts) {
    const std::string hostile = world.file(
        "hostile.yaml",
        "workflow: order\nversion: 3\nsteps:\n  - {step: reserve, compensate: release}\n"
        "  - {step: charge, timeout: 5s, description: \"a | `b` ``c <img src=x>\\n\\n# d\"}\n"
        "  - notify\n"
    );
    const Outcome outcome = world.run({"diff", before, hostile, "-f", "md"});
    EXPECT_EQ(outcome.code, 1);
    const std::size_t row = outcome.out.find("| `charge`");
    const std::string line = outcome.out.substr(row, outcome.out.find('\n', row) - row);
    EXPECT_NE(line.find("```\"a \\| `b` ``c <img src=x>"), std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("# d\"``` |")) << line;
    EXPECT_NE(outcome.out.find("**Both are version 3"), std::string::npos);
}

TEST_F(CliDiff, svg_goes_to_stdout) {
    const std::string picture = world.path("diff.svg");
    const Outcome outcome = world.run({"diff", before, after, "-f", "svg", "-o", picture});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, read_file(picture, 1'000'000));
}

TEST_F(CliDiff, a_change_without_a_new_version_is_said) {
    const std::string same =
        world.file("same.yaml", "workflow: order\nversion: 3\nsteps: [reserve]\n");
    const Outcome outcome = world.run({"diff", before, same});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("Both are version 3"), std::string::npos) << outcome.err;
    EXPECT_EQ(world.run({"diff", before, same, "--require-version"}).code, 4);
    EXPECT_EQ(world.run({"diff", before, after, "--require-version"}).code, 1);
}

TEST_F(CliDiff, versions_of_a_store_are_named_with_an_at) {
    for (const std::string& file : {before, after}) {
        ASSERT_EQ(world.run_db({"start", file}).code, 0);
    }
    const Outcome stored = world.run_db({"diff", "order@3", "order@4"});
    EXPECT_EQ(stored.code, 1) << stored.err;
    EXPECT_EQ(stored.out, world.run({"diff", before, after}).out);
    EXPECT_EQ(world.run_db({"diff", "order", after}).code, 0) << "the newest";
    EXPECT_EQ(world.run_db({"diff", "order@9", after}).code, 3);
    const Outcome bad = world.run_db({"diff", "order@new", after});
    EXPECT_EQ(bad.code, 2);
    EXPECT_NE(bad.err.find("\"new\" is not a version"), std::string::npos) << bad.err;
}

TEST_F(CliDiff, an_invalid_file_is_reported_with_its_problems) {
    const Outcome outcome =
        world.run({"diff", before, world.file("bad.yaml", "workflow: bad\nsteps: 7\n")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("bad.yaml:2:"), std::string::npos) << outcome.err;
    EXPECT_EQ(world.run({"diff", "-", "-"}).code, 2);
}

}  // namespace
}  // namespace ebb::cli::testing
