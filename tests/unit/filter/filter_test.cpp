// Goal: a filter compiles to the condition that it says, and one that no database can answer is
// refused with its place. Method: compile, then compare what it holds for.

#include "core/filter/filter.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ebb::filter {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr TimePoint kNow{1'793'000'000'000'000us};

bool holds_for(const std::string& source, const Labels& labels) {
    const Subject subject{
        .workflow = "order", .key = "k-1", .created_at = kNow - 24h, .labels = &labels
    };
    return holds(compile(source, kNow), subject);
}

/// `column: message`.
std::string refusal(const std::string& source) {
    try {
        compile(source, kNow);
    } catch (const ExpressionError& error) {
        return std::to_string(error.column()) + ": " + error.message();
    }
    return "none";
}

TEST(Filter, compares_fields_and_labels) {
    const Labels labels{{"customer", "acme"}, {"total", 120}, {"vip", true}, {"due", kNow + 1h}};
    for (const char* source : {
             "labels.customer == \"acme\"",
             "\"acme\" == labels.customer",
             "100 < labels.total",
             "labels[\"total\"] >= 120.0",
             "labels.vip",
             "\"vip\" in tags && \"total\" in labels",
             "labels.due <= now + duration(\"1h\")",
             "created > now - duration(\"7d\") && workflow == \"order\"",
             "key.startsWith(\"k-\")",
             "labels.customer in [\"x\", \"acme\"]",
             "!(labels.customer == \"x\") && has(labels.customer)",
             "finished < now || true",
         }) {
        EXPECT_TRUE(holds_for(source, labels)) << source;
        EXPECT_FALSE(holds_for("!(" + std::string(source) + ")", labels)) << source;
    }
}

TEST(Filter, a_comparison_with_what_is_missing_is_false) {
    const Labels labels{{"n", 1}};
    for (const char* source :
         {"labels.x == \"a\"",
          "labels.x != \"a\"",
          "labels.n == \"1\"",
          "labels.n != \"1\"",
          "finished > now",
          "error.code != \"x\"",
          "\"n\" in tags"}) {
        EXPECT_FALSE(holds_for(source, labels)) << source;
    }
}

TEST(Filter, refuses_what_no_database_can_answer_with_its_place) {
    EXPECT_THAT(refusal("labels.a == "), HasSubstr("Expected a value"));
    EXPECT_EQ(refusal("workflo == \"a\"").substr(0, 2), "1:");
    EXPECT_THAT(refusal("workflo == \"a\""), HasSubstr("workflow"));
    EXPECT_THAT(refusal("labels.a == labels.b"), HasSubstr("a value on the other"));
    EXPECT_THAT(refusal("created > 5"), HasSubstr("Compare created with a time"));
    EXPECT_THAT(
        refusal("status == \"runing\""),
        HasSubstr(
            "\"runing\" is not a status; the statuses are running, paused, compensating, "
            "dead_letter, moved, completed, failed, cancelled, aborted. Did you mean \"running\"?"
        )
    );
    EXPECT_THAT(
        refusal("status in [\"failed\", \"waiting\"]"),
        HasSubstr("an instance that waits has the status \"running\"")
    );
    EXPECT_THAT(refusal("status < \"running\""), HasSubstr("with == or !="));
    EXPECT_THAT(refusal("labels.a == null"), HasSubstr("has(labels.NAME)"));
    EXPECT_THAT(refusal("labels.a + 1 > 2"), HasSubstr("calculates with times only"));
    EXPECT_THAT(refusal("size(labels.a) > 1"), HasSubstr("cannot call size()"));
    EXPECT_THAT(refusal("labels.a ? true : false"), HasSubstr("A filter cannot do this"));
    EXPECT_THAT(refusal("[1].all(x, x > 0)"), HasSubstr("A filter cannot do this"));
    EXPECT_THAT(refusal("\"done\" in steps"), HasSubstr("A filter cannot do this"));
    EXPECT_THAT(refusal("labels.a == \"x\\u0000\""), HasSubstr("U+0000"));
    EXPECT_THAT(refusal("\"a b\" in tags"), HasSubstr("is not the name of a label"));
    EXPECT_THAT(refusal("id == \"x\""), HasSubstr("is not an id"));
    EXPECT_THAT(refusal("workflow"), HasSubstr("A condition is needed here"));
    EXPECT_EQ(refusal("priority > 1 && version == \"1\"").substr(0, 3), "25:");
}

std::string chain(int count, const std::string& part, const std::string& between) {
    std::string text = part;
    for (int i = 1; i < count; ++i) text += between + part;
    return text;
}

TEST(Filter, keeps_its_limits) {
    EXPECT_EQ(refusal(chain(Limits::kComparisonsMax, "priority > 1", " && ")), "none");
    EXPECT_THAT(
        refusal(chain(Limits::kComparisonsMax + 1, "priority > 1", " && ")),
        HasSubstr("at most 32 comparisons")
    );
    EXPECT_EQ(refusal(chain(Limits::kAlternativesMax, "priority > 1", " || ")), "none");
    EXPECT_THAT(
        refusal(chain(Limits::kAlternativesMax + 1, "priority > 1", " || ")),
        HasSubstr("at most 16 alternatives")
    );
    EXPECT_EQ(refusal("priority in [" + chain(Limits::kAlternativesMax, "1", ",") + "]"), "none");
    EXPECT_THAT(
        refusal("priority in [" + chain(Limits::kAlternativesMax + 1, "1", ",") + "]"),
        HasSubstr("at most 16 values")
    );
    const std::string text = "key == \"";
    EXPECT_EQ(
        refusal(text + std::string(Limits::kSourceBytesMax - text.size() - 1, 'x') + "\""), "none"
    );
    EXPECT_NE(
        refusal(text + std::string(Limits::kSourceBytesMax - text.size(), 'x') + "\""), "none"
    );
}

TEST(Filter, an_equality_of_a_label_drives_the_search) {
    const auto drives = [](const char* source) {
        const Condition condition = compile(source, kNow);
        const Condition* const driving = driving_label(condition);
        return driving == nullptr ? std::string() : driving->field.label;
    };
    EXPECT_EQ(drives("labels.a == \"x\""), "a");
    EXPECT_EQ(drives("priority > 1 && labels.b == 2 && labels.a > 1"), "b");
    EXPECT_EQ(drives("labels.a == \"x\" || priority > 1"), "");
    EXPECT_EQ(drives("!(labels.a == \"x\")"), "");
    EXPECT_EQ(drives("labels.a != \"x\""), "");
}

}  // namespace
}  // namespace ebb::filter
