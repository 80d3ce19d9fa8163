#pragma once

#include <string>
#include <string_view>

#include "core/expression/value.h"

namespace ebb::expression {

struct Lexeme {
    enum class Kind { End, Name, Literal, Symbol };

    Kind kind = Kind::End;
    std::string text;  ///< of a name or symbol
    Value literal;
    int line = 1;
    int column = 1;
};

/// Cuts a source text into lexemes, one at a time. Throws ExpressionError with the place of what it
/// cannot read.
class Lexer {
 public:
    explicit Lexer(const std::string& source) : source_(source) {}

    Lexeme next();
    [[noreturn]] void fail(const std::string& message, int line, int column) const;

 private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }

    void advance();
    void skip_space();
    Lexeme name_or_prefixed();
    Lexeme number();
    Lexeme text(bool is_raw);
    void escape(std::string& out);
    std::uint32_t hex_digits(int count);

    const std::string& source_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
};

void append_utf8(std::string& out, std::uint32_t code_point);

}  // namespace ebb::expression
