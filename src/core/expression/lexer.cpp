#include "core/expression/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/expression/source.h"

namespace ebb::expression {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex_digit(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c);
}

bool is_quoted_name_part(char c) {
    return is_name_part(c) || c == '.' || c == '-' || c == '/' || c == ' ';
}

using Symbol = std::pair<std::string_view, TokenKind>;

// Longer symbols before their beginnings.
constexpr std::array<Symbol, 25> kSymbols = {{
    {"&&", TokenKind::AndAnd},      {"||", TokenKind::OrOr},      {"==", TokenKind::Equal},
    {"!=", TokenKind::NotEqual},    {"<=", TokenKind::LessEqual}, {">=", TokenKind::GreaterEqual},
    {"<", TokenKind::Less},         {">", TokenKind::Greater},    {"!", TokenKind::Not},
    {"(", TokenKind::LeftParen},    {")", TokenKind::RightParen}, {"[", TokenKind::LeftBracket},
    {"]", TokenKind::RightBracket}, {"{", TokenKind::LeftBrace},  {"}", TokenKind::RightBrace},
    {",", TokenKind::Comma},        {".", TokenKind::Dot},        {":", TokenKind::Colon},
    {"?", TokenKind::Question},     {"+", TokenKind::Plus},       {"-", TokenKind::Minus},
    {"*", TokenKind::Star},         {"/", TokenKind::Slash},      {"%", TokenKind::Percent},
    {"", TokenKind::End},
}};

/// What is meant by a symbol that other languages have.
std::string_view remedy(char c) {
    switch (c) {
        case '=':
            return " Equality is written \"==\".";
        case '&':
            return " The logical and is written \"&&\".";
        case '|':
            return " The logical or is written \"||\".";
        case '$':
            return " ${...} is written in templates only; leave it out here.";
        case '`':
            return " A name in backticks follows a dot: steps.`a-b`.";
        default:
            return "";
    }
}

}  // namespace

char Lexer::peek(std::size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
}

void Lexer::fail(std::size_t at, const std::string& message) const {
    throw_at(source_, at, message);
}

Token Lexer::token(TokenKind kind, std::size_t length) {
    const std::size_t begin = std::exchange(at_, at_ + length);
    return {
        kind,
        source_.substr(begin, length),
        static_cast<std::uint32_t>(begin),
    };
}

void Lexer::skip_blanks() {
    while (at_ < source_.size()) {
        const char c = peek();
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
            ++at_;
        } else if (c == '/' && peek(1) == '/') {
            at_ = std::min(source_.find('\n', at_), source_.size());
        } else {
            return;
        }
    }
}

Token Lexer::next() {
    skip_blanks();
    if (at_ == source_.size()) return token(TokenKind::End, 0);
    const char c = peek();
    if (c == '"' || c == '\'') return string(0);
    if (is_name_start(c)) {
        const std::size_t prefix = string_prefix();
        return prefix > 0 ? string(prefix) : name();
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '`') return quoted_name();
    return symbol();
}

/// The letters of `r"..."` and `b"..."`; 0 when no string begins here.
std::size_t Lexer::string_prefix() const {
    std::size_t length = 0;
    while (length < 2 && std::string_view("rRbB").find(peek(length)) != std::string_view::npos &&
           peek(length) != '\0') {
        ++length;
    }
    return length > 0 && (peek(length) == '"' || peek(length) == '\'') ? length : 0;
}

Token Lexer::name() {
    std::size_t length = 1;
    while (is_name_part(peek(length))) ++length;
    const std::string_view text = source_.substr(at_, length);
    if (text == "true") return token(TokenKind::True, length);
    if (text == "false") return token(TokenKind::False, length);
    if (text == "null") return token(TokenKind::Null, length);
    if (text == "in") return token(TokenKind::In, length);
    return token(TokenKind::Name, length);
}

Token Lexer::quoted_name() {
    std::size_t length = 1;
    while (is_quoted_name_part(peek(length))) ++length;
    if (length == 1 || peek(length) != '`') {
        fail(
            at_,
            "A name in backticks has letters, digits, spaces and \"_ . - /\", and ends with a "
            "backtick."
        );
    }
    return token(TokenKind::QuotedName, length + 1);
}

Token Lexer::number() {
    std::size_t length = 0;
    TokenKind kind = TokenKind::Int;
    const auto digits = [&] {
        while (is_digit(peek(length))) ++length;
    };
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex_digit(peek(2))) {
        length = 2;
        while (is_hex_digit(peek(length))) ++length;
    } else {
        digits();
        if (peek(length) == '.' && is_digit(peek(length + 1))) {
            kind = TokenKind::Double;
            ++length;
            digits();
        }
        const bool has_sign = peek(length + 1) == '+' || peek(length + 1) == '-';
        if ((peek(length) == 'e' || peek(length) == 'E') &&
            is_digit(peek(length + (has_sign ? 2 : 1)))) {
            kind = TokenKind::Double;
            length += has_sign ? 2 : 1;
            digits();
        }
    }
    if (kind == TokenKind::Int && (peek(length) == 'u' || peek(length) == 'U')) {
        kind = TokenKind::Uint;
        ++length;
    }
    if (is_name_part(peek(length))) {
        fail(at_, fmt::format("A number cannot be followed by \"{}\".", peek(length)));
    }
    return token(kind, length);
}

Token Lexer::string(std::size_t prefix) {
    const std::string_view letters = source_.substr(at_, prefix);
    if (letters.find_first_of("bB") != std::string_view::npos) {
        fail(at_, "Bytes literals are not supported, as JSON has no bytes; write a string.");
    }
    const bool is_raw = prefix > 0;
    const char quote = peek(prefix);
    const bool is_triple = peek(prefix + 1) == quote && peek(prefix + 2) == quote;
    const std::size_t fence = is_triple ? 3 : 1;
    std::size_t length = prefix + fence;
    const auto is_closed = [&] {
        return peek(length) == quote &&
               (!is_triple || (peek(length + 1) == quote && peek(length + 2) == quote));
    };
    while (at_ + length < source_.size() && !is_closed()) {
        const char c = peek(length);
        if (!is_triple && (c == '\n' || c == '\r')) break;
        length += c == '\\' && !is_raw ? 2 : 1;
    }
    if (at_ + length >= source_.size() || !is_closed()) {
        fail(
            at_,
            fmt::format("The string that begins here has no closing {}.", std::string(fence, quote))
        );
    }
    return token(TokenKind::String, length + fence);
}

Token Lexer::symbol() {
    const std::string_view rest = source_.substr(at_);
    const auto* const found = std::find_if(kSymbols.begin(), kSymbols.end(), [&](const Symbol& s) {
        return rest.starts_with(s.first);
    });
    if (!found->first.empty()) return token(found->second, found->first.size());
    std::size_t length = 1;
    while ((static_cast<unsigned char>(peek(length)) & 0xC0) == 0x80) ++length;
    fail(
        at_,
        fmt::format(
            "The character \"{}\" has no meaning here.{}", rest.substr(0, length), remedy(rest[0])
        )
    );
}

bool is_reserved(std::string_view name) {
    static constexpr std::array<std::string_view, 17> kReserved = {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    };
    return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
}

std::string describe(const Token& token) {
    if (token.kind == TokenKind::End) return "the end";
    return fmt::format("\"{}\"", shortened(token.text, 40));
}

}  // namespace ebb::expression
