#include "core/predicate/evaluator.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/expression/source.h"
#include "core/predicate/json_values.h"

namespace ebb::predicate {

Value Evaluator::of_text(std::string text) {
    texts_.push_back(std::move(text));
    return {.is_null = false, .text = texts_.back()};
}

Value Evaluator::of_numeric(Numeric value) {
    numerics_.push_back(std::move(value));
    return {.is_null = false, .numeric = &numerics_.back()};
}

void Evaluator::fail(const CodeNode& node, std::string message) const {
    throw_at(code_.source, node.offset, std::move(message));
}

namespace {

template <typename T>
int sign_of(const T& a, const T& b) {
    return a < b ? -1 : (b < a ? 1 : 0);
}

int compare_reals(double a, double b) {
    // NaN equals itself and is greater than all others.
    if (std::isnan(a) || std::isnan(b)) return sign_of(std::isnan(a), std::isnan(b));
    return sign_of(a, b);
}

Value negated(bool negates, Value value) {
    if (negates && !value.is_null) value.integer = value.integer == 0 ? 1 : 0;
    return value;
}

bool satisfies(Op op, int order) {
    switch (op) {
        case Op::Equal:
            return order == 0;
        case Op::NotEqual:
            return order != 0;
        case Op::Less:
            return order < 0;
        case Op::LessOrEqual:
            return order <= 0;
        case Op::Greater:
            return order > 0;
        default:
            return order >= 0;
    }
}

}  // namespace

int compare_values(Type type, const Value& a, const Value& b) {
    switch (type) {
        case Type::Numeric:
            return sign_of(*a.numeric, *b.numeric);
        case Type::Double:
            return compare_reals(a.real, b.real);
        case Type::Unknown:
        case Type::Text:
        case Type::Uuid:
        case Type::Json:
        case Type::Interval:
            return sign_of(a.text.compare(b.text), 0);
        case Type::Boolean:
        case Type::Int4:
        case Type::Int8:
        case Type::Timestamp:
        case Type::Date:
            return sign_of(a.integer, b.integer);
    }
    return 0;
}

Value Evaluator::evaluate(NodeId id) {
    const CodeNode& node = code_.node(id);
    switch (node.op) {
        case Op::Constant:
            return view_of(code_.constant(node));
        case Op::Column:
            return view_of(row_[static_cast<std::size_t>(node.index)]);
        case Op::And:
        case Op::Or:
        case Op::Equal:
        case Op::NotEqual:
        case Op::Less:
        case Op::LessOrEqual:
        case Op::Greater:
        case Op::GreaterOrEqual: {
            const std::optional<bool> value = truth(id);
            return value ? of(*value) : Value{};
        }
        case Op::IsNull:
        case Op::IsNotNull:
            return of(operand(node, 0).is_null == (node.op == Op::IsNull));
        case Op::IsTrue:
        case Op::IsNotTrue: {
            const Value value = operand(node, 0);
            return of((!value.is_null && value.integer != 0) == (node.op == Op::IsTrue));
        }
        case Op::IsFalse:
        case Op::IsNotFalse: {
            const Value value = operand(node, 0);
            return of((!value.is_null && value.integer == 0) == (node.op == Op::IsFalse));
        }
        case Op::IsDistinct:
        case Op::IsNotDistinct:
            return distinctness(node);
        case Op::In:
        case Op::NotIn:
            return membership(node);
        case Op::Between:
        case Op::NotBetween:
            return between(node);
        case Op::Case:
        case Op::Coalesce:
        case Op::NullIf:
            return choice(node);
        case Op::Greatest:
        case Op::Least:
            return extreme(node);
        default:
            return strict(node);
    }
}

std::optional<bool> Evaluator::truth(NodeId id) {
    const CodeNode& node = code_.node(id);
    switch (node.op) {
        case Op::And:
        case Op::Or:
            return logic(node);
        case Op::Equal:
        case Op::NotEqual:
        case Op::Less:
        case Op::LessOrEqual:
        case Op::Greater:
        case Op::GreaterOrEqual:
            return comparison(node);
        default: {
            const Value value = evaluate(id);
            if (value.is_null) return std::nullopt;
            return value.integer != 0;
        }
    }
}

std::optional<bool> Evaluator::logic(const CodeNode& node) {
    const bool decisive = node.op == Op::Or;
    bool is_unknown = false;
    for (std::int32_t i = 0; i < node.count; ++i) {
        const std::optional<bool> value = truth(code_.operand(node, i));
        if (value == decisive) return decisive;
        is_unknown = is_unknown || !value;
    }
    if (is_unknown) return std::nullopt;
    return !decisive;
}

const Datum* Evaluator::given(NodeId id) const {
    const CodeNode& node = code_.node(id);
    if (node.op == Op::Column) return &row_[static_cast<std::size_t>(node.index)];
    return node.op == Op::Constant ? &code_.constant(node) : nullptr;
}

std::optional<bool> Evaluator::comparison(const CodeNode& node) {
    const Datum* const left = given(code_.operand(node, 0));
    const Datum* const right = given(code_.operand(node, 1));
    // Both are computed, even if one is NULL, because either may fail.
    const Value a = left != nullptr ? view_of(*left) : operand(node, 0);
    const Value b = right != nullptr ? view_of(*right) : operand(node, 1);
    if (a.is_null || b.is_null) return std::nullopt;
    return satisfies(node.op, compare_values(operand_type(node, 0), a, b));
}

Value Evaluator::distinctness(const CodeNode& node) {
    const Value a = operand(node, 0);
    const Value b = operand(node, 1);
    bool is_same = a.is_null && b.is_null;
    if (!a.is_null && !b.is_null) is_same = compare_values(operand_type(node, 0), a, b) == 0;
    return of(is_same == (node.op == Op::IsNotDistinct));
}

Value Evaluator::membership(const CodeNode& node) {
    const Value wanted = operand(node, 0);
    bool is_found = false;
    bool is_unknown = wanted.is_null;
    for (std::int32_t i = 1; i < node.count && !is_found; ++i) {
        const Value value = operand(node, i);
        is_unknown = is_unknown || value.is_null;
        is_found = !wanted.is_null && !value.is_null &&
                   compare_values(operand_type(node, 0), wanted, value) == 0;
    }
    if (!is_found && is_unknown) return {};
    return of(is_found == (node.op == Op::In));
}

Value Evaluator::between(const CodeNode& node) {
    // `operands` holds the two comparisons that it stands for.
    const Value least = operand(node, 0);
    if (!least.is_null && least.integer == 0) return of(node.op == Op::NotBetween);
    const Value most = operand(node, 1);
    const bool is_outside = !most.is_null && most.integer == 0;
    if (!is_outside && (least.is_null || most.is_null)) return {};
    return of(is_outside == (node.op == Op::NotBetween));
}

Value Evaluator::choice(const CodeNode& node) {
    if (node.op == Op::Coalesce) {
        Value value;
        for (std::int32_t i = 0; i < node.count && value.is_null; ++i) value = operand(node, i);
        return value;
    }
    if (node.op == Op::NullIf) {
        // The operands are the value and the comparison.
        const Value is_equal = operand(node, 1);
        return !is_equal.is_null && is_equal.integer != 0 ? Value{} : operand(node, 0);
    }
    for (std::int32_t i = 0; i + 1 < node.count; i += 2) {
        const Value condition = operand(node, i);
        if (!condition.is_null && condition.integer != 0) return operand(node, i + 1);
    }
    return node.count % 2 == 1 ? operand(node, node.count - 1) : Value{};
}

Value Evaluator::extreme(const CodeNode& node) {
    Value best;
    for (std::int32_t i = 0; i < node.count; ++i) {
        const Value value = operand(node, i);
        if (value.is_null) continue;
        const int order = best.is_null ? 0 : compare_values(node.type, value, best);
        const bool is_better = node.op == Op::Greatest ? order > 0 : order < 0;
        if (best.is_null || is_better) best = value;
    }
    return best;
}

Value Evaluator::strict(const CodeNode& node) {
    constexpr std::int32_t kOperandsMax = 3;
    std::array<Value, kOperandsMax> values;
    for (std::int32_t i = 0; i < node.count; ++i) {
        values[static_cast<std::size_t>(i)] = operand(node, i);
    }
    for (std::int32_t i = 0; i < node.count; ++i) {
        if (values[static_cast<std::size_t>(i)].is_null) return {};
    }
    const Value& a = values[0];
    const Value& b = values[1];
    switch (node.op) {
        case Op::Not:
            return negated(true, a);
        case Op::Like:
        case Op::NotLike:
            return of(is_like(a.text, b.text, values[2].text) == (node.op == Op::Like));
        case Op::ILike:
        case Op::NotILike: {
            const bool is_alike =
                is_like(ascii_lower(a.text), ascii_lower(b.text), ascii_lower(values[2].text));
            return of(is_alike == (node.op == Op::ILike));
        }
        case Op::Negate:
            return negate(*this, node, a);
        case Op::Concat: {
            if (a.text.size() + b.text.size() > PredicateLimits::kTextBytesMax) {
                fail(node, "The text becomes longer than 1 MiB.");
            }
            return of_text(std::string(a.text).append(b.text));
        }
        case Op::JsonText: {
            JsonMember member = json_member(a.text, b.text);
            if (member.is_too_long) fail(node, "A number of the JSON document is too long.");
            return member.is_null ? Value{} : of_text(std::move(member.text));
        }
        case Op::Cast:
            return cast(*this, node, operand_type(node, 0), a);
        case Op::Call:
            return call(
                *this,
                node,
                operand_type(node, 0),
                std::span<const Value>(values).first(static_cast<std::size_t>(node.count))
            );
        default:
            return calculate(*this, node, a, b);
    }
}

}  // namespace ebb::predicate
