// Goal: nothing that a terminal obeys comes out, and ordinary text stays as it is. Method: examples
// of each kind of character.

#include "support/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ebb {
namespace {

// ESC, DEL, C1 (U+009B), a right-to-left override, an isolate, a byte that is not UTF-8.
const std::string kHostile =
    "a\x1b[2Jb\x7f"
    "c\xc2\x9b"
    "d\xe2\x80\xae"
    "e\xe2\x81\xa6"
    "f\xff";

TEST(TerminalText, replaces_everything_that_a_terminal_would_obey) {
    EXPECT_EQ(terminal_line(kHostile), "a?[2Jb?c?d?e?f?");
    EXPECT_EQ(terminal_text(kHostile), "a?[2Jb?c?d?e?f?");
}

TEST(TerminalText, keeps_line_breaks_only_where_they_are_allowed) {
    EXPECT_EQ(terminal_line("one\r\n\ttwo\n"), "one two");
    EXPECT_EQ(terminal_text("one\n\ttwo\r\n"), "one\n\ttwo?\n");
}

TEST(TerminalText, keeps_other_scripts_and_emoji) {
    const std::string text = "Größe 東京 שלום 👩‍💻";
    EXPECT_EQ(terminal_line(text), text);
    EXPECT_EQ(terminal_text(text), text);
    EXPECT_EQ(terminal_json('"' + text + '"'), '"' + text + '"');
}

TEST(TerminalText, escapes_in_json_without_changing_its_value) {
    const nlohmann::json value = {
        {"k\x7f",
         "c\xc2\x9b"
         "d\xe2\x80\xae"
         "é"},
        {"x", {1, "\x1b"}}
    };
    const std::string text = terminal_json(value.dump());
    EXPECT_EQ(text, R"({"k\u007f":"c\u009bd\u202eé","x":[1,"\u001b"]})");
    EXPECT_EQ(nlohmann::json::parse(text), value);
}

}  // namespace
}  // namespace ebb
