#include "core/predicate/lexer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/code.h"
#include "support/unicode.h"

namespace ebb::predicate {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool begins_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_name(char c) {
    return begins_name(c) || is_digit(c);
}

int digit_of(char c, int base) {
    int value = base;
    if (is_digit(c)) value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
    return value < base ? value : -1;
}

/// What other languages write for an operator of SQL.
std::string meant_by(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
        {"==", "="},
        {"===", "="},
        {"!==", "<>"},
        {"=<", "<="},
        {"=>", ">="},
        {"&&", "AND"},
        {"!", "NOT"}
    };
    for (const auto& [other, meant] : kOthers) {
        if (other == text) return fmt::format(" Did you mean {}?", meant);
    }
    return {};
}

}  // namespace

LexedToken Lexer::finish(TokenKind kind, std::string text, std::size_t offset) {
    return {.kind = kind, .text = std::move(text), .offset = offset, .end = at_};
}

LexedToken Lexer::next() {
    while (at_ < source_.size() && (peek() == ' ' || (peek() >= '\t' && peek() <= '\r'))) ++at_;
    const std::size_t offset = at_;
    if (at_ == source_.size()) return finish(TokenKind::End, {}, offset);
    if ((peek() == '-' && peek(1) == '-') || (peek() == '/' && peek(1) == '*')) {
        throw_at(source_, at_, "A condition cannot contain comments.");
    }
    if ((peek() == 'e' || peek() == 'E') && peek(1) == '\'') {
        ++at_;
        return quoted(offset, true);
    }
    if (peek() == '\'') return quoted(offset, false);
    if (peek() == '"') return quoted_name(offset);
    if (peek() == '$') return dollar_quoted(offset);
    if (begins_name(peek())) return name(offset);
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number(offset);
    return symbol(offset);
}

LexedToken Lexer::name(std::size_t offset) {
    std::string text;
    while (continues_name(peek())) {
        const char c = source_[at_++];
        text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    if (peek() == '\'' || peek() == '$' || (peek() == '&' && text == "u")) {
        throw_at(source_, offset, "Only '...', E'...' and $$...$$ are literals here.");
    }
    return finish(TokenKind::Name, std::move(text), offset);
}

LexedToken Lexer::number(std::size_t offset) {
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
        ++at_;
        while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
        if (is_digit(peek(sign))) {
            at_ += sign;
            while (is_digit(peek())) ++at_;
        }
    }
    if (continues_name(peek())) {
        throw_at(source_, at_, "A number cannot be followed by a letter.");
    }
    return finish(TokenKind::Number, source_.substr(offset, at_ - offset), offset);
}

LexedToken Lexer::symbol(std::size_t offset) {
    // PostgreSQL takes the longest run of these characters for one operator.
    constexpr std::string_view kOperatorBytes = "+-*/<>=~!@#%^&|`?";
    std::size_t length = 0;
    while (kOperatorBytes.find(peek(length)) != std::string_view::npos && peek(length) != '\0') {
        ++length;
    }
    // A run cannot end in a sign, unless it has one of the rarer characters.
    const auto run = std::string_view(source_).substr(at_, length);
    const bool is_rare = run.find_first_of("~!@#%^&|`?") != std::string_view::npos;
    while (length > 1 && !is_rare && (run[length - 1] == '+' || run[length - 1] == '-')) --length;
    constexpr std::string_view kSingles = "(),:[].;";
    if (length == 0 && kSingles.find(peek()) != std::string_view::npos) length = 1;
    if (peek() == ':' && peek(1) == ':') length = 2;
    constexpr std::string_view kKnown[] = {
        "+",
        "-",
        "*",
        "/",
        "%",
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "!=",
        "(",
        ")",
        ",",
        "::",
        "->>",
        "||"
    };
    const std::string text = source_.substr(at_, std::max<std::size_t>(length, 1));
    if (std::find(std::begin(kKnown), std::end(kKnown), text) == std::end(kKnown)) {
        throw_at(
            source_,
            at_,
            fmt::format(
                "\"{}\" is not an operator of conditions; allowed are = <> != < <= > >= + - * / % "
                "|| ->> ::.{}",
                static_cast<unsigned char>(text[0]) < 0x80 ? text : std::string("?"),
                meant_by(text)
            )
        );
    }
    at_ += length;
    return finish(TokenKind::Symbol, text, offset);
}

