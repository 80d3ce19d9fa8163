// Goal: labels of a definition are read, written and checked, with the place of each problem.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/definition.h>

#include "core/model/label_values.h"

namespace ebb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kText = R"({
    "workflow": "order",
    "labels": {
        "customer": {"type": "text", "value": "${ workflow.input.customer }"},
        "total": {"type": "number", "value": 5}
    },
    "steps": [{"step": "pay"}]
})";

TEST(DefinitionLabels, are_read_written_and_built) {
    const Definition read = parse_definition_json(kText);
    ASSERT_EQ(read.labels.size(), 2);
    EXPECT_EQ(read.labels.at("total").type, LabelType::Number);
    EXPECT_EQ(definition_from_json(definition_to_json(read)), read);
    const Definition built =
        WorkflowBuilder("order")
            .label("customer", LabelType::Text, R"("${ workflow.input.customer }")")
            .label("total", LabelType::Number, "5")
            .step("pay")
            .build();
    EXPECT_EQ(built, read);
    EXPECT_NE(
        definition_checksum(parse_definition_json(R"({
        "workflow": "order", "steps": [{"step": "pay"}]
    })")),
        definition_checksum(read)
    );
}

/// `code path` of each problem.
std::vector<std::string> problems(const std::string& labels) {
    try {
        parse_definition_json(
            R"({"workflow": "order", "steps": [{"step": "pay"}], "labels": )" + labels + "}"
        );
    } catch (const DefinitionError& error) {
        std::vector<std::string> found;
        for (const Diagnostic& each : error.diagnostics()) {
            found.push_back(each.code + " " + each.path);
        }
        return found;
    }
    return {};
}

TEST(DefinitionLabels, are_checked) {
    EXPECT_THAT(problems("[]"), ElementsAre("wrong_type /labels"));
    EXPECT_THAT(problems(R"({"a": "x"})"), ElementsAre("wrong_type /labels/a"));
    EXPECT_THAT(problems(R"({"a": {}})"), ElementsAre("missing_key /labels/a/value"));
    EXPECT_THAT(
        problems(R"({"a": {"type": "uuid", "value": "x"}})"),
        ElementsAre("invalid_value /labels/a/type")
    );
    EXPECT_THAT(problems(R"({"a b": {"value": "x"}})"), ElementsAre("invalid_name /labels/a b"));
    EXPECT_THAT(
        problems(R"({"a": {"type": "number", "value": "x"}})"),
        ElementsAre("invalid_label /labels/a/value")
    );
    EXPECT_THAT(
        problems(R"({"a": {"value": "${ steps.pay.output }"}})"),
        ElementsAre("unknown_variable /labels/a/value")
    );
    EXPECT_THAT(
        problems(R"({"a": {"value": "${ outptu }"}})"),
        ElementsAre("unknown_variable /labels/a/value")
    );
    EXPECT_THAT(
        problems(R"({"a": {"value": "${ 1 + }"}})"),
        ElementsAre("invalid_expression /labels/a/value")
    );
}

TEST(DefinitionLabels, are_at_most_64) {
    std::string labels = "{";
    for (std::size_t i = 0; i < LabelLimits::kLabelsMax; ++i) {
        labels += "\"l" + std::to_string(i) + "\": {\"value\": \"x\"},";
    }
    std::string most = labels;
    most.back() = '}';
    EXPECT_THAT(problems(most), IsEmpty());
    EXPECT_THAT(
        problems(labels + R"("more": {"value": "x"}})"), ElementsAre("too_many_labels /labels")
    );
}

std::string refusal(const Labels& labels) {
    try {
        check_labels(labels);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(LabelValues, keep_their_limits) {
    EXPECT_EQ(refusal({{"a", std::string(LabelLimits::kTextBytesMax, 'x')}}), "none");
    EXPECT_THAT(
        refusal({{"a", std::string(LabelLimits::kTextBytesMax + 1, 'x')}}),
        HasSubstr("at most 256 are allowed")
    );
    EXPECT_EQ(refusal({{std::string(LabelLimits::kNameBytesMax, 'n'), 1}}), "none");
    EXPECT_THAT(
        refusal({{std::string(LabelLimits::kNameBytesMax + 1, 'n'), 1}}),
        HasSubstr("is not the name of a label")
    );
    EXPECT_THAT(refusal({{"a", 0.0 / 0.0}}), HasSubstr("a finite number"));
    EXPECT_THAT(refusal({{"a", "\xff"}}), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal({{"1a", "x"}}), HasSubstr("is not the name"));
}

TEST(LabelValues, stay_the_same_through_json_and_the_command_line) {
    const Labels labels{
        {"text", "\"a\" \xC3\xA4"}, {"number", 0.1}, {"yes", true}, {"time", TimePoint(Duration(1))}
    };
    EXPECT_EQ(labels_from_json(labels_to_json(labels)), labels);
    EXPECT_EQ(parse_label("n", LabelType::Number, "0.1"), LabelValue(0.1));
    EXPECT_EQ(parse_label("b", LabelType::Bool, "false"), LabelValue(false));
    EXPECT_THROW(parse_label("n", LabelType::Number, "1x"), Error);
    EXPECT_THROW(parse_label("b", LabelType::Bool, "yes"), Error);
    EXPECT_THROW(parse_label("t", LabelType::Time, "today"), Error);
    EXPECT_THROW(parse_label_type("int"), Error);
}

}  // namespace
}  // namespace ebb
