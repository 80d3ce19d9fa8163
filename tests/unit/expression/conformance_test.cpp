// Judges the language by the cases of the published CEL conformance suite, which stand as data in
// conformance_*.txt. What of the suite is left out, docs/reference/expressions.md says.

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ebb_test_dirs.h"
#include "unit/expression/test_variables.h"

namespace ebb {
namespace {

struct Case {
    int line = 0;
    std::string source;
    std::string type;
    std::string value;
    Json bindings = Json::object();
};

Case read_case(int line, std::string text) {
    Case result{.line = line};
    if (const auto at = text.rfind(" <== "); at != std::string::npos) {
        result.bindings = Json::parse(text.substr(at + 5));
        text.resize(at);
    }
    const auto at = text.rfind(" ==> ");
    if (at == std::string::npos) throw std::runtime_error("no ==> in line " + std::to_string(line));
    result.source = text.substr(0, at);
    const std::string expected = text.substr(at + 5);
    const auto blank = expected.find(' ');
    result.type = expected.substr(0, blank);
    if (blank != std::string::npos) result.value = expected.substr(blank + 1);
    return result;
}

std::vector<Case> read_cases(const std::string& file) {
    std::ifstream stream(std::string(EBB_SOURCE_DIR "/tests/unit/expression/") + file);
    std::vector<Case> cases;
    std::string text;
    for (int line = 1; std::getline(stream, text); ++line) {
        if (text.empty() || text.starts_with("# ")) continue;
        if (text.starts_with('[') && text.ends_with(']') &&
            text.find(" ==> ") == std::string::npos) {
            continue;
        }
        cases.push_back(read_case(line, text));
    }
    return cases;
}

/// The value with its CEL type, in the notation of the files.
std::string typed(const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            return "null";
        case Json::value_t::boolean:
            return "bool " + value.dump();
        case Json::value_t::number_integer:
            return "int " + value.dump();
        case Json::value_t::number_unsigned:
            return "uint " + value.dump();
        case Json::value_t::number_float:
            return "double " + value.dump();
        case Json::value_t::string:
            return "string " + value.dump();
        default:
            return "json " + value.dump();
    }
}

std::string expected(const Case& c) {
    if (c.type == "null" || c.type == "error") return c.type;
    if (c.type == "double") return typed(Json(std::strtod(c.value.c_str(), nullptr)));
    if (c.type == "string" || c.type == "json") return c.type + " " + Json::parse(c.value).dump();
    return c.type + " " + c.value;
}

std::string outcome(const Case& c) {
    const TestVariables variables(c.bindings);
    // JSON has no infinities, so these are looked at as text.
    const bool is_infinite = c.value.ends_with("Infinity");
    try {
        if (is_infinite)
            return "double " + evaluate("string(" + c.source + ")", variables).get<std::string>();
        return typed(evaluate(c.source, variables));
    } catch (const ExpressionError&) {
        return "error";
    }
}

class Conformance : public ::testing::TestWithParam<std::pair<std::string, std::size_t>> {};

TEST_P(Conformance, agrees_with_the_published_suite) {
    const auto& [file, at_least] = GetParam();
    const std::vector<Case> cases = read_cases(file);
    EXPECT_GE(cases.size(), at_least);
    for (const Case& c : cases) {
        const std::string wanted =
            c.value.ends_with("Infinity") ? c.type + " " + c.value : expected(c);
        EXPECT_EQ(outcome(c), wanted) << file << ":" << c.line << ": " << c.source;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Files,
    Conformance,
    ::testing::Values(
        std::pair<std::string, std::size_t>("conformance_basic.txt", 200),
        std::pair<std::string, std::size_t>("conformance_comparisons.txt", 200),
        std::pair<std::string, std::size_t>("conformance_numbers.txt", 150),
        std::pair<std::string, std::size_t>("conformance_strings.txt", 120),
        std::pair<std::string, std::size_t>("conformance_times.txt", 60)
    )
);

}  // namespace
}  // namespace ebb
