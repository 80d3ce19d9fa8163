#include "cli/fill.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

std::string fill(std::string_view text, const Output& output) {
    if (!output.is_terminal) return std::string(text);
    const int columns = output.columns();
    std::string filled;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (columns <= 0 || line.starts_with(' ') || display_width(line) <= columns) {
            filled += line;
        } else {
            filled += fmt::format("{}", fmt::join(wrap(line, columns), "\n"));
        }
        if (end < text.size()) filled += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return filled;
}

namespace {

/// The bytes at the begin of `text` that fit into `columns`, at least one character; with commas,
/// those up to the last comma if that leaves not too much room.
std::size_t piece_of(std::string_view text, int columns) {
    std::size_t end = 0;
    std::size_t comma = 0;
    while (end < text.size()) {
        std::size_t next = end + 1;
        if (text[end] == '\x1b') {
            while (next < text.size() && text[next - 1] != 'm') ++next;
        } else {
            const auto is_inside = [&](std::size_t at) {
                return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
            };
            while (next < text.size() && is_inside(next)) ++next;
        }
        if (end > 0 && display_width(text.substr(0, next)) > columns) break;
        if (text[end] == ',') comma = next;
        end = next;
    }
    if (end == text.size()) return end;
    return comma > end / 2 ? comma : end;
}

}  // namespace

std::string fold(std::string_view line, int columns, int margin) {
    if (columns <= 0 || display_width(line) <= columns) return std::string(line);
    constexpr int kRoomMin = 20;
    const int room = std::max(columns - margin, kRoomMin);
    const std::string next_line = "\n" + std::string(static_cast<std::size_t>(margin), ' ');
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    std::string text(line.substr(0, begin));
    int left = columns - static_cast<int>(begin);
    line.remove_prefix(begin);
    bool is_at_begin = true;
    while (!line.empty()) {
        const std::size_t space = std::min(line.find(' '), line.size());
        std::string_view word = line.substr(0, space);
        line.remove_prefix(std::min(space + 1, line.size()));
        const int gap = is_at_begin ? 0 : 1;
        // A long word begins here if there is some room, and else in the next line.
        const bool is_long = display_width(word) > room;
        const bool fits = display_width(word) + gap <= left || (is_long && left > kRoomMin);
        if (!fits && !is_at_begin) {
            text += next_line;
            left = room;
        } else if (gap > 0) {
            text += ' ';
            --left;
        }
        while (display_width(word) > left) {
            const std::size_t end = piece_of(word, left);
            text += word.substr(0, end);
            word.remove_prefix(end);
            if (word.empty()) break;
            text += next_line;
            left = room;
        }
        text += word;
        left -= display_width(word);
        is_at_begin = false;
    }
    return text;
}

}  // namespace ebb::cli
