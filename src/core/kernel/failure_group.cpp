// Which failures have the same cause, as far as their text tells.

#include <algorithm>

#include <fmt/format.h>

#include "core/kernel/effects.h"
#include "support/sha256.h"

namespace ebb {

namespace {

/// A word of so many hexadecimal digits is a hash or an id.
constexpr std::size_t kHexMin = 8;
constexpr std::size_t kGroupDigits = 16;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

bool is_quote(char c) {
    return c == '"' || c == '\'' || c == '`';
}

/// What stands for one word.
std::string placeholder(std::string_view word) {
    const auto is_hex_or_dash = [](char c) { return is_hex(c) || c == '-'; };
    const bool has_digit = std::any_of(word.begin(), word.end(), is_digit);
    if (!has_digit) return std::string(word);
    if (word.size() >= kHexMin && std::all_of(word.begin(), word.end(), is_hex_or_dash)) {
        return "<id>";
    }
    std::string text;
    for (std::size_t at = 0; at < word.size();) {
        if (!is_digit(word[at])) {
            text += word[at++];
            continue;
        }
        text += "<n>";
        while (at < word.size() && is_digit(word[at])) ++at;
    }
    return text;
}

/// Behind the quoted text that begins at `at`; npos where none does: an apostrophe within a word
/// opens and closes nothing.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
    if (at > 0 && is_word(text[at - 1])) return std::string_view::npos;
    for (std::size_t end = text.find(text[at], at + 1); end != std::string_view::npos;
         end = text.find(text[at], end + 1)) {
        if (end + 1 == text.size() || !is_word(text[end + 1])) return end + 1;
    }
    return std::string_view::npos;
}

bool begins_path(std::string_view text, std::size_t at) {
    return text[at] == '/' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
}

}  // namespace

std::string normalized_message(std::string_view text) {
    std::string normal;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t quoted =
            is_quote(text[at]) ? end_of_quoted(text, at) : std::string_view::npos;
        if (quoted != std::string_view::npos) {
            normal += "<text>";
            at = quoted;
        } else if (begins_path(text, at)) {
            normal += "<path>";
            at = std::min(text.find_first_of(" ),", at), text.size());
        } else if (is_word(text[at])) {
            std::size_t end = at;
            while (end < text.size() && is_word(text[end])) ++end;
            normal += placeholder(text.substr(at, end - at));
            at = end;
        } else {
            normal += text[at++];
        }
    }
    return normal;
}

std::string failure_group(
    std::string_view workflow,
    std::string_view step,
    std::string_view code,
    std::string_view message
) {
    return sha256_hex(
               fmt::format("{}\n{}\n{}\n{}", workflow, step, code, normalized_message(message))
    )
        .substr(0, kGroupDigits);
}

}  // namespace ebb
