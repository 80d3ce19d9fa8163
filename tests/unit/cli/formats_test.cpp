// What other programs read about the problems of files, and how files are found.

#include <filesystem>
#include <set>

#include "cli/problem_formats.h"
#include "cli/workflow_files.h"
#include "cli_world.h"
#include "workflows.h"

namespace ebb::cli::testing {
namespace {

constexpr std::string_view kWrong = R"(workflow: wrong
steps:
  - step: one
    timout: 5s
  - step: one
)";

TEST(ValidateFormats, json_has_ends_related_places_and_fixes) {
    CliWorld world;
    const std::string file = world.file("wrong.yaml", std::string(kWrong));
    const Json report = Json::parse(world.run({"validate", "-f", "json", file}).out);
    const Json& problems = report[0]["problems"];
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0]["severity"], "error");
    EXPECT_EQ(problems[0]["end_line"], 4);
    EXPECT_EQ(problems[0]["end_column"], 11);
    EXPECT_EQ(problems[0]["fixes"][0]["replacement"], "timeout");
    EXPECT_EQ(problems[0]["fixes"][0]["column"], 5);
    EXPECT_EQ(problems[1]["related"][0]["line"], 3);
    EXPECT_EQ(problems[1]["related"][0]["pointer"], "/steps/0/step");
}

TEST(ValidateFormats, github_gets_commands_that_no_text_can_leave) {
    CheckedFile file{.path = "./a,b:c.yaml"};
    file.problems.push_back(
        {.code = "unknown_key",
         .path = "/x",
         .message = "50% of\nthis::error::that",
         .line = 4,
         .column = 5,
         .end_line = 4,
         .end_column = 11}
    );
    EXPECT_EQ(
        to_github(std::vector{file}),
        "::error file=a%2Cb%3Ac.yaml,line=4,endLine=4,col=5,endColumn=10,title=unknown_key::50%25 "
        "of%0Athis::error::that\n"
    );
    file.problems.resize(12, file.problems.front());
    const std::string text = to_github(std::vector{file});
    std::size_t commands = 0;
    for (std::size_t at = 0; (at = text.find("::error file", at)) != std::string::npos; ++at) {
        ++commands;
    }
    EXPECT_EQ(commands, kGithubAnnotationsMax);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
}

TEST(ValidateFormats, gitlab_gets_fingerprints_that_differ) {
    CliWorld world;
    const std::string file = world.file("wrong.yaml", std::string(kWrong));
    const Outcome outcome = world.run({"validate", "-f", "gitlab", file});
    EXPECT_EQ(outcome.code, 2);
    std::set<std::string> fingerprints;
    for (const Json& problem : Json::parse(outcome.out)) {
        fingerprints.insert(problem["fingerprint"].get<std::string>());
        EXPECT_EQ(problem["severity"], "major");
        EXPECT_GE(problem["location"]["lines"]["begin"], 4);
    }
    EXPECT_EQ(fingerprints.size(), 2U);
}

/// What the schema of SARIF 2.1.0 says of the members that Ebb writes.
void expect_region(const Json& region) {
    EXPECT_GE(region["startLine"], 1);
    EXPECT_GE(region["startColumn"], 1);
    EXPECT_GE(region["endLine"], region["startLine"]);
    for (const auto& [key, value] : region.items()) {
        EXPECT_TRUE((
            std::set<std::string>{"startLine", "startColumn", "endLine", "endColumn"}.contains(key)
        )) << key;
    }
}

TEST(ValidateFormats, sarif_has_the_structure_of_2_1_0) {
    CliWorld world;
    const std::string file = world.file("wrong.yaml", std::string(kWrong));
    const Json report = Json::parse(world.run({"validate", "-f", "sarif", file}).out);
    EXPECT_EQ(report["version"], "2.1.0");
    ASSERT_EQ(report["runs"].size(), 1U);
    const Json& run = report["runs"][0];
    EXPECT_EQ(run["tool"]["driver"]["name"], "ebb");
    EXPECT_EQ(run["columnKind"], "unicodeCodePoints");
    const Json& rules = run["tool"]["driver"]["rules"];
    ASSERT_EQ(run["results"].size(), 2U);
    for (const Json& result : run["results"]) {
        EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
        EXPECT_EQ(result["level"], "error");
        EXPECT_TRUE(result["message"]["text"].is_string());
        const Json& physical = result["locations"][0]["physicalLocation"];
        EXPECT_TRUE(physical["artifactLocation"]["uri"].get<std::string>().ends_with("wrong.yaml"));
        expect_region(physical["region"]);
        EXPECT_EQ(result["partialFingerprints"]["ebb/v1"].get<std::string>().size(), 64U);
        if (result.contains("relatedLocations")) {
            expect_region(result["relatedLocations"][0]["physicalLocation"]["region"]);
            EXPECT_TRUE(result["relatedLocations"][0]["message"]["text"].is_string());
        }
        if (!result.contains("fixes")) continue;
        const Json& change = result["fixes"][0]["artifactChanges"][0];
        EXPECT_TRUE(change["artifactLocation"]["uri"].is_string());
        expect_region(change["replacements"][0]["deletedRegion"]);
        EXPECT_TRUE(change["replacements"][0]["insertedContent"]["text"].is_string());
    }
    EXPECT_EQ(
        Json::parse(
            world.run({"validate", "-f", "sarif", world.file("a.yaml", std::string(kHello))}).out
        )["runs"][0]["results"],
        Json::array()
    );
}

