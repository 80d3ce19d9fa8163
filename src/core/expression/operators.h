#pragma once

#include "core/expression/code.h"
#include "core/expression/context.h"
#include "core/expression/value.h"

namespace ebb::expression {

// What the operators mean. Each gives a Failure when an operand is one.

/// Add, Subtract, Multiply, Divide or Modulo.
Value arithmetic(Context& context, Op op, const Value& a, const Value& b);
/// Equal, NotEqual, Less, LessEqual, Greater or GreaterEqual.
Value relation(Context& context, Op op, const Value& a, const Value& b);
Value negate(Context& context, const Value& value);
Value logical_not(Context& context, const Value& value);
/// `&&` and `||` of two values: an operand that decides absorbs an error of the other.
Value logical(Context& context, Op op, const Value& a, const Value& b);
/// Whether a list has the element, or a map the key.
Value membership(Context& context, const Value& element, const Value& range);

Value field(Context& context, const Value& map, std::string_view name);
Value has_field(Context& context, const Value& map, std::string_view name);
Value index(Context& context, const Value& range, const Value& key);

}  // namespace ebb::expression