std::uint32_t Lexer::digits_of_escape(int base, int digits_max) {
    std::uint32_t value = 0;
    int count = 0;
    while (count < digits_max && digit_of(peek(), base) >= 0) {
        value = value * static_cast<std::uint32_t>(base) +
                static_cast<std::uint32_t>(digit_of(source_[at_++], base));
        ++count;
    }
    const bool must_be_full = base == 16 && digits_max > 2;
    if (count == 0 || (must_be_full && count < digits_max)) {
        throw_at(source_, at_, "The escape needs more hexadecimal digits.");
    }
    return value;
}

void Lexer::append_escape(std::string& text) {
    const std::size_t offset = at_;
    const char c = source_[at_++];
    const auto code_point = [&](std::uint32_t value, std::uint32_t max) {
        const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
        if (value == 0 || value > max || is_surrogate) {
            throw_at(source_, offset, "The escape does not stand for a character.");
        }
        append_utf8(text, value);
    };
    switch (c) {
        case 'b':
            text += '\b';
            return;
        case 'f':
            text += '\f';
            return;
        case 'n':
            text += '\n';
            return;
        case 'r':
            text += '\r';
            return;
        case 't':
            text += '\t';
            return;
        case 'u':
            return code_point(digits_of_escape(16, 4), 0xFFFF);
        case 'U':
            return code_point(digits_of_escape(16, 8), 0x10FFFF);
        case 'x':
            if (digit_of(peek(), 16) < 0) break;
            return code_point(digits_of_escape(16, 2), 0x7F);
        default:
            break;
    }
    if (c >= '0' && c <= '7') {
        --at_;
        return code_point(digits_of_escape(8, 3), 0x7F);
    }
    text += c;
}

LexedToken Lexer::quoted(std::size_t offset, bool has_escapes) {
    std::string text;
    ++at_;
    while (true) {
        if (at_ == source_.size()) throw_at(source_, offset, "The text literal has no end.");
        const char c = source_[at_++];
        if (c == '\'') {
            if (peek() != '\'') break;
            text += source_[at_++];
        } else if (c == '\\' && has_escapes) {
            if (at_ == source_.size()) throw_at(source_, offset, "The text literal has no end.");
            append_escape(text);
        } else {
            text += c;
        }
    }
    return finish(TokenKind::Text, std::move(text), offset);
}

LexedToken Lexer::quoted_name(std::size_t offset) {
    const std::size_t end = source_.find('"', at_ + 1);
    if (end == std::string::npos) throw_at(source_, offset, "The quoted name has no end.");
    std::string text = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return finish(TokenKind::QuotedName, std::move(text), offset);
}

LexedToken Lexer::dollar_quoted(std::size_t offset) {
    std::size_t tag_end = at_ + 1;
    const auto in_tag = [&] {
        if (tag_end >= source_.size()) return false;
        const char c = source_[tag_end];
        return tag_end == at_ + 1 ? begins_name(c) : continues_name(c);
    };
    while (in_tag()) ++tag_end;
    if (tag_end >= source_.size() || source_[tag_end] != '$') {
        throw_at(source_, offset, "\"$\" begins a text literal only as $$...$$ or $tag$...$tag$.");
    }
    const std::string tag = source_.substr(at_, tag_end + 1 - at_);
    const std::size_t end = source_.find(tag, tag_end + 1);
    if (end == std::string::npos) throw_at(source_, offset, "The text literal has no end.");
    std::string text = source_.substr(tag_end + 1, end - tag_end - 1);
    at_ = end + tag.size();
    return finish(TokenKind::Text, std::move(text), offset);
}

}  // namespace ebb::predicate
