#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb::expression {

struct Place {
    int line = 1;
    int column = 1;  ///< in characters, not bytes
};

/// Where byte `offset` of `source` is.
Place place_of(std::string_view source, std::size_t offset);

/// The byte at that place; the end of `source` if there is none.
std::size_t offset_of(std::string_view source, const Place& place);

/// Throws ExpressionError for that place.
[[noreturn]] void throw_at(
    std::string_view source,
    std::size_t offset,
    const std::string& message,
    std::string_view meant = {}
);

/// How many characters (code points) `text` has.
std::size_t count_characters(std::string_view text);

/// Of `text` at most about `bytes_max` bytes, cut at a character, for a message.
std::string shortened(std::string_view text, std::size_t bytes_max);

/// Where the first invalid UTF-8 sequence begins; npos when there is none.
std::size_t find_invalid_utf8(std::string_view text);

}  // namespace ebb::expression
