// `.ebbrc.yaml`: what it may say, and what is said of what it may not.

#include "source/workspace_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source/workflow_text.h"

namespace ebb::test {
namespace {

using namespace source;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(WorkspaceConfig, names_files_and_patterns) {
    const WorkspaceConfig config = read_workspace_config(
        "# our workflows\ntypes: [types/mail.yaml]\nhandlers:\n  - src/**/*.cpp\nexclude: [gen/]\n",
        ".ebbrc.yaml"
    );
    EXPECT_THAT(config.problems, IsEmpty());
    EXPECT_THAT(config.types, ElementsAre("types/mail.yaml"));
    EXPECT_THAT(config.handlers, ElementsAre("src/**/*.cpp"));
    EXPECT_THAT(config.exclude, ElementsAre("gen/"));
    EXPECT_THAT(read_workspace_config("", "f").problems, IsEmpty());
    EXPECT_THAT(read_workspace_config("# nothing yet\n", "f").problems, IsEmpty());
}

TEST(WorkspaceConfig, is_not_a_file_of_types) {
    EXPECT_EQ(kind_of("/shop/.ebbrc.yaml", "types: [a.yaml]\n"), TextKind::Other);
    EXPECT_EQ(kind_of("/shop/types.yaml", "types: {}\n"), TextKind::Types);
}

Diagnostic problem_of(const std::string& text) {
    const WorkspaceConfig config = read_workspace_config(text, ".ebbrc.yaml");
    EXPECT_TRUE(config.types.empty() && config.handlers.empty() && config.exclude.empty());
    EXPECT_EQ(config.problems.size(), 1U) << text;
    return config.problems.empty() ? Diagnostic{} : config.problems.front();
}

TEST(WorkspaceConfig, says_where_and_what_is_wrong) {
    Diagnostic problem = problem_of("exclude: [a]\ntype: [a.yaml]\n");
    EXPECT_EQ(problem.code, "unknown_key");
    EXPECT_EQ(problem.line, 2);
    EXPECT_THAT(problem.message, HasSubstr("types"));
    EXPECT_EQ(problem_of("types: a.yaml\n").code, "wrong_type");
    EXPECT_EQ(problem_of("types: [a.yaml, 5]\n").path, "/types/1");
    EXPECT_EQ(problem_of("exclude: [\"\"]\n").code, "wrong_type");
    EXPECT_EQ(problem_of("- a\n").code, "wrong_type");
    EXPECT_EQ(problem_of("types: [\n").code, "yaml_syntax");
    for (const char* path : {"../a.yaml", "/etc/a.yaml", "a/../../b.yaml", ".."}) {
        problem = problem_of("types: [\"" + std::string(path) + "\"]\n");
        EXPECT_EQ(problem.code, "invalid_path") << path;
        EXPECT_THAT(problem.message, HasSubstr("without \"..\""));
    }
    std::string many = "exclude:\n";
    for (std::size_t i = 0; i <= WorkspaceConfigLimits::kEntriesMax; ++i) many += "- a\n";
    EXPECT_EQ(problem_of(many).code, "limit_exceeded");
    EXPECT_EQ(problem_of("# " + std::string(70'000, 'x')).code, "limit_exceeded");
}

}  // namespace
}  // namespace ebb::test
