#include "support/json_cure.h"

#include <algorithm>
#include <array>

namespace ebb {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool stands_for_value(std::string_view word) {
    constexpr std::array<std::string_view, 9> kWords{
        "True", "False", "None", "NULL", "TRUE", "FALSE", "undefined", "NaN", "nil"
    };
    return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

constexpr std::string_view kBlanks = " \t\r\n";

/// The last character that is not blank, or U+0000.
char last_sign(std::string_view text) {
    const std::size_t last = text.find_last_not_of(kBlanks);
    return last == std::string_view::npos ? '\0' : text[last];
}

/// The word that has a letter at `at`.
std::string_view word_at(std::string_view text, std::size_t at) {
    std::size_t begin = at;
    while (begin > 0 && is_letter(text[begin - 1])) --begin;
    std::size_t end = at;
    while (end < text.size() && is_letter(text[end])) ++end;
    return text.substr(begin, end - begin);
}

}  // namespace

std::string_view json_cure(std::string_view text, std::size_t at) {
    if (at >= text.size()) return {};
    const char c = text[at];
    const bool is_end = c == ']' || c == '}';
    if (is_end && last_sign(text.substr(0, at)) == ',') return " Remove the comma before it.";
    if (c == '\'') return " Keys and texts stand in double quotes.";
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    const char last = at > 0 ? text[at - 1] : ' ';
    const bool is_comment = c == '#' || (c == '/' && (next == '/' || next == '*')) ||
                            ((c == '/' || c == '*') && last == '/');
    if (is_comment) return " JSON has no comments.";
    if (!is_letter(c)) return {};
    const std::string_view word = word_at(text, at);
    if (stands_for_value(word)) return " Write true, false or null.";
    const auto begin = static_cast<std::size_t>(word.data() - text.data());
    const char before = last_sign(text.substr(0, begin));
    const std::size_t after = text.find_first_not_of(kBlanks, begin + word.size());
    const bool is_key = after != std::string_view::npos && text[after] == ':';
    if (is_key && (before == '{' || before == ',')) return " Keys stand in double quotes.";
    const bool is_value = before == ':' || before == '[' || before == ',' || before == '\0';
    return is_value ? " Texts stand in double quotes." : "";
}

std::string json_fault(std::string_view what) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing
    // value - unexpected end of input; last read: '{'; expected string literal"
    std::string fault(what);
    if (const auto end = fault.find(": "); end != std::string::npos) fault.erase(0, end + 2);
    constexpr std::string_view kRead = "; last read: '";
    const auto read = fault.find(kRead);
    if (read == std::string::npos) return fault;
    const auto end = fault.rfind("'; expected ");
    const bool has_more = end != std::string::npos && end > read;
    fault.erase(read, has_more ? end + 1 - read : std::string::npos);
    return fault;
}

}  // namespace ebb
