#include <algorithm>

#include "core/predicate/evaluator.h"

namespace ebb::predicate {

namespace {

std::size_t character_length(std::string_view text, std::size_t at) {
    std::size_t length = 1;
    while (at + length < text.size() &&
           (static_cast<unsigned char>(text[at + length]) & 0xC0) == 0x80) {
        ++length;
    }
    return length;
}

/// What a pattern says at one place: a character, any one (`_`), or any number of them (`%`).
struct Piece {
    enum class Kind { Character, AnyOne, Any };

    Kind kind;
    std::string_view text;
};

Piece piece_at(std::string_view pattern, std::size_t& at, std::string_view escape) {
    std::size_t length = character_length(pattern, at);
    std::string_view text = pattern.substr(at, length);
    at += length;
    if (!escape.empty() && text == escape && at < pattern.size()) {
        length = character_length(pattern, at);
        text = pattern.substr(at, length);
        at += length;
        return {Piece::Kind::Character, text};
    }
    if (text == "%") return {Piece::Kind::Any, text};
    return {text == "_" ? Piece::Kind::AnyOne : Piece::Kind::Character, text};
}

}  // namespace

bool is_like(std::string_view text, std::string_view pattern, std::string_view escape) {
    std::size_t at = 0;
    std::size_t in_pattern = 0;
    // Where to continue when a guess of how much the last `%` takes was wrong.
    std::size_t retry_text = std::string_view::npos;
    std::size_t retry_pattern = 0;
    while (at < text.size() || in_pattern < pattern.size()) {
        if (in_pattern < pattern.size()) {
            std::size_t next = in_pattern;
            const Piece piece = piece_at(pattern, next, escape);
            if (piece.kind == Piece::Kind::Any) {
                retry_text = at;
                retry_pattern = next;
                in_pattern = next;
                continue;
            }
            if (at < text.size()) {
                const std::size_t length = character_length(text, at);
                const bool fits =
                    piece.kind == Piece::Kind::AnyOne || text.substr(at, length) == piece.text;
                if (fits) {
                    at += length;
                    in_pattern = next;
                    continue;
                }
            }
        }
        if (retry_text == std::string_view::npos || retry_text >= text.size()) return false;
        retry_text += character_length(text, retry_text);
        at = retry_text;
        in_pattern = retry_pattern;
    }
    return true;
}

bool has_open_escape(std::string_view pattern, std::string_view escape) {
    if (escape.empty()) return false;
    for (std::size_t at = 0; at < pattern.size();) {
        const std::size_t length = character_length(pattern, at);
        const bool is_escape = pattern.substr(at, length) == escape;
        at += length;
        if (!is_escape) continue;
        if (at >= pattern.size()) return true;
        at += character_length(pattern, at);
    }
    return false;
}

std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

}  // namespace ebb::predicate
