#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

namespace ebb::cli {

enum class Color { None, Red, Green, Yellow, Blue, Cyan, Grey, Bold };
enum class ColorMode { Auto, Always, Never };

/// Where a command writes: results to `out`, everything about the command itself to `err`. Knows
/// what the terminal can show. Not thread-safe.
class Terminal {
 public:
    Terminal(std::FILE* out, std::FILE* err);

    void set_color(ColorMode mode);

    void out(std::string_view text) { write(out_, text); }

    void err(std::string_view text) { write(err_, text); }

    /// A line that the next status or line replaces; nothing where `err` is no terminal.
    void status(std::string_view text);
    void clear_status();

    bool is_live() const { return err_is_terminal_; }

    bool has_unicode() const { return has_unicode_; }

    std::string paint(Color color, std::string_view text) const;
    std::string paint_err(Color color, std::string_view text) const;

    /// `glyph` where the terminal knows Unicode, else `plain`.
    std::string_view glyph(std::string_view glyph, std::string_view plain) const {
        return has_unicode_ ? glyph : plain;
    }

 private:
    void write(std::FILE* file, std::string_view text);

    std::FILE* out_;
    std::FILE* err_;
    bool err_is_terminal_ = false;
    bool colors_out_ = false;
    bool colors_err_ = false;
    bool has_unicode_ = false;
    bool has_status_ = false;
};

/// Columns aligned by the width of what people see; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t indent = 0);

/// How many columns a terminal needs for `text`: code points, without colour codes.
std::size_t display_width(std::string_view text);

/// `12 ms`, `3.4 s`, `2 m 05 s`, `3 h 20 m`, `4 d 02 h`.
std::string human_duration(Duration duration);
/// `2026-11-21 05:10:00` in UTC, with `Z`.
std::string human_time(TimePoint time);
/// The first `width` columns, with an ellipsis when something is cut; line breaks become spaces.
std::string shorten(std::string_view text, std::size_t width);

}  // namespace ebb::cli
