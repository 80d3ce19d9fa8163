// Goal: Mermaid reads our text whatever the names hold. Method: take apart every line the way
// Mermaid's preprocessor and lexer do (entities, directives, keywords inside quotes) and compare
// the decoded labels with what was meant.

#include <sstream>

#include <gtest/gtest.h>

#include "core/diagram/unicode.h"
#include "support/unicode.h"
#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// What stands between the first two quotes; there must be exactly two or none.
std::string quoted(const std::string& line) {
    const std::size_t open = line.find('"');
    if (open == std::string::npos) return "";
    const std::size_t close = line.find('"', open + 1);
    EXPECT_NE(close, std::string::npos) << line;
    EXPECT_EQ(line.find('"', close + 1), std::string::npos) << line;
    return line.substr(open + 1, close - open - 1);
}

/// `#38;` back to `&`.
std::string decoded(const std::string& label) {
    std::string out;
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (label[i] != '#') {
            out += label[i];
            continue;
        }
        const std::size_t end = label.find(';', i);
        EXPECT_NE(end, std::string::npos) << label;
        append_utf8(out, static_cast<char32_t>(std::stoul(label.substr(i + 1, end - i - 1))));
        i = end;
    }
    return out;
}

std::string label_of(const std::string& name) {
    const std::vector<std::string> lines = lines_of(to_mermaid(workflow("w", {step(name)})));
    for (const std::string& line : lines)
        if (line.starts_with("  n1")) return quoted(line);
    ADD_FAILURE() << "no node for " << name;
    return "";
}

TEST(Mermaid, every_character_of_a_label_comes_back_as_it_was) {
    for (const char* name :
         {"a<b>&c;#1 \"x\" 'y'",
          "%% comment %%{init: {}}%%",
          "`code`",
          "#quot;",
          "100%;",
          "\\n \\",
          "a|b{c}[d](e)",
          "$$x$$",
          "~~~",
          "漢字 é",
          "-->",
          "end",
          "a_b __c__ _d_",
          "*",
          "x@y.z"})
        EXPECT_EQ(decoded(label_of(name)), name);
}

TEST(Mermaid, nothing_that_mermaid_looks_for_stays_in_a_label) {
    for (const Sample& sample : samples()) {
        for (const std::string& line : lines_of(to_mermaid(sample.definition, sample.options))) {
            SCOPED_TRACE(line);
            std::string label = quoted(line);
            for (std::size_t at = label.find("<br/>"); at != std::string::npos;
                 at = label.find("<br/>"))
                label.erase(at, 5);
            EXPECT_EQ(label.find_first_of("<>%`\"{}[]|\\$~*&@"), std::string::npos);
            for (const char* word :
                 {"style", "classDef", "direction ", "://", "www.", ":fa-", "--"})
                EXPECT_EQ(label.find(word), std::string::npos) << word;
        }
    }
}

TEST(Mermaid, words_of_the_grammar_are_harmless_as_names) {
    EXPECT_EQ(label_of("direction TB"), "#100;irection TB");
    EXPECT_EQ(label_of("style a:#fff;"), "#115;tyle a#58;#35;fff#59;");
    EXPECT_EQ(label_of("classDef"), "#99;lassDef");
    EXPECT_EQ(label_of("1. first"), "1#46; first");
    EXPECT_EQ(label_of("2) second"), "2#41; second");
    EXPECT_EQ(label_of("- item"), "#45; item");
    EXPECT_EQ(label_of("charge_card"), "charge_card");
    EXPECT_EQ(label_of("is 1.5 (or so)?"), "is 1.5 (or so)?");
    EXPECT_EQ(label_of("http://x.org"), "http#58;//x.org");
    EXPECT_EQ(label_of("fa:fa-user"), "fa#58;fa-user");
    EXPECT_EQ(label_of(" "), "#32;");
    EXPECT_EQ(label_of(""), " ");
}

TEST(Mermaid, a_label_never_ends_the_line) {
    EXPECT_EQ(label_of("a\nb\r\nc"), "a b #32;c");
    EXPECT_EQ(
        label_of("a\xe2\x80\xa8"
                 "b"),
        "a b"
    );
}

TEST(Mermaid, subgraphs_are_closed_and_ids_are_known) {
    for (const Sample& sample : samples()) {
        SCOPED_TRACE(sample.name);
        int open = 0;
        for (const std::string& line : lines_of(to_mermaid(sample.definition, sample.options))) {
            const std::size_t start = line.find_first_not_of(' ');
            if (line.compare(start, 9, "subgraph ") == 0) ++open;
            if (line.substr(start) == "end") --open;
            EXPECT_GE(open, 0);
        }
        EXPECT_EQ(open, 0);
    }
}

TEST(Mermaid, long_expressions_are_cut) {
    const std::string label = label_of(std::string(300, 'x'));
    EXPECT_EQ(label, std::string(72, 'x') + "…");
    EXPECT_EQ(label_of(std::string(72, 'x')), std::string(72, 'x'));
}

TEST(Mermaid, an_instance_shows_states_by_sign_word_and_class) {
    DiagramOptions options;
    options.marks = StepMarks{{"a", {StepMark::State::Retrying, 3, "timeout"}}};
    const std::string text = to_mermaid(workflow("w", {step("a")}), options);
    EXPECT_NE(
        text.find("n1[\"↻ a<br/>retrying, attempt 3: timeout\"]:::retrying\n"), std::string::npos
    );
    EXPECT_NE(text.find("classDef retrying "), std::string::npos);
    EXPECT_NE(text.find("subgraph legend"), std::string::npos);
}

}  // namespace
}  // namespace ebb::diagram_test
