// Goal: every picture of every sample stays as it was approved. Method: compare with
// tests/golden/diagrams/; run with EBB_APPROVE=1 to rewrite the files, then review the difference.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "ebb_test_dirs.h"
#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(EBB_SOURCE_DIR) / "tests/golden/diagrams";

bool approves() {
    const char* value = std::getenv("EBB_APPROVE");
    return value != nullptr && std::string(value) == "1";
}

std::string read(const std::filesystem::path& path) {
    const std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void check(const std::string& name, const std::string& text) {
    const std::filesystem::path path = kFolder / name;
    if (approves()) std::ofstream(path, std::ios::binary) << text;
    ASSERT_TRUE(std::filesystem::exists(path)) << path << ": approve it with EBB_APPROVE=1";
    EXPECT_EQ(read(path), text) << path << " differs; if it should, run with EBB_APPROVE=1";
}

TEST(DiagramGolden, pictures_are_as_approved) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        check(sample.name + ".svg", to_svg(sample.definition, sample.options));
        check(sample.name + ".mmd", to_mermaid(sample.definition, sample.options));
        check(sample.name + ".dot", to_dot(sample.definition, sample.options));
        check(sample.name + ".txt", to_text(sample.definition, sample.options));
    }
}

TEST(DiagramGolden, plain_and_colored_terminals_are_as_approved) {
    for (const Sample& sample : samples()) {
        if (sample.name != "order_running" && sample.name != "nasty") continue;
        SCOPED_TRACE(sample.name);
        const TextStyle ascii{TextStyle::Charset::Ascii, TextStyle::Colors::None};
        const TextStyle ansi{TextStyle::Charset::Unicode, TextStyle::Colors::Ansi};
        check(sample.name + ".ascii.txt", to_text(sample.definition, sample.options, ascii));
        check(sample.name + ".ansi.txt", to_text(sample.definition, sample.options, ansi));
    }
}

TEST(DiagramGolden, no_golden_is_left_without_a_sample) {
    std::set<std::string> names;
    for (const Sample& sample : samples()) names.insert(sample.name);
    for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
        const std::string file = entry.path().filename().string();
        EXPECT_TRUE(names.contains(file.substr(0, file.find('.')))) << file;
    }
}

TEST(DiagramGolden, drawing_twice_gives_the_same_bytes) {
    for (const Sample& sample : samples()) {
        const Definition copy = sample.definition;
        EXPECT_EQ(to_svg(sample.definition, sample.options), to_svg(copy, sample.options));
        EXPECT_EQ(to_dot(sample.definition, sample.options), to_dot(copy, sample.options));
    }
}

}  // namespace
}  // namespace ebb::diagram_test
