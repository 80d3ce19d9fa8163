#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ebb {

/// U+FFFD stands for what is not valid.
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct DecodedCharacter {
    char32_t code = kReplacementCharacter;
    std::size_t bytes = 1;
    bool is_valid = false;
};

/// The character at the start of `text`, which is not empty. An invalid byte counts as one
/// character.
DecodedCharacter decode_utf8(std::string_view text);

/// Appends the UTF-8 of a code point.
void append_utf8(std::string& out, char32_t code);

/// The value of a hexadecimal digit; -1 for any other character.
int hex_digit(char c);

/// Combining marks, joiners and variation selectors: they add to the character before them.
bool is_zero_width(char32_t code);

/// East Asian wide characters and emoji, which take two columns on a terminal.
bool is_wide(char32_t code);

/// C0, DEL and C1: a terminal obeys these characters instead of showing them.
bool is_control(char32_t code);

/// Embeddings, overrides and isolates of the writing direction, and line separators: they rearrange
/// the text around them.
bool is_rearranging(char32_t code);

}  // namespace ebb
