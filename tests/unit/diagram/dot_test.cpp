// Goal: Graphviz reads our text whatever the names hold. Method: a strict reader of the part of the
// DOT language that we write: statements, balanced braces, quoted strings.

#include <algorithm>
#include <stdexcept>

#include <gtest/gtest.h>

#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

/// The quoted strings of a DOT document as Graphviz shows them; throws where one does not end or a
/// brace does not match.
std::vector<std::string> strings_of(const std::string& dot) {
    std::vector<std::string> strings;
    int depth = 0;
    for (std::size_t i = 0; i < dot.size(); ++i) {
        if (dot[i] == '{') ++depth;
        if (dot[i] == '}' && --depth < 0) throw std::runtime_error("a } too many");
        if (dot[i] != '"') continue;
        std::string text;
        for (++i; i < dot.size() && dot[i] != '"'; ++i) {
            if (dot[i] == '\n') throw std::runtime_error("a string goes over a line's end");
            if (dot[i] == '\\') {
                ++i;
                text += dot.at(i) == 'n' ? '\n' : dot.at(i);
            } else if (dot[i] == '&') {
                if (dot.compare(i, 5, "&amp;") != 0) throw std::runtime_error("a bare &");
                text += '&';
                i += 4;
            } else {
                text += dot[i];
            }
        }
        if (i == dot.size()) throw std::runtime_error("a string without end");
        strings.push_back(text);
    }
    if (depth != 0) throw std::runtime_error("a { too many");
    return strings;
}

bool has_string(const std::string& dot, const std::string& text) {
    const std::vector<std::string> strings = strings_of(dot);
    return std::find(strings.begin(), strings.end(), text) != strings.end();
}

TEST(Dot, every_sample_is_balanced) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        const std::string dot = to_dot(sample.definition, sample.options);
        EXPECT_NO_THROW(strings_of(dot));
        EXPECT_TRUE(dot.starts_with("digraph \""));
        EXPECT_TRUE(dot.ends_with("}\n"));
    }
}

TEST(Dot, every_character_of_a_label_comes_back_as_it_was) {
    for (const char* name :
         {"a\"b",
          "back\\slash",
          "\\N \\G \\l",
          "&amp; &#60; &",
          "<b>html</b>",
          "{a|b}",
          "漢字",
          "// no comment",
          "/* nor this */",
          "# nor this"})
        EXPECT_TRUE(has_string(to_dot(workflow("w", {step(name)})), name)) << name;
}

TEST(Dot, the_name_of_the_workflow_is_escaped_too) {
    EXPECT_TRUE(has_string(to_dot(workflow("a\"];}", {})), "a\"];} v1"));
}

TEST(Dot, compensations_hang_on_their_step) {
    const std::string dot = to_dot(workflow("w", {step("pay", "pay", "refund")}));
    EXPECT_NE(dot.find("n1 -> c1 [style=dashed"), std::string::npos);
    EXPECT_TRUE(has_string(dot, "↩ refund"));
    DiagramOptions hide;
    hide.compensations = DiagramOptions::Compensations::Hide;
    EXPECT_EQ(
        to_dot(workflow("w", {step("pay", "pay", "refund")}), hide).find("refund"),
        std::string::npos
    );
}

TEST(Dot, direction_is_a_choice) {
    DiagramOptions right;
    right.direction = DiagramOptions::Direction::Right;
    EXPECT_NE(to_dot(workflow("w", {})).find("rankdir=TB"), std::string::npos);
    EXPECT_NE(to_dot(workflow("w", {}), right).find("rankdir=LR"), std::string::npos);
}

}  // namespace
}  // namespace ebb::diagram_test
