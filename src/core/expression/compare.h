#pragma once

#include <compare>
#include <optional>

#include "core/expression/value.h"

namespace ebb::expression {

class Context;

/// The order of two numbers, strings, bools, timestamps or durations; empty when CEL has none for
/// these types. NaN is unordered. Numbers of different types compare by value; where an int or uint
/// meets a double, as double (as the conformance suite wants it).
std::optional<std::partial_ordering> order(const Value& a, const Value& b);

/// CEL's equality: values of different types are different, numbers compare by value, lists and
/// maps by their elements. Every element visited costs a step. Failures are not compared.
bool equal(Context& context, const Value& a, const Value& b);

}  // namespace ebb::expression
