// Texts for terminals: widths, cuts, durations, and what was probably meant.

#include "cli/text.h"

#include "cli/fill.h"
#include "cli/style.h"
#include "cli/table.h"
#include "cli/time_text.h"
#include "support/clock.h"

namespace ebb::cli {
namespace {

using namespace std::chrono_literals;

TEST(CliText, width_counts_columns_not_bytes) {
    EXPECT_EQ(display_width("abc"), 3);
    EXPECT_EQ(display_width("é✓"), 2);
    EXPECT_EQ(display_width("日本"), 4);
    EXPECT_EQ(display_width("e\xCC\x81"), 1);
    EXPECT_EQ(display_width("\x1b[31mred\x1b[0m"), 3);
    EXPECT_EQ(display_width("\xFF\xC3"), 2);
}

TEST(CliText, a_cut_keeps_within_the_columns_and_ends_colors) {
    EXPECT_EQ(truncate("abcdef", 6, "…"), "abcdef");
    EXPECT_EQ(truncate("abcdefg", 6, "…"), "abcde…");
    EXPECT_EQ(truncate("日本語", 5, "…"), "日本…");
    EXPECT_EQ(truncate("\x1b[31mabcdef\x1b[0m", 3, "…"), "\x1b[31mab…\x1b[0m");
    EXPECT_EQ(truncate("abcd", 3, "..."), "...");
}

TEST(CliText, fold_breaks_a_line_and_cuts_nothing) {
    EXPECT_EQ(fold("one two", 20, 4), "one two");
    EXPECT_EQ(fold("one two", 0, 4), "one two");
    EXPECT_EQ(
        fold("  name:  one two three four five six", 30, 4),
        "  name:  one two three four\n    five six"
    );
    // A word that is too long begins in the same line, and is broken behind a comma.
    EXPECT_EQ(
        fold("x {\"aaaaaaaaaaaa\":1,\"bbbbbbbbbbbb\":2,\"c\":3}", 30, 2),
        "x {\"aaaaaaaaaaaa\":1,\n  \"bbbbbbbbbbbb\":2,\"c\":3}"
    );
    EXPECT_EQ(
        fold(std::string(45, 'x'), 30, 2), std::string(30, 'x') + "\n  " + std::string(15, 'x')
    );
    const std::string wide = "日本語日本語日本語日本語日本語日本語日本語";
    EXPECT_EQ(fold(wide, 30, 0), wide.substr(0, 45) + "\n" + wide.substr(45));
}

TEST(CliText, sizes_have_a_unit_that_fits) {
    EXPECT_EQ(size_text(0), "0 bytes");
    EXPECT_EQ(size_text(1), "1 byte");
    EXPECT_EQ(size_text(1023), "1023 bytes");
    EXPECT_EQ(size_text(1024), "1.0 KiB");
    EXPECT_EQ(size_text(3'300'000), "3.1 MiB");
    EXPECT_EQ(size_text((std::uint64_t{1} << 20) - 1), "1.0 MiB");
    EXPECT_EQ(size_text(std::uint64_t{5} << 30), "5.0 GiB");
    EXPECT_EQ(size_text(std::uint64_t{5'000} << 40), "5000.0 TiB");
}

TEST(CliText, one_line_lets_nothing_move_the_cursor) {
    EXPECT_EQ(one_line("a\nb\tc"), "a b c");
    EXPECT_EQ(one_line("\x1b[2Jgone\x07"), "?[2Jgone?");
    EXPECT_EQ(one_line("end\n"), "end");
    EXPECT_EQ(
        one_line("\xC2\x9B"
                 "2J"),
        "?2J"
    );
    EXPECT_EQ(one_line("\xFF"), "?");
}

TEST(CliText, wraps_at_spaces_only) {
    EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
    EXPECT_EQ(wrap("extraordinarily", 5), (std::vector<std::string>{"extraordinarily"}));
    EXPECT_EQ(wrap("", 5), (std::vector<std::string>{""}));
}

TEST(CliText, durations_have_two_units_at_most) {
    EXPECT_EQ(elapsed(-5s), "0ms");
    EXPECT_EQ(elapsed(4ms), "4ms");
    EXPECT_EQ(elapsed(99ms), "99ms");
    EXPECT_EQ(elapsed(100ms), "0.1s");
    EXPECT_EQ(elapsed(59'999ms), "59.9s");
    EXPECT_EQ(elapsed(60s), "1m 00s");
    EXPECT_EQ(elapsed(3h + 7min), "3h 07m");
    EXPECT_EQ(elapsed(26h), "1d 2h");
}

TEST(CliText, a_shell_reads_back_what_was_quoted) {
    EXPECT_EQ(shell_word("a/b-c.db"), "a/b-c.db");
    EXPECT_EQ(shell_word("a b"), "'a b'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(CliText, finds_what_was_probably_meant) {
    const std::vector<std::string> commands{"list", "start", "validate", "worker"};
    EXPECT_EQ(closest("lst", commands), "list");
    EXPECT_EQ(closest("validat", commands), "validate");
    EXPECT_EQ(closest("val", commands), "validate");
    EXPECT_EQ(closest("wroker", commands), "worker");
    EXPECT_EQ(closest("sgv", {"mermaid", "svg"}), "svg");
    EXPECT_EQ(closest("banana", commands), "");
    EXPECT_EQ(closest(std::string(1'000'000, 'x'), commands), "");
}

TEST(CliTable, aligns_columns_and_cuts_the_last) {
    Table table({"A", "LONG", "LAST"});
    table.add({"日本", "x", "something long"});
    EXPECT_EQ(table.text(0, "…"), "A     LONG  LAST\n日本  x     something long\n");
    EXPECT_EQ(table.text(22, "…"), "A     LONG  LAST\n日本  x     something…\n");
}

TEST(CliTable, cuts_the_widest_columns_that_may_shrink) {
    Table table({"A", "NAME", "LAST"});
    table.may_shrink(1, 6);
    table.add({"x", "a-long-name", "a long text"});
    EXPECT_EQ(table.text(24, "…"), "A  NAME        LAST\nx  a-long-na…  a long t…\n");
    EXPECT_EQ(table.text(10, "…"), "A  NAME  …\nx  a-lon……\n");
}

TEST(CliText, reads_times_of_people) {
    const TimePoint now = *parse_time("2027-03-01T12:00:00Z");
    EXPECT_EQ(parse_when("2h", now), *parse_time("2027-03-01T10:00:00Z"));
    EXPECT_EQ(parse_when("2027-02-28T10:00:00+01:00", now), *parse_time("2027-02-28T09:00:00Z"));
    const auto local = parse_when("2027-02-28 10:00", now);
    ASSERT_TRUE(local);
    EXPECT_EQ(absolute_time(*local, Times::Local), "2027-02-28 10:00:00");
    EXPECT_EQ(
        parse_when("yesterday", now).value() + std::chrono::hours(24), parse_when("today", now)
    );
    for (const char* wrong : {"", "soon", "2027-02-30", "2027-02-28 25:00", "2027-2-28"}) {
        EXPECT_FALSE(parse_when(wrong, now)) << wrong;
    }
    EXPECT_EQ(until_text(now + std::chrono::hours(71), now), "in 2d 23h");
}

struct Case {
    ColorMode mode;
    bool is_terminal;
    std::map<std::string, std::string> environment;
    bool has_colors;
};

TEST(CliStyle, colors_only_if_they_are_wanted) {
    const Case cases[] = {
        {ColorMode::Auto, true, {}, true},
        {ColorMode::Auto, false, {}, false},
        {ColorMode::Auto, true, {{"NO_COLOR", "1"}}, false},
        {ColorMode::Auto, true, {{"NO_COLOR", ""}}, true},
        {ColorMode::Auto, true, {{"TERM", "dumb"}}, false},
        {ColorMode::Always, false, {{"NO_COLOR", "1"}}, true},
        {ColorMode::Never, true, {}, false},
    };
    for (const Case& one : cases) {
        CliStreams streams;
        streams.environment = [&](const std::string& name) -> std::optional<std::string> {
            const auto found = one.environment.find(name);
            if (found == one.environment.end()) return std::nullopt;
            return found->second;
        };
        streams.out.is_terminal = one.is_terminal;
        EXPECT_EQ(Style(streams.out, streams, one.mode).has_colors(), one.has_colors);
    }
}

TEST(CliStyle, glyphs_only_in_a_utf8_locale) {
    const auto has_unicode = [](std::map<std::string, std::string> environment) {
        CliStreams streams;
        streams.environment = [&](const std::string& name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            if (found == environment.end()) return std::nullopt;
            return found->second;
        };
        return has_utf8_locale(streams);
    };
    EXPECT_TRUE(has_unicode({{"LANG", "en_GB.UTF-8"}}));
    EXPECT_TRUE(has_unicode({{"LC_ALL", "C.utf8"}, {"LANG", "C"}}));
    EXPECT_FALSE(has_unicode({{"LC_ALL", "C"}, {"LANG", "en_GB.UTF-8"}}));
    EXPECT_FALSE(has_unicode({{"LC_ALL", ""}, {"LC_CTYPE", "POSIX"}}));
    EXPECT_FALSE(has_unicode({}));
}

}  // namespace
}  // namespace ebb::cli
