#include "core/expression/source.h"

#include <algorithm>

#include "core/expression/expression.h"

namespace ebb::expression {

namespace {

unsigned char byte(char c) {
    return static_cast<unsigned char>(c);
}

bool is_continuation(char c) {
    return (byte(c) & 0xC0) == 0x80;
}

/// The bytes of the sequence that begins with `first`; 0 when none may.
std::size_t sequence_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

/// Overlong forms, surrogates and what lies above U+10FFFF show in the second byte.
bool is_second_byte(unsigned char first, unsigned char second) {
    if (first == 0xE0) return second >= 0xA0;
    if (first == 0xED) return second <= 0x9F;
    if (first == 0xF0) return second >= 0x90;
    if (first == 0xF4) return second <= 0x8F;
    return true;
}

}  // namespace

Place place_of(std::string_view source, std::size_t offset) {
    Place place;
    for (std::size_t i = 0; i < std::min(offset, source.size()); ++i) {
        if (source[i] == '\n') {
            ++place.line;
            place.column = 1;
        } else if (!is_continuation(source[i])) {
            ++place.column;
        }
    }
    return place;
}

std::size_t offset_of(std::string_view source, const Place& place) {
    std::size_t at = 0;
    for (int line = 1; line < place.line && at < source.size(); ++line) {
        at = std::min(source.find('\n', at), source.size() - 1) + 1;
    }
    for (int column = 1; column < place.column && at < source.size(); ++column) {
        do ++at;
        while (at < source.size() && is_continuation(source[at]));
    }
    return at;
}

void throw_at(
    std::string_view source, std::size_t offset, const std::string& message, std::string_view meant
) {
    const Place place = place_of(source, offset);
    throw ExpressionError(
        message, std::string(source), place.line, place.column, std::string(meant)
    );
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return !is_continuation(c);
    }));
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return std::string(text);
    std::size_t end = bytes_max;
    while (end > 0 && is_continuation(text[end])) --end;
    return std::string(text.substr(0, end)) + "...";
}

std::size_t find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = sequence_length(byte(text[at]));
        if (length == 0 || at + length > text.size()) return at;
        for (std::size_t i = 1; i < length; ++i) {
            if (!is_continuation(text[at + i])) return at;
        }
        if (length > 1 && !is_second_byte(byte(text[at]), byte(text[at + 1]))) return at;
        at += length;
    }
    return std::string_view::npos;
}

}  // namespace ebb::expression