TEST(ValidateFormats, warnings_are_reported_on_request_and_change_nothing) {
    CliWorld world;
    const std::string file =
        world.file("wait.yaml", "workflow: a\nsteps:\n  - signal: s\n  - step: b\n");
    EXPECT_EQ(world.run({"validate", file}).err, "");
    const Outcome outcome = world.run({"validate", "--lint", file});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("warning: "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("unbounded_wait"), std::string::npos) << outcome.err;
    const std::string allowed = world.file(
        "wait.yaml", "# ebb: allow unbounded_wait\nworkflow: a\nsteps:\n  - signal: s\n"
    );
    EXPECT_EQ(world.run({"validate", "--lint", allowed}).err, "");
}

/// The folder in which commands run, while it lives.
class CurrentFolder {
 public:
    explicit CurrentFolder(const std::filesystem::path& folder)
        : before_(std::filesystem::current_path()) {
        std::filesystem::current_path(folder);
    }

    ~CurrentFolder() { std::filesystem::current_path(before_); }

    CurrentFolder(const CurrentFolder&) = delete;
    CurrentFolder& operator=(const CurrentFolder&) = delete;

 private:
    std::filesystem::path before_;
};

TEST(ValidateLints, know_shadowed_cases_and_delays_that_are_too_long) {
    CliWorld world;
    const std::string file = world.file("lint.yaml", R"(workflow: a
steps:
  - switch: s
    cases:
      - {when: input.a, do: [b]}
      - {when: input.a, do: [c]}
  - step: d
    max_attempts: 4
    step_timeout: 7s
  - step: e
    max_attempts: 4
    step_timeout: 8s
)");
    const CurrentFolder folder(std::filesystem::path(file).parent_path());
    const Json report = Json::parse(world.run({"validate", "--lint", "--json", file}).out);
    const Json& problems = report[0]["problems"];
    ASSERT_EQ(problems.size(), 2U) << problems;
    EXPECT_EQ(problems[0]["code"], "shadowed_case");
    EXPECT_EQ(problems[0]["related"][0]["line"], 5);
    EXPECT_EQ(problems[1]["code"], "retries_exceed_deadline");
    EXPECT_EQ(report[0]["valid"], true);
}

TEST(ValidateFiles, says_if_a_file_of_code_builds_no_workflow) {
    CliWorld world;
    const std::string file = world.file("half.cpp", "int main( { \"x");
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("half.cpp builds no workflow."), std::string::npos) << outcome.err;
    EXPECT_EQ(world.run({"validate", "--if-workflow", file}).err, "");
}

TEST(ValidateFiles, counts_problems_that_an_unknown_part_hides) {
    CliWorld world;
    const std::string file = world.file(
        "w.cpp",
        "auto d = WorkflowBuilder(\"w\")\n    .step(name).step(\"a\").step(\"a\").build();\n"
    );
    const Outcome outcome = world.run({"validate", file});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(
        outcome.err.find("w.cpp:2: 1 possible problem of w is not reported"), std::string::npos
    ) << outcome.err;
}

