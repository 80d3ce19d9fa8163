// What Ebb reports about a wrong definition: tests/unit/model/golden has one YAML file for each
// rule and beside it the expected text. EBB_APPROVE=1 in the environment of this test rewrites the
// expectations; the diff is the review.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include <ebb/yaml.h>

#include "ebb_test_dirs.h"

namespace ebb::test {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::vector<fs::path> golden_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(EBB_SOURCE_DIR "/tests/unit/model/golden")) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<Diagnostic> problems_of(const fs::path& path) {
    try {
        parse_definition_yaml(read_file(path), path.filename().string());
    } catch (const DefinitionError& error) {
        return error.diagnostics();
    }
    return {};
}

std::string to_text(const std::vector<Diagnostic>& problems) {
    std::string text;
    for (const Diagnostic& d : problems) {
        text += fmt::format(
            "{}:{}:{}: {} ({})\n    {}\n", d.file, d.line, d.column, d.path, d.code, d.message
        );
    }
    return text.empty() ? "valid\n" : text;
}

TEST(GoldenDiagnostics, are_what_is_expected) {
    const bool is_approving = std::getenv("EBB_APPROVE") != nullptr;
    const std::vector<fs::path> files = golden_files();
    EXPECT_GT(files.size(), 40u);
    for (const fs::path& file : files) {
        const std::string text = to_text(problems_of(file));
        const fs::path expected = fs::path(file).replace_extension(".txt");
        if (is_approving) std::ofstream(expected) << text;
        EXPECT_EQ(text, read_file(expected)) << file.filename();
    }
}

TEST(GoldenDiagnostics, each_file_shows_the_rule_that_it_is_named_after) {
    for (const fs::path& file : golden_files()) {
        const std::string name = file.stem().string();
        bool is_shown = false;
        for (const Diagnostic& d : problems_of(file)) is_shown |= name.starts_with(d.code);
        const bool is_variant = name == "duplicate_branch" || name == "empty_workflow";
        EXPECT_TRUE(is_shown || is_variant) << name;
    }
}

/// Codes whose files would be very large, or that no YAML text can cause. Their tests are
/// elsewhere.
const std::set<std::string> kTestedElsewhere = {
    "definition_too_large",
    "invalid_payload",
    "json_syntax",
    "nested_too_deeply",
    "text_too_long",
    "too_many_aliases",
    "too_many_branches",
    "too_many_edges",
    "too_many_handlers",
    "too_many_labels",
    "too_many_nodes",
    "too_many_pointers",
    "too_many_roles",
};

TEST(GoldenDiagnostics, cover_every_code_of_the_reference) {
    std::set<std::string> shown = kTestedElsewhere;
    for (const fs::path& file : golden_files()) {
        for (const Diagnostic& d : problems_of(file)) shown.insert(d.code);
    }
    std::set<std::string> documented;
    std::istringstream reference(read_file(EBB_SOURCE_DIR "/docs/reference/definition.md"));
    bool is_in_table = false;
    for (std::string line; std::getline(reference, line);) {
        if (line.starts_with("## ")) is_in_table = line == "## Diagnostics";
        if (!is_in_table || !line.starts_with("| `")) continue;
        documented.insert(line.substr(3, line.find('`', 3) - 3));
    }
    EXPECT_EQ(shown, documented);
}

}  // namespace
}  // namespace ebb::test
