#pragma once

#include <string>
#include <string_view>

#include <ebb/status.h>

#include "cli/streams.h"

namespace ebb::cli {

enum class ColorMode { Auto, Always, Never };

/// The marks in front of lines. ASCII if the locale is not UTF-8.
struct Glyphs {
    std::string_view done = "✓";
    std::string_view failed = "✗";
    std::string_view retry = "↻";
    std::string_view undone = "↩";
    std::string_view waiting = "◷";
    std::string_view pending = "·";
    std::string_view skipped = "○";
    std::string_view running = "▸";
    std::string_view dead = "■";
    std::string_view paused = "‖";
    std::string_view cancelled = "⊘";
    std::string_view aborted = "⊗";
    std::string_view ellipsis = "…";
    std::string_view dash = "–";
};

/// How a text looks on one output: colors only if they are wanted, glyphs only if they can
/// be shown. A value.
class Style {
 public:
    enum class Color { None, Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan };

    /// `output` decides about colors in Auto mode, with NO_COLOR and TERM of `streams`; LC_ALL,
    /// LC_CTYPE or LANG about glyphs.
    Style(const Output& output, const CliStreams& streams, ColorMode mode);

    std::string paint(Color color, std::string_view text) const;

    std::string bold(std::string_view text) const { return paint(Color::Bold, text); }

    std::string dim(std::string_view text) const { return paint(Color::Dim, text); }

    /// A status of an instance or a step in the color of its kind.
    std::string status(std::string_view status) const;

    std::string status(InstanceStatus status) const { return this->status(to_string(status)); }

    static Color color_of_status(std::string_view status);
    /// The mark in front of a status.
    std::string_view sign(std::string_view status) const;
    /// The status with its sign, in its color.
    std::string signed_status(std::string_view status) const;

    const Glyphs& glyphs() const { return glyphs_; }

    bool has_colors() const { return has_colors_; }

    bool has_unicode() const { return has_unicode_; }

    /// One picture of the spinner; `turn` counts up.
    std::string_view spinner(int turn) const;

 private:
    bool has_colors_ = false;
    bool has_unicode_ = false;
    Glyphs glyphs_;
};

/// True when the locale of `streams` says that texts are UTF-8.
bool has_utf8_locale(const CliStreams& streams);

}  // namespace ebb::cli