TEST(ValidateFiles, says_that_rules_in_code_are_not_read) {
    CliWorld world;
    const std::string rules =
        world.file("rules.cpp", "auto d = ebb::RulesBuilder(\"r\", 2).attribute(\"a\").build();\n");
    const Outcome outcome = world.run({"validate", rules});
    EXPECT_NE(outcome.err.find("rules.cpp: Ebb does not read rules"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.err.find("builds no workflow"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    const std::string mention =
        world.file("mention.cpp", "// RulesBuilder(\"r\")\nclass RulesBuilder { int x; };\n");
    EXPECT_NE(world.run({"validate", mention}).err.find("builds no workflow."), std::string::npos);
    EXPECT_NE(world.run({"diagram", rules}).err.find("does not read rules"), std::string::npos);
}

TEST(ValidateLints, name_handlers_that_no_code_of_the_folder_registers) {
    CliWorld world;
    const std::string file = world.file(
        "order.yaml",
        "workflow: a\nhandlers: {own: {exec: [jq, .], timeout: 5s}}\nsteps:\n  - own\n  - charge\n"
        "  - {step: r, handler: refnud}\n"
    );
    const CurrentFolder folder(std::filesystem::path(file).parent_path());
    const auto problems = [&] {
        return Json::parse(world.run({"validate", "--lint", "--json", "order.yaml"}).out)[0];
    };
    // Without code, any program may have the handlers.
    EXPECT_EQ(problems()["problems"].size(), 0U);
    world.file("code.cpp", "void f() { h.add(\"charge\", g); h.add(\"refund\", g); }\n");
    const Json report = problems();
    ASSERT_EQ(report["problems"].size(), 1U) << report;
    const Json& missing = report["problems"][0];
    EXPECT_EQ(missing["code"], "missing_handler");
    EXPECT_EQ(missing["severity"], "warning");
    EXPECT_EQ(missing["pointer"], "/steps/2/handler");
    EXPECT_EQ(missing["line"], 6);
    EXPECT_EQ(missing["column"], 24);
    EXPECT_EQ(missing["end_column"], 30);
    EXPECT_EQ(missing["fixes"][0]["replacement"], "refund");
    EXPECT_EQ(report["valid"], true);
    EXPECT_EQ(world.run({"validate", "order.yaml"}).err, "");
    // As in the language server: the file says what is code.
    world.file(".ebbrc.yaml", "handlers: [src/*.cpp]\n");
    EXPECT_EQ(problems()["problems"].size(), 0U);
}

TEST(ValidateFiles, finds_workflows_in_folders_by_patterns_and_lists) {
    CliWorld world;
    const std::string good = world.file("good.yaml", std::string(kHello));
    const std::string folder = std::filesystem::path(good).parent_path().string();
    world.file("ci.yml", "on: push\n");
    world.file("other.json", "{\"a\": 1}");
    world.file("types.yaml", "types:\n  fetch: {exec: [x]}\n");
    const auto files_of = [&](const std::vector<std::string>& args) {
        std::vector<std::string> all = {"validate", "--json"};
        all.insert(all.end(), args.begin(), args.end());
        std::vector<std::string> names;
        for (const Json& file : Json::parse(world.run(all).out)) {
            names.push_back(std::filesystem::path(file["file"].get<std::string>()).filename());
        }
        return names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(files_of({folder}), (Names{"good.yaml", "types.yaml"}));
    EXPECT_EQ(files_of({folder + "/g*.yaml"}), (Names{"good.yaml"}));
    EXPECT_EQ(files_of({folder + "/**/*.y?ml"}), (Names{"good.yaml", "types.yaml"}));
    world.input = good + "\n" + folder + "/ci.yml\n";
    EXPECT_EQ(files_of({"--if-workflow", "--files-from", "-"}), (Names{"good.yaml"}));
    EXPECT_EQ(world.run({"validate", folder + "/*.nothing"}).code, 2);
    EXPECT_EQ(world.run({"validate"}).code, 2);
}

TEST(ValidateFiles, match_patterns_as_shells_do) {
    EXPECT_TRUE(matches_glob("*.yaml", "a.yaml"));
    EXPECT_FALSE(matches_glob("*.yaml", "a/b.yaml"));
    EXPECT_TRUE(matches_glob("**/*.yaml", "b.yaml"));
    EXPECT_TRUE(matches_glob("**/*.yaml", "a/c/b.yaml"));
    EXPECT_TRUE(matches_glob("a/**/b/*.y?ml", "a/x/y/b/c.yaml"));
    EXPECT_FALSE(matches_glob("a/**/b/*.yaml", "a/x/y/c.yaml"));
    EXPECT_TRUE(matches_glob("a*b*c", "axxbyybc"));
    EXPECT_FALSE(matches_glob("a?c", "a/c"));
    const std::string many(2'000, 'a');
    EXPECT_FALSE(matches_glob("**/*a*a*a*a*b", many));
}

TEST(ValidateFiles, lists_are_lines_or_end_with_nul) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(split_file_list("a\r\nb\n\nc"), (Names{"a", "b", "c"}));
    EXPECT_EQ(split_file_list(std::string_view("a\nb\0c\0", 6)), (Names{"a\nb", "c"}));
}

TEST(DiagramOfInvalidFile, is_drawn_and_tells_the_problems) {
    CliWorld world;
    const Outcome outcome = world.run({"diagram", world.file("wrong.yaml", std::string(kWrong))});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.out.find("one"), std::string::npos);
    EXPECT_NE(outcome.err.find("timout"), std::string::npos);
}

}  // namespace
}  // namespace ebb::cli::testing
