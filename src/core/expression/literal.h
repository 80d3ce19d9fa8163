#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/expression/lexer.h"
#include "core/expression/value.h"

namespace ebb::expression {

/// A literal's value, or why it has none.
struct Literal {
    Value value = null_value();
    std::string problem;         ///< empty when `value` is good
    std::size_t problem_at = 0;  ///< relative to the token
};

/// The value of an Int, Uint or Double token; `is_negative` when a minus sign stands before it.
Literal number_literal(const Token& token, bool is_negative);

/// The value of a String token: a part of the token's text when it has no escapes, else written to
/// `unescaped`, which the value points into.
Literal string_literal(const Token& token, std::string& unescaped);

/// Reads the whole of `text` as a decimal double; also `NaN`, `Infinity`, `-Infinity`. Numbers too
/// small for a double become zero. Empty if it is not a number or too large for a double.
std::optional<double> parse_double(std::string_view text);

}  // namespace ebb::expression
