#include "core/expression/lexer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include <fmt/format.h>

#include "core/expression/expression.h"

namespace ebb::expression {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_name_start(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c);
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t c) {
    const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
    if (c < 0x80) {
        byte(c);
    } else if (c < 0x800) {
        byte(0xC0 | c >> 6);
        byte(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        byte(0xE0 | c >> 12);
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    } else {
        byte(0xF0 | c >> 18);
        byte(0x80 | (c >> 12 & 0x3F));
        byte(0x80 | (c >> 6 & 0x3F));
        byte(0x80 | (c & 0x3F));
    }
}

void Lexer::fail(const std::string& message, int line, int column) const {
    throw ExpressionError(message, source_, line, column);
}

void Lexer::advance() {
    if (peek() == '\n') {
        ++line_;
        column_ = 1;
    } else if ((static_cast<unsigned char>(peek()) & 0xC0) != 0x80) {
        ++column_;
    }
    ++at_;
}

void Lexer::skip_space() {
    while (at_ < source_.size()) {
        const char c = peek();
        if (c == '/' && peek(1) == '/') {
            while (at_ < source_.size() && peek() != '\n') advance();
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            advance();
        } else {
            return;
        }
    }
}

Lexeme Lexer::next() {
    skip_space();
    const int line = line_;
    const int column = column_;
    Lexeme lexeme;
    if (at_ >= source_.size()) {
        lexeme.kind = Lexeme::Kind::End;
    } else if (is_name_start(peek())) {
        lexeme = name_or_prefixed();
    } else if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) {
        lexeme = number();
    } else if (peek() == '"' || peek() == '\'') {
        lexeme = text(false);
    } else {
        static constexpr std::array<std::string_view, 6> kPairs{"&&", "||", "==", "!=", "<=", ">="};
        lexeme.kind = Lexeme::Kind::Symbol;
        lexeme.text = std::string(1, peek());
        for (const std::string_view pair : kPairs) {
            if (source_.compare(at_, 2, pair) == 0) lexeme.text = pair;
        }
        static constexpr std::string_view kSingles = "()[]{}.,:?+-*/%!<>";
        if (lexeme.text.size() == 1 && kSingles.find(lexeme.text) == std::string_view::npos) {
            const unsigned char c = static_cast<unsigned char>(lexeme.text[0]);
            fail(
                c < 0x20 || c >= 0x7F
                    ? fmt::format(
                          "The byte 0x{:02x} has no place in an expression outside of a string.", c
                      )
                    : fmt::format("\"{}\" has no meaning in an expression.", lexeme.text),
                line,
                column
            );
        }
        for (std::size_t i = 0; i < lexeme.text.size(); ++i) advance();
    }
    lexeme.line = line;
    lexeme.column = column;
    return lexeme;
}

Lexeme Lexer::name_or_prefixed() {
    const char first = peek();
    const char second = peek(1);
    const bool is_raw = first == 'r' || first == 'R';
    const bool is_bytes = first == 'b' || first == 'B';
    if (is_bytes && (second == '"' || second == '\'')) {
        fail(
            "Bytes are not supported: JSON has none. Write a string without the b.", line_, column_
        );
    }
    if (is_raw && (second == '"' || second == '\'')) {
        advance();
        return text(true);
    }
    Lexeme lexeme{.kind = Lexeme::Kind::Name};
    while (is_name_part(peek())) {
        lexeme.text += peek();
        advance();
    }
    if (lexeme.text == "true" || lexeme.text == "false") {
        lexeme.kind = Lexeme::Kind::Literal;
        lexeme.literal = {lexeme.text == "true"};
    } else if (lexeme.text == "null") {
        lexeme.kind = Lexeme::Kind::Literal;
        lexeme.literal = {Null{}};
    }
    return lexeme;
}

