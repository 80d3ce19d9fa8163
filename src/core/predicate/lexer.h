#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::predicate {

enum class TokenKind : std::uint8_t {
    End,
    Name,        ///< `text` is in lower case
    QuotedName,  ///< "Name": `text` as it stands
    Text,        ///< 'text', E'text', $$text$$: `text` is the content
    Number,
    Symbol,
};

struct LexedToken {
    TokenKind kind = TokenKind::End;
    std::string text;
    std::size_t offset = 0;
    std::size_t end = 0;
};

/// Cuts a condition into tokens as PostgreSQL does. Comments are not allowed. Throws
/// PredicateError.
class Lexer {
 public:
    explicit Lexer(const std::string& source) : source_(source) {}

    LexedToken next();

 private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    LexedToken finish(TokenKind kind, std::string text, std::size_t offset);
    LexedToken name(std::size_t offset);
    LexedToken number(std::size_t offset);
    LexedToken symbol(std::size_t offset);
    LexedToken quoted(std::size_t offset, bool has_escapes);
    LexedToken quoted_name(std::size_t offset);
    LexedToken dollar_quoted(std::size_t offset);
    void append_escape(std::string& text);
    std::uint32_t digits_of_escape(int base, int digits_max);

    const std::string& source_;
    std::size_t at_ = 0;
};

}  // namespace ebb::predicate
