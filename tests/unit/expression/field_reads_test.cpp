// Which fields of variables and steps an expression reads, and what is said of those that cannot
// exist: by tables.

#include "core/expression/field_reads.h"

#include <string>

#include <gtest/gtest.h>

#include "core/expression/fixed_fields.h"

namespace ebb::expression {
namespace {

/// `variable[.step].name@begin-end`, for each.
std::string reads_of(const std::string& source) {
    const Expression expression = Expression::compile(source);
    std::string text;
    for (const FieldRead& read : field_reads(expression)) {
        if (!text.empty()) text += ", ";
        text += std::string(read.variable);
        if (!read.step.empty()) text += "." + std::string(read.step);
        text += "." + std::string(read.name) + "@" + std::to_string(read.span.begin) + "-" +
                std::to_string(read.span.end);
    }
    return text;
}

TEST(FieldReads, are_found_however_they_are_written) {
    EXPECT_EQ(reads_of("workflow.input"), "workflow.input@9-14");
    EXPECT_EQ(reads_of(".workflow . input.x"), "workflow.input@12-17");
    EXPECT_EQ(reads_of("workflow.`input`"), "workflow.input@10-15");
    EXPECT_EQ(reads_of("workflow['input']"), "workflow.input@10-15");
    EXPECT_EQ(reads_of("has(instance.key)"), "instance.key@13-16");
    EXPECT_EQ(reads_of("steps.pay.output.id"), "steps.pay.output@10-16");
    EXPECT_EQ(reads_of("steps['pay'].output"), "steps.pay.output@13-19");
    EXPECT_EQ(reads_of("steps.pay['output']"), "steps.pay.output@11-17");
    EXPECT_EQ(reads_of("has(steps.pay.error)"), "steps.pay.error@14-19");
    EXPECT_EQ(reads_of("(workflow).input"), "");
    EXPECT_EQ(reads_of("a.b + a.b"), "a.b@2-3, a.b@8-9");
}

TEST(FieldReads, are_not_what_only_looks_like_one) {
    EXPECT_EQ(reads_of("input.list.map(workflow, workflow.x)"), "input.list@6-10");
    EXPECT_EQ(reads_of("(a ? b : c).d"), "");
    EXPECT_EQ(reads_of("workflow[name]"), "");
    EXPECT_EQ(reads_of("workflow == 'input'"), "");
    EXPECT_EQ(reads_of("'pay' in steps"), "");
    EXPECT_EQ(reads_of("has(steps.pay)"), "");
    EXPECT_EQ(reads_of("size(workflow)"), "");
}

std::string said_of(const std::string& source) {
    const Expression expression = Expression::compile(source);
    std::string text;
    for (const FieldRead& read : field_reads(expression)) {
        const auto unknown = judge(read, kFlowFields);
        if (unknown) text += unknown->message + "|" + unknown->meant;
    }
    return text;
}

TEST(FixedFields, are_named_where_another_one_is_read) {
    EXPECT_EQ(
        said_of("workflow.inptu"),
        "workflow has no field \"inptu\"; it has input, name and version. Did you mean \"input\"?"
        "|input"
    );
    EXPECT_EQ(said_of("instance.owner"), "instance has no field \"owner\"; it has id and key.|");
    EXPECT_EQ(
        said_of("steps.pay.ouput"),
        "steps.pay has no field \"ouput\"; it has output, attempts and error. Did you mean "
        "\"output\"?|output"
    );
    EXPECT_EQ(said_of("attempt.count"), "attempt is an int, which has no fields.|");
    EXPECT_EQ(said_of("now.year"), "now is a string, which has no fields.|");
}

TEST(FixedFields, leave_the_others_alone) {
    for (const char* source :
         {"workflow.input.x",
          "workflow.name + string(workflow.version)",
          "instance.id",
          "instance.key",
          "steps.pay.output.x",
          "steps.pay.attempts",
          "has(steps.pay.error)",
          "input.x",
          "metadata.x",
          "secrets.x",
          "globals.x",
          "payload.x"}) {
        EXPECT_EQ(said_of(source), "") << source;
    }
}

}  // namespace
}  // namespace ebb::expression
