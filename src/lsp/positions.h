#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <ebb/error.h>
#include <ebb/json.h>

namespace ebb::lsp {

/// What a position's `character` counts.
enum class Encoding { Utf8, Utf16 };

/// As the protocol has it: both from 0.
struct Position {
    std::size_t line = 0;
    std::size_t character = 0;
};

/// Turns offsets of a text into positions of the protocol and back. The text must outlive it.
class LineIndex {
 public:
    LineIndex(std::string_view text, Encoding encoding);

    /// What lies behind the end of a line or of the text means that end.
    std::size_t offset(const Position& position) const;
    Position position(std::size_t offset) const;
    /// Of a place that counts characters from 1, as diagnostics have it.
    std::size_t offset_of_place(int line, int column) const;
    /// The other way round.
    SourceRange source_range(std::size_t begin, std::size_t end) const;

    std::size_t line_count() const { return starts_.size(); }

    /// Without its line break.
    std::string_view line(std::size_t number) const;

    std::size_t start_of_line(std::size_t number) const { return starts_[number]; }

 private:
    std::string_view text_;
    Encoding encoding_;
    std::vector<std::uint32_t> starts_;
};

Json to_json(const Position& position);
/// Offsets `begin` to `end`.
Json range_json(const LineIndex& lines, std::size_t begin, std::size_t end);
Json range_json(const LineIndex& lines, const SourceRange& range);

}  // namespace ebb::lsp
