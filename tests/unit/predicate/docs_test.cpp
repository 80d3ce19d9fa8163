// Runs every example of docs/reference/conditions.md: each line "condition  -- => value" of a block
// ```sql, and each "-- error: part of the message".

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/json.h>

#include "core/predicate/predicate.h"
#include "core/rules/values.h"
#include "ebb_test_dirs.h"

namespace ebb {
namespace {

const std::string kFile = EBB_SOURCE_DIR "/docs/reference/conditions.md";

std::string page() {
    std::ifstream stream(kFile);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct Attributes {
    std::vector<predicate::Column> columns;
    predicate::Row row;
};

Attributes attributes(const std::string& text) {
    const std::string fence = "```json attributes\n";
    const std::size_t begin = text.find(fence) + fence.size();
    const auto json =
        nlohmann::ordered_json::parse(text.substr(begin, text.find("```", begin) - begin));
    Attributes made;
    for (const auto& [name, pair] : json.items()) {
        const auto type = predicate::parse_type(pair.at(0).get<std::string>());
        EXPECT_TRUE(type.has_value()) << name;
        made.columns.push_back({name, *type});
        if (pair.at(1).is_null()) {
            made.row.emplace_back();
        } else {
            std::string value = pair.at(1).get<std::string>();
            // An instance has a document as a write has stored it.
            if (*type == predicate::Type::Json) {
                value = rules::coerce(AttributeType::Document, Json::parse(value)).json;
            }
            made.row.push_back(parse_datum(*type, value).datum);
        }
    }
    return made;
}

std::string outcome(const std::string& condition, const Attributes& seen) {
    try {
        const auto value = Predicate::compile(condition, seen.columns).evaluate(seen.row);
        if (!value) return "unknown";
        return *value ? "true" : "false";
    } catch (const PredicateError& error) {
        return error.what();
    }
}

TEST(ConditionDocs, examples_do_what_they_say) {
    const std::string text = page();
    const Attributes seen = attributes(text);
    std::istringstream lines(text);
    std::string line;
    bool is_example = false;
    int examples = 0;
    for (int number = 1; std::getline(lines, line); ++number) {
        if (line.starts_with("```")) {
            is_example = line == "```sql";
            continue;
        }
        if (!is_example || line.empty()) continue;
        const std::size_t result = line.find("-- => ");
        const std::size_t error = line.find("-- error: ");
        const std::size_t end = std::min(result, error);
        ASSERT_NE(end, std::string::npos) << kFile << ":" << number;
        ++examples;
        const std::string found = outcome(line.substr(0, end), seen);
        if (error != std::string::npos) {
            EXPECT_NE(found.find(line.substr(error + 10)), std::string::npos)
                << kFile << ":" << number << ": " << found;
        } else {
            EXPECT_EQ(found, line.substr(result + 6)) << kFile << ":" << number;
        }
    }
    EXPECT_GE(examples, 30);
}

}  // namespace
}  // namespace ebb
