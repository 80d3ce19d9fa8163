#include "lsp/positions.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

namespace ebb::lsp {

namespace {

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The bytes of the character at `at`; of broken UTF-8 one.
std::size_t size_of_character(std::string_view text, std::size_t at) {
    std::size_t end = at + 1;
    while (end < text.size() && end - at < 4 && is_continuation(text[end])) ++end;
    return end - at;
}

std::size_t units(std::size_t bytes, Encoding encoding) {
    if (encoding == Encoding::Utf8) return bytes;
    return bytes == 4 ? 2 : 1;
}

}  // namespace

LineIndex::LineIndex(std::string_view text, Encoding encoding)
    : text_(text), encoding_(encoding), starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_break =
            text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
        if (is_break) starts_.push_back(static_cast<std::uint32_t>(i + 1));
    }
}

std::string_view LineIndex::line(std::size_t number) const {
    if (number >= starts_.size()) return {};
    const std::size_t begin = starts_[number];
    const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : text_.size();
    std::string_view line = text_.substr(begin, end - begin);
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::size_t LineIndex::offset(const Position& position) const {
    if (position.line >= starts_.size()) return text_.size();
    const std::string_view here = line(position.line);
    std::size_t at = 0;
    std::size_t counted = 0;
    while (at < here.size() && counted < position.character) {
        const std::size_t bytes = size_of_character(here, at);
        counted += units(bytes, encoding_);
        // A position inside of a character means its beginning.
        if (counted > position.character) break;
        at += bytes;
    }
    return starts_[position.line] + at;
}

Position LineIndex::position(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const auto number = static_cast<std::size_t>(after - starts_.begin()) - 1;
    const std::string_view here = line(number);
    const std::size_t wanted = std::min(offset - starts_[number], here.size());
    Position position{.line = number, .character = 0};
    for (std::size_t at = 0; at < wanted;) {
        const std::size_t bytes = size_of_character(here, at);
        if (at + bytes > wanted) break;
        position.character += units(bytes, encoding_);
        at += bytes;
    }
    return position;
}

std::size_t LineIndex::offset_of_place(int line, int column) const {
    if (line < 1) return 0;
    const auto number = static_cast<std::size_t>(line - 1);
    if (number >= starts_.size()) return text_.size();
    const std::string_view here = this->line(number);
    std::size_t at = 0;
    for (int i = 1; i < column && at < here.size(); ++i) at += size_of_character(here, at);
    return starts_[number] + at;
}

SourceRange LineIndex::source_range(std::size_t begin, std::size_t end) const {
    const auto place = [this](std::size_t offset) {
        offset = std::min(offset, text_.size());
        const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
        const auto number = after - starts_.begin();
        const std::size_t start = starts_[static_cast<std::size_t>(number) - 1];
        const std::string_view before = text_.substr(start, offset - start);
        const auto characters =
            std::count_if(before.begin(), before.end(), [](char c) { return !is_continuation(c); });
        return std::pair(static_cast<int>(number), static_cast<int>(characters) + 1);
    };
    const auto [line, column] = place(begin);
    const auto [end_line, end_column] = place(end);
    return {line, column, end_line, end_column};
}

Json to_json(const Position& position) {
    return {{"line", position.line}, {"character", position.character}};
}

Json range_json(const LineIndex& lines, std::size_t begin, std::size_t end) {
    return {
        {"start", to_json(lines.position(begin))},
        {"end", to_json(lines.position(std::max(begin, end)))}
    };
}

Json range_json(const LineIndex& lines, const SourceRange& range) {
    const std::size_t begin = lines.offset_of_place(range.line, range.column);
    const bool has_end = range.end_line > 0;
    const std::size_t end =
        has_end ? lines.offset_of_place(range.end_line, range.end_column) : begin;
    return range_json(lines, begin, end);
}

}  // namespace ebb::lsp