Lexeme Lexer::number() {
    const int line = line_;
    const int column = column_;
    std::string digits;
    const auto take = [&] {
        digits += peek();
        advance();
    };
    const bool is_hexadecimal =
        peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex(peek(2));
    bool is_double = false;
    if (is_hexadecimal) {
        advance();
        advance();
        while (is_hex(peek())) take();
    } else {
        while (is_digit(peek())) take();
        if (peek() == '.' && is_digit(peek(1))) {
            is_double = true;
            take();
            while (is_digit(peek())) take();
        }
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
            is_double = true;
            for (std::size_t i = 0; i < 1 + sign; ++i) take();
            while (is_digit(peek())) take();
        }
    }
    Lexeme lexeme{.kind = Lexeme::Kind::Literal};
    const char* end = digits.data() + digits.size();
    if (is_double) {
        double value = 0;
        std::from_chars(
            digits[0] == '.' ? (digits.insert(0, "0"), digits.data()) : digits.data(),
            digits.data() + digits.size(),
            value
        );
        if (!std::isfinite(value))
            fail(fmt::format("{} is too large for a double.", digits), line, column);
        lexeme.literal = {value};
        return lexeme;
    }
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), end, value, is_hexadecimal ? 16 : 10);
    const bool is_unsigned = peek() == 'u' || peek() == 'U';
    if (is_unsigned) advance();
    if (is_name_part(peek()))
        fail(fmt::format("\"{}\" cannot follow a number.", peek()), line_, column_);
    // 2^63 stays a uint here; the parser lets it pass only behind a minus.
    const std::uint64_t most = is_unsigned ? UINT64_MAX : std::uint64_t{1} << 63;
    if (parsed.ec != std::errc() || value > most) {
        fail(
            fmt::format("{} is too large for {}.", digits, is_unsigned ? "a uint" : "an int"),
            line,
            column
        );
    }
    if (is_unsigned) {
        lexeme.literal = {value};
        lexeme.text = "u";
    } else if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
        lexeme.literal = {static_cast<std::int64_t>(value)};
    } else {
        lexeme.literal = {value};
        lexeme.text = "minimum";
    }
    return lexeme;
}

Lexeme Lexer::text(bool is_raw) {
    const int line = line_;
    const int column = column_;
    const char quote = peek();
    const bool is_triple = peek(1) == quote && peek(2) == quote;
    for (int i = 0; i < (is_triple ? 3 : 1); ++i) advance();
    std::string out;
    while (true) {
        if (at_ >= source_.size()) fail("The string has no end.", line, column);
        const char c = peek();
        if (c == quote && (!is_triple || (peek(1) == quote && peek(2) == quote))) break;
        if (!is_triple && (c == '\n' || c == '\r')) {
            fail(
                "A string ends on its own line; use triple quotes for several lines.", line, column
            );
        }
        if (c == '\\' && !is_raw) {
            escape(out);
        } else {
            out += c;
            advance();
        }
    }
    for (int i = 0; i < (is_triple ? 3 : 1); ++i) advance();
    Lexeme lexeme{.kind = Lexeme::Kind::Literal};
    lexeme.literal = Value::text(std::move(out));
    return lexeme;
}

std::uint32_t Lexer::hex_digits(int count) {
    const int line = line_;
    const int column = column_;
    std::string digits;
    while (static_cast<int>(digits.size()) < count && is_hex(peek())) {
        digits += peek();
        advance();
    }
    std::uint32_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (static_cast<int>(digits.size()) != count || value > 0x10FFFF || is_surrogate) {
        fail(
            fmt::format("The escape needs {} hexadecimal digits of a Unicode character.", count),
            line,
            column
        );
    }
    return value;
}

void Lexer::escape(std::string& out) {
    const int line = line_;
    const int column = column_;
    advance();
    const char c = peek();
    static constexpr std::string_view kNames = "abfnrtv\\?\"'`";
    static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\?\"'`";
    if (const auto at = kNames.find(c); c != '\0' && at != std::string_view::npos) {
        out += kValues[at];
        advance();
    } else if (c == 'u' || c == 'U' || c == 'x' || c == 'X') {
        advance();
        append_utf8(out, hex_digits(c == 'u' ? 4 : c == 'U' ? 8 : 2));
    } else if (c >= '0' && c <= '3') {
        std::uint32_t value = 0;
        for (int i = 0; i < 3; ++i) {
            if (peek() < '0' || peek() > '7')
                fail("An octal escape has three digits.", line, column);
            value = value * 8 + static_cast<std::uint32_t>(peek() - '0');
            advance();
        }
        append_utf8(out, value);
    } else {
        fail(
            "Unknown escape in a string; known are \\n \\t \\\" \\\\ \\uXXXX and the others of "
            "CEL.",
            line,
            column
        );
    }
}

}  // namespace ebb::expression
