// Goal: the tree for terminals is readable and safe to print. Method: whole small trees, and every
// byte in a name.

#include <algorithm>

#include <gtest/gtest.h>

#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

const TextStyle kAscii{TextStyle::Charset::Ascii, TextStyle::Colors::None};
const TextStyle kAnsi{TextStyle::Charset::Unicode, TextStyle::Colors::Ansi};

Definition small() {
    return workflow(
        "small",
        {step("reserve", "stock.reserve", "stock.release"),
         condition("large", "input.n > 1", {step("approve")}),
         while_loop("more", "input.more", {step("next")})}
    );
}

TEST(DiagramText, is_a_tree) {
    EXPECT_EQ(
        to_text(small()),
        "small v1\n"
        "├─ ■ reserve  stock.reserve  ↩ stock.release\n"
        "├─ ◆ large  condition: input.n > 1\n"
        "│  ├─ yes\n"
        "│  │  └─ ■ approve\n"
        "│  └─ no  (go on)\n"
        "└─ ∞ more  loop: while input.more\n"
        "   └─ ■ next\n"
    );
}

TEST(DiagramText, wraps_what_is_wider_than_the_terminal_below_the_name_of_its_node) {
    const Definition wide = workflow(
        "wide",
        {step("reserve_all_items", "warehouse.stock.reserve", "warehouse.stock.release"),
         condition(
             "large",
             "workflow.input.amount > 1000 && workflow.input.country == 'NL'",
             {step("a_name_that_is_longer_than_the_room_for_it")}
         )}
    );
    TextStyle style{.columns = 40};
    EXPECT_EQ(
        to_text(wide, {}, style),
        "wide v1\n"
        "├─ ■ reserve_all_items\n"
        "│      warehouse.stock.reserve\n"
        "│      ↩ warehouse.stock.release\n"
        "└─ ◆ large  condition:\n"
        "       workflow.input.amount > 1000 &&\n"
        "       workflow.input.country == 'NL'\n"
        "   ├─ yes\n"
        "   │  └─ ■ a_name_that_is_longer_than_th\n"
        "   │         e_room_for_it\n"
        "   └─ no  (go on)\n"
    );
    style.columns = 1'000;
    EXPECT_EQ(to_text(wide, {}, style), to_text(wide));
    style.colors = TextStyle::Colors::Ansi;
    EXPECT_EQ(to_text(wide, {}, style), to_text(wide, {}, kAnsi));
}

TEST(DiagramText, a_failed_step_stays_failed_when_it_is_undone) {
    const Definition two = workflow("two", {step("pay", "pay", "refund")});
    using enum StepMark::State;
    const auto text = [&](StepMark::State state, const std::string& note) {
        return to_text(two, {.marks = StepMarks{{"pay", {.state = state, .note = note}}}});
    };
    EXPECT_EQ(
        text(Compensated, "failed: declined"),
        "two v1\n└─ ✗↶ ■ pay  ↩ refund  [failed, then undone: declined]\n"
    );
    EXPECT_EQ(text(Compensated, ""), "two v1\n└─ ↶ ■ pay  ↩ refund  [compensated]\n");
}

TEST(DiagramText, a_branch_that_was_not_taken_is_faint) {
    const Definition choice =
        workflow("choice", {condition("large", "input.n > 1", {step("a")}, {step("b")})});
    const StepMarks marks{
        {"large", {.state = StepMark::State::Completed}},
        {"b", {.state = StepMark::State::Running}},
    };
    const std::string text = to_text(choice, {.marks = marks}, kAnsi);
    EXPECT_NE(text.find("\x1b[2ma\x1b[0m"), std::string::npos) << text;
    EXPECT_NE(text.find("\x1b[1mb\x1b[0m"), std::string::npos) << text;
    // Before it is known which branch is taken, no branch is faint.
    const std::string before = to_text(
        choice, {.marks = StepMarks{{"large", {.state = StepMark::State::Completed}}}}, kAnsi
    );
    EXPECT_EQ(before.find("\x1b[2ma\x1b[0m"), std::string::npos) << before;
}

TEST(DiagramText, is_the_same_tree_in_ascii) {
    EXPECT_EQ(
        to_text(small(), {}, kAscii),
        "small v1\n"
        "|- * reserve  stock.reserve  undo: stock.release\n"
        "|- ? large  condition: input.n > 1\n"
        "|  |- yes\n"
        "|  |  `- * approve\n"
        "|  `- no  (go on)\n"
        "`- @ more  loop: while input.more\n"
        "   `- * next\n"
    );
}

TEST(DiagramText, shows_the_states_of_an_instance) {
    DiagramOptions options;
    options.marks = StepMarks{
        {"reserve", {StepMark::State::Completed, 1, ""}},
        {"large", {StepMark::State::Completed, 1, ""}},
        {"approve", {StepMark::State::Retrying, 2, "timeout"}}
    };
    EXPECT_EQ(
        to_text(small(), options),
        "small v1\n"
        "├─ ✓ ■ reserve  stock.reserve  ↩ stock.release  [completed]\n"
        "├─ ✓ ◆ large  condition: input.n > 1  [completed]\n"
        "│  ├─ yes\n"
        "│  │  └─ ↻ ■ approve  [retrying, attempt 2: timeout]\n"
        "│  └─ no  (go on)\n"
        "└─ ○ ∞ more  loop: while input.more\n"
        "   └─ ○ ■ next\n"
    );
}

TEST(DiagramText, an_empty_workflow_is_its_title) {
    EXPECT_EQ(to_text(workflow("empty", {})), "empty v1\n");
}

TEST(DiagramText, ascii_has_no_other_byte_for_any_sample) {
    for (const Sample& sample : samples()) {
        const std::string text = to_text(sample.definition, sample.options, kAscii);
        EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
            return c == '\n' || (c >= 0x20 && c <= 0x7E);
        })) << sample.name;
    }
}

TEST(DiagramText, no_name_can_steer_the_terminal) {
    for (int byte = 0; byte < 256; ++byte) {
        const std::string name = std::string("a") + static_cast<char>(byte) + "[31mb";
        const std::string text = to_text(workflow(name, {step(name, name, name)}));
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << byte;
        EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) {
            return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7F;
        })) << byte;
    }
}

TEST(DiagramText, colors_only_add_escape_sequences) {
    for (const Sample& sample : samples()) {
        const std::string colored = to_text(sample.definition, sample.options, kAnsi);
        std::string plain;
        for (std::size_t i = 0; i < colored.size(); ++i) {
            if (colored[i] == '\x1b') {
                i = colored.find('m', i);
            } else {
                plain += colored[i];
            }
        }
        EXPECT_NE(colored, plain);
        EXPECT_EQ(plain, to_text(sample.definition, sample.options)) << sample.name;
    }
}

TEST(DiagramText, every_kind_is_named) {
    const std::string text = to_text(samples()[5].definition);
    for (const char* words :
         {"bank.transfer; queue slow; once",
          "switch: first case",
          "decision: anyone",
          "signal: receipt.received; within 1h30m, else go on",
          "savepoint: resume at most 5 times",
          "loop: while ",
          "loop: until ",
          "at most 20",
          "parallel: all of 2",
          "delay: 90s",
          "delay: until 2027",
          "fail: nothing more to do"})
        EXPECT_NE(text.find(words), std::string::npos) << words;
}

}  // namespace
}  // namespace ebb::diagram_test
