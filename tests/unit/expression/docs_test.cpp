// Runs every example of docs/reference/expressions.md: each line "expression  // => JSON" of a
// block
// ```cel, and each "// error: part of the message".

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/expression/functions.h"
#include "ebb_test_dirs.h"
#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

const std::string kFile = EBB_SOURCE_DIR "/docs/reference/expressions.md";

/// The variables that the page says its examples see.
TestVariables variables() {
    std::ifstream stream(kFile);
    std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const auto block = [&text](std::string_view heading) {
        const std::string fence = "```json " + std::string(heading) + "\n";
        const std::size_t begin = text.find(fence) + fence.size();
        return Json::parse(text.substr(begin, text.find("```", begin) - begin));
    };
    return TestVariables(block("variables"), block("steps"));
}

TEST(ExpressionDocs, examples_do_what_they_say) {
    const TestVariables known = variables();
    std::ifstream stream(kFile);
    std::string line;
    bool is_example = false;
    int examples = 0;
    for (int number = 1; std::getline(stream, line); ++number) {
        if (line.starts_with("```")) {
            is_example = line == "```cel";
            continue;
        }
        if (!is_example || line.empty()) continue;
        const auto result = line.find("// => ");
        const auto error = line.find("// error: ");
        ASSERT_TRUE(result != std::string::npos || error != std::string::npos)
            << kFile << ":" << number;
        ++examples;
        const std::string found = complaint(line, known);
        if (error != std::string::npos) {
            EXPECT_NE(found.find(line.substr(error + 10)), std::string::npos)
                << kFile << ":" << number << ": " << found;
        } else {
            EXPECT_EQ(found, "no error but " + Json::parse(line.substr(result + 6)).dump())
                << kFile << ":" << number;
        }
    }
    EXPECT_GE(examples, 100);
}

TEST(ExpressionDocs, show_every_function) {
    std::ifstream stream(kFile);
    const std::string text(
        (std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>()
    );
    for (const std::string_view name : expression::callable_names()) {
        EXPECT_NE(text.find(std::string(name) + "("), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace ebb
