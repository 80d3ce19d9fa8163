#include "cli/style.h"

#include <algorithm>
#include <array>

namespace ebb::cli {

namespace {

constexpr Glyphs kAscii{
    .done = "ok",
    .failed = "x",
    .retry = "~",
    .undone = "<-",
    .waiting = "..",
    .pending = ".",
    .skipped = "-",
    .running = ">",
    .dead = "!!",
    .paused = "=",
    .cancelled = "o",
    .aborted = "@",
    .ellipsis = "...",
    .dash = "-",
};

constexpr std::array<std::string_view, 10> kSpinner{
    "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"
};
constexpr std::array<std::string_view, 4> kAsciiSpinner{"|", "/", "-", "\\"};

std::string_view code_of(Style::Color color) {
    switch (color) {
        case Style::Color::None:
            return "";
        case Style::Color::Bold:
            return "1";
        case Style::Color::Dim:
            return "2";
        case Style::Color::Red:
            return "31";
        case Style::Color::Green:
            return "32";
        case Style::Color::Yellow:
            return "33";
        case Style::Color::Blue:
            return "34";
        case Style::Color::Magenta:
            return "35";
        case Style::Color::Cyan:
            return "36";
    }
    return "";
}

bool wants_colors(const Output& output, const CliStreams& streams, ColorMode mode) {
    if (mode != ColorMode::Auto) return mode == ColorMode::Always;
    // https://no-color.org: any value but the empty one.
    if (!streams.environment("NO_COLOR").value_or("").empty()) return false;
    return output.is_terminal && streams.environment("TERM").value_or("") != "dumb";
}

}  // namespace

bool has_utf8_locale(const CliStreams& streams) {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value = streams.environment(name).value_or("");
        if (value.empty()) continue;
        std::erase(value, '-');
        std::transform(value.begin(), value.end(), value.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        });
        return value.find("utf8") != std::string::npos;
    }
    return false;
}

Style::Style(const Output& output, const CliStreams& streams, ColorMode mode)
    : has_colors_(wants_colors(output, streams, mode)),
      has_unicode_(has_utf8_locale(streams)),
      glyphs_(has_unicode_ ? Glyphs{} : kAscii) {}

std::string Style::paint(Color color, std::string_view text) const {
    const std::string_view code = code_of(color);
    if (!has_colors_ || code.empty() || text.empty()) return std::string(text);
    std::string painted = "\x1b[";
    painted.append(code).append("m").append(text).append("\x1b[0m");
    return painted;
}

Style::Color Style::color_of_status(std::string_view status) {
    if (status == "completed") return Color::Green;
    if (status == "failed" || status == "dead_letter" || status == "compensation_failed") {
        return Color::Red;
    }
    if (status == "running") return Color::Cyan;
    if (status == "compensating" || status == "compensated") return Color::Magenta;
    if (status == "waiting" || status == "paused" || status == "retrying") return Color::Yellow;
    if (status == "cancelled" || status == "aborted") return Color::Yellow;
    return Color::Dim;
}

std::string Style::status(std::string_view status) const {
    return paint(color_of_status(status), status);
}

std::string_view Style::sign(std::string_view status) const {
    if (status == "completed") return glyphs_.done;
    if (status == "failed" || status == "compensation_failed") return glyphs_.failed;
    if (status == "dead_letter") return glyphs_.dead;
    if (status == "running") return glyphs_.running;
    if (status == "waiting") return glyphs_.waiting;
    if (status == "retrying") return glyphs_.retry;
    if (status == "compensating" || status == "compensated") return glyphs_.undone;
    if (status == "paused") return glyphs_.paused;
    if (status == "cancelled") return glyphs_.cancelled;
    if (status == "aborted") return glyphs_.aborted;
    return status == "skipped" || status == "moved" ? glyphs_.skipped : glyphs_.pending;
}

std::string Style::signed_status(std::string_view status) const {
    std::string text(sign(status));
    return paint(color_of_status(status), text.append(" ").append(status));
}

std::string_view Style::spinner(int turn) const {
    const auto at = static_cast<std::size_t>(turn);
    return has_unicode_ ? kSpinner[at % kSpinner.size()] : kAsciiSpinner[at % kAsciiSpinner.size()];
}

}  // namespace ebb::cli
