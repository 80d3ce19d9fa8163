#include "cli/text.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "support/closest.h"
#include "support/terminal.h"
#include "support/unicode.h"

namespace ebb::cli {

namespace {

/// Columns as most terminals draw them.
int width_of(char32_t code) {
    if (is_zero_width(code)) return 0;
    return is_wide(code) ? 2 : 1;
}

/// The length of the escape sequence at `at`; 0 when there is none.
std::size_t escape_at(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) != "\x1b[") return 0;
    std::size_t end = at + 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    return std::min(end + 1, text.size()) - at;
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (const std::size_t escape = escape_at(text, at); escape > 0) {
            at += escape;
            continue;
        }
        const DecodedCharacter glyph = decode_utf8(text.substr(at));
        width += width_of(glyph.code);
        at += glyph.bytes;
    }
    return width;
}

std::string truncate(std::string_view text, int columns, std::string_view ellipsis) {
    if (display_width(text) <= columns) return std::string(text);
    const int room = columns - display_width(ellipsis);
    if (room < 0) return {};
    std::string kept;
    int width = 0;
    bool is_full = false;
    // Escape sequences after the cut stay, so that colors are switched off again.
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t escape = escape_at(text, at);
        if (escape > 0) {
            kept += text.substr(at, escape);
            at += escape;
            continue;
        }
        const DecodedCharacter glyph = decode_utf8(text.substr(at));
        if (!is_full && width + width_of(glyph.code) > room) {
            is_full = true;
            kept += ellipsis;
        }
        if (!is_full) {
            kept += text.substr(at, glyph.bytes);
            width += width_of(glyph.code);
        }
        at += glyph.bytes;
    }
    return kept;
}

std::string pad(std::string_view text, int columns) {
    const int missing = columns - display_width(text);
    return std::string(text) + std::string(static_cast<std::size_t>(std::max(missing, 0)), ' ');
}

std::string one_line(std::string_view text) {
    return terminal_line(text);
}

std::vector<std::string> wrap(std::string_view text, int columns) {
    std::vector<std::string> lines;
    std::string line;
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(std::min(space + 1, text.size()));
        if (!line.empty() && display_width(line) + 1 + display_width(word) > columns) {
            lines.push_back(std::exchange(line, {}));
        }
        if (!line.empty()) line += ' ';
        line += word;
    }
    if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
    return lines;
}

std::string elapsed(Duration duration) {
    using namespace std::chrono;
    duration = std::max(duration, Duration::zero());
    const auto whole = duration_cast<seconds>(duration).count();
    if (duration < milliseconds(100)) {
        return fmt::format("{}ms", duration_cast<milliseconds>(duration).count());
    }
    if (whole < 60) {
        return fmt::format("{:.1f}s", static_cast<double>(duration.count() / 100'000) / 10.0);
    }
    if (whole < 3'600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
    if (whole < 86'400) return fmt::format("{}h {:02}m", whole / 3'600, whole / 60 % 60);
    return fmt::format("{}d {}h", whole / 86'400, whole / 3'600 % 24);
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
    constexpr double kStep = 1024.0;
    if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
    double size = static_cast<double>(bytes) / kStep;
    std::size_t unit = 0;
    // What would be shown as 1024.0 has the next unit.
    constexpr double kShownMax = 1023.95;
    for (; size >= kShownMax && unit + 1 < kUnits.size(); ++unit) size /= kStep;
    return fmt::format("{:.1f} {}", size, kUnits[unit]);
}

std::string ago(TimePoint time, TimePoint now) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - time).count();
    if (seconds < 2) return "just now";
    if (seconds < 60) return fmt::format("{}s ago", seconds);
    if (seconds < 3'600) return fmt::format("{}m ago", seconds / 60);
    if (seconds < 86'400) return fmt::format("{}h ago", seconds / 3'600);
    return fmt::format("{}d ago", seconds / 86'400);
}

std::string short_time(TimePoint time) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S}", std::chrono::floor<std::chrono::seconds>(time));
}

std::string shell_word(std::string_view text) {
    const bool is_plain = text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "._-/:@%+=,"
                          ) == std::string_view::npos;
    if (is_plain && !text.empty()) return std::string(text);
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string closest(std::string_view word, const std::vector<std::string>& candidates) {
    const std::vector<std::string_view> views(candidates.begin(), candidates.end());
    return std::string(ebb::closest(word, views));
}

}  // namespace ebb::cli
