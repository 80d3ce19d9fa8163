#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::expression {

enum class TokenKind : std::uint8_t {
    End,
    Name,
    QuotedName,  ///< `a-b` in backticks, after a dot
    Int,
    Uint,
    Double,
    String,
    True,
    False,
    Null,
    In,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Dot,
    Colon,
    Question,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Not,
    AndAnd,
    OrOr,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;  ///< as it stands in the source
    std::uint32_t place = 0;
};

/// Cuts a source into tokens. Cheap to copy, which is how a parser looks ahead.
class Lexer {
 public:
    /// `source` must outlive the lexer and its tokens.
    explicit Lexer(std::string_view source, std::size_t at = 0) : source_(source), at_(at) {}

    /// Throws ExpressionError.
    Token next();

    std::size_t position() const { return at_; }

 private:
    void skip_blanks();
    Token name();
    Token number();
    Token string(std::size_t prefix);
    Token quoted_name();
    Token symbol();
    std::size_t string_prefix() const;
    Token token(TokenKind kind, std::size_t length);
    char peek(std::size_t ahead = 0) const;
    [[noreturn]] void fail(std::size_t at, const std::string& message) const;

    std::string_view source_;
    std::size_t at_;
};

/// Reserved by CEL: not a variable's name, but a field may be called so.
bool is_reserved(std::string_view name);

/// The token as a message shows it: `"+"`, `the end`.
std::string describe(const Token& token);

}  // namespace ebb::expression
