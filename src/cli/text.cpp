#include "cli/text.h"

#include <algorithm>
#include <array>
#include <cwchar>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace ebb::cli {

namespace {

/// The next character of `text` from `at`: its bytes and its code point; invalid bytes count one.
struct Glyph {
    std::size_t bytes = 1;
    char32_t code = U'?';
};

Glyph glyph_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return {1, lead};
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    char32_t code = length == 1 ? U'?' : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {1, U'?'};
        code = (code << 6) | (byte(i) & 0x3FU);
    }
    return {length, code};
}

/// Wide characters as most terminals draw them: CJK, Hangul, emoji. Combining marks take nothing.
int width_of(char32_t code) {
    struct Range {
        char32_t first;
        char32_t last;
    };

    static constexpr std::array kZero{
        Range{0x0300, 0x036F}, Range{0x200B, 0x200F}, Range{0xFE00, 0xFE0F}
    };
    static constexpr std::array kWide{
        Range{0x1100, 0x115F},
        Range{0x2E80, 0xA4CF},
        Range{0xAC00, 0xD7A3},
        Range{0xF900, 0xFAFF},
        Range{0xFE30, 0xFE6F},
        Range{0xFF00, 0xFF60},
        Range{0x1F300, 0x1F64F},
        Range{0x1F900, 0x1F9FF},
        Range{0x20000, 0x3FFFD},
    };
    const auto contains = [code](const Range& range) {
        return code >= range.first && code <= range.last;
    };
    if (std::any_of(kZero.begin(), kZero.end(), contains)) return 0;
    return std::any_of(kWide.begin(), kWide.end(), contains) ? 2 : 1;
}

/// The length of the escape sequence at `at`; 0 when there is none.
std::size_t escape_at(std::string_view text, std::size_t at) {
    if (text.substr(at, 2) != "\x1b[") return 0;
    std::size_t end = at + 2;
    while (end < text.size() && (text[end] < '@' || text[end] > '~')) ++end;
    return std::min(end + 1, text.size()) - at;
}

/// How many letters were left out, added, mistaken or swapped with their neighbour.
std::size_t edit_distance(std::string_view left, std::string_view right) {
    const std::size_t columns = right.size() + 1;
    std::vector<std::size_t> cells((left.size() + 1) * columns);
    const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& {
        return cells[i * columns + j];
    };
    for (std::size_t i = 0; i <= left.size(); ++i) cell(i, 0) = i;
    for (std::size_t j = 0; j <= right.size(); ++j) cell(0, j) = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t mistake = left[i - 1] == right[j - 1] ? 0 : 1;
            std::size_t best = std::min(cell(i - 1, j) + 1, cell(i, j - 1) + 1);
            best = std::min(best, cell(i - 1, j - 1) + mistake);
            const bool is_swap =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (is_swap) best = std::min(best, cell(i - 2, j - 2) + 1);
            cell(i, j) = best;
        }
    }
    return cell(left.size(), right.size());
}

}  // namespace

int display_width(std::string_view text) {
    int width = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (const std::size_t escape = escape_at(text, at); escape > 0) {
            at += escape;
            continue;
        }
        const Glyph glyph = glyph_at(text, at);
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
    // Escape sequences after the cut stay, so that colours are switched off again.
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t escape = escape_at(text, at);
        if (escape > 0) {
            kept += text.substr(at, escape);
            at += escape;
            continue;
        }
        const Glyph glyph = glyph_at(text, at);
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
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        const Glyph glyph = glyph_at(text, at);
        if (glyph.code == U'\n' || glyph.code == U'\t' || glyph.code == U'\r') {
            if (!line.empty() && line.back() != ' ') line += ' ';
        } else if (glyph.code < 0x20 || (glyph.code >= 0x7F && glyph.code < 0xA0)) {
            line += '?';
        } else if (glyph.bytes == 1 && glyph.code == U'?') {
            line += '?';
        } else {
            line += text.substr(at, glyph.bytes);
        }
        at += glyph.bytes;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    return line;
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
    constexpr std::size_t kWordMax = 100;
    if (word.size() > kWordMax) return {};
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
    for (const std::string& candidate : candidates) {
        std::size_t distance = edit_distance(word, candidate);
        if (word.size() >= 3 && candidate.starts_with(word)) distance = 0;
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

}  // namespace ebb::cli
