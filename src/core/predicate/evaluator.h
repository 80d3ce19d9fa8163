#pragma once

#include <list>
#include <optional>
#include <span>
#include <string>

#include "core/predicate/code.h"

namespace ebb::predicate {

/// Evaluates the operations of a condition on one row. Texts and decimals that are computed live
/// as long as the evaluator.
class Evaluator {
 public:
    /// A null `row` is that of a constant expression.
    Evaluator(const Code& code, std::span<const Datum> row) : code_(code), row_(row) {}

    Value evaluate(NodeId id);
    /// The same of a condition; nothing where it is NULL. Conditions are mostly comparisons with a
    /// constant, joined by AND and OR: these cost no values on the way.
    std::optional<bool> truth(NodeId id);

    /// Throws PredicateError for the place of `node`.
    [[noreturn]] void fail(const CodeNode& node, std::string message) const;

    static Value of(bool value) { return {.is_null = false, .integer = value ? 1 : 0}; }

    static Value of_integer(std::int64_t value) { return {.is_null = false, .integer = value}; }

    static Value of_real(double value) { return {.is_null = false, .real = value}; }

    Value of_text(std::string text);
    Value of_numeric(Numeric value);

 private:
    std::optional<bool> logic(const CodeNode& node);
    std::optional<bool> comparison(const CodeNode& node);
    /// Of a column or a constant; null where the value must be computed.
    const Datum* given(NodeId id) const;
    Value membership(const CodeNode& node);
    Value between(const CodeNode& node);
    Value distinctness(const CodeNode& node);
    Value choice(const CodeNode& node);
    Value extreme(const CodeNode& node);
    Value strict(const CodeNode& node);

    Type operand_type(const CodeNode& node, std::int32_t i) const {
        return code_.node(code_.operand(node, i)).type;
    }

    Value operand(const CodeNode& node, std::int32_t i) { return evaluate(code_.operand(node, i)); }

    const Code& code_;
    std::span<const Datum> row_;
    // Lists, because an empty one allocates nothing: most conditions compute neither.
    std::list<std::string> texts_;
    std::list<Numeric> numerics_;
};

/// Below, equal or above 0, as PostgreSQL sorts; neither is null.
int compare_values(Type type, const Value& a, const Value& b);

// The operations whose result is NULL when an operand is.
Value calculate(Evaluator& evaluator, const CodeNode& node, const Value& a, const Value& b);
Value negate(Evaluator& evaluator, const CodeNode& node, const Value& a);
Value cast(Evaluator& evaluator, const CodeNode& node, Type from, const Value& a);
Value call(
    Evaluator& evaluator, const CodeNode& node, Type first, std::span<const Value> arguments
);

/// Whether `text` is like the pattern, by characters.
bool is_like(std::string_view text, std::string_view pattern, std::string_view escape);
/// Whether a pattern ends in its escape character, which is an error.
bool has_open_escape(std::string_view pattern, std::string_view escape);
std::string ascii_lower(std::string_view text);

}  // namespace ebb::predicate
