#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "core/predicate/evaluator.h"
#include "core/predicate/time_values.h"

namespace ebb::predicate {

namespace {

std::string_view range_of(Type type) {
    if (type == Type::Int4) return "an integer of 32 bits";
    return type == Type::Int8 ? "an integer of 64 bits" : spoken(type);
}

[[noreturn]] void overflow(Evaluator& evaluator, const CodeNode& node) {
    evaluator.fail(node, fmt::format("The result is out of the range of {}.", range_of(node.type)));
}

[[noreturn]] void division_by_zero(Evaluator& evaluator, const CodeNode& node) {
    evaluator.fail(node, "Division by zero.");
}

bool fits(Type type, std::int64_t value) {
    return type != Type::Int4 || (value >= std::numeric_limits<std::int32_t>::min() &&
                                  value <= std::numeric_limits<std::int32_t>::max());
}

Value integer_result(Evaluator& evaluator, const CodeNode& node, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflows = false;
    switch (node.op) {
        case Op::Add:
            overflows = __builtin_add_overflow(a, b, &result);
            break;
        case Op::Subtract:
            overflows = __builtin_sub_overflow(a, b, &result);
            break;
        case Op::Multiply:
            overflows = __builtin_mul_overflow(a, b, &result);
            break;
        case Op::Divide:
            if (b == 0) division_by_zero(evaluator, node);
            overflows = b == -1 && a == std::numeric_limits<std::int64_t>::min();
            if (!overflows) result = a / b;
            break;
        default:
            if (b == 0) division_by_zero(evaluator, node);
            result = b == -1 ? 0 : a % b;
    }
    if (overflows || !fits(node.type, result)) overflow(evaluator, node);
    return Evaluator::of_integer(result);
}

Value real_result(Evaluator& evaluator, const CodeNode& node, double a, double b) {
    double result = 0;
    switch (node.op) {
        case Op::Add:
            result = a + b;
            break;
        case Op::Subtract:
            result = a - b;
            break;
        case Op::Multiply:
            result = a * b;
            if (result == 0.0 && a != 0.0 && b != 0.0) overflow(evaluator, node);
            break;
        default:
            if (b == 0.0 && !std::isnan(a)) division_by_zero(evaluator, node);
            result = a / b;
            if (result == 0.0 && a != 0.0 && !std::isinf(b)) overflow(evaluator, node);
            if (std::isinf(result) && !std::isinf(a)) overflow(evaluator, node);
            return Evaluator::of_real(result);
    }
    if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) overflow(evaluator, node);
    return Evaluator::of_real(result);
}

Value numeric_result(
    Evaluator& evaluator, const CodeNode& node, const Numeric& a, const Numeric& b
) {
    std::optional<Numeric> result;
    switch (node.op) {
        case Op::Add:
            result = add(a, b);
            break;
        case Op::Subtract:
            result = subtract(a, b);
            break;
        case Op::Multiply:
            result = multiply(a, b);
            break;
        case Op::Divide:
            if (b.is_zero()) division_by_zero(evaluator, node);
            result = divide(a, b);
            break;
        default:
            if (b.is_zero()) division_by_zero(evaluator, node);
            result = remainder(a, b);
    }
    if (!result) overflow(evaluator, node);
    return evaluator.of_numeric(*std::move(result));
}

Value time_result(Evaluator& evaluator, const CodeNode& node, const Value& a, const Value& b) {
    const int sign = node.op == Op::Add ? 1 : -1;
    const auto result = add_interval(a.integer, *b.interval, sign);
    if (!result) evaluator.fail(node, "The time is out of range; years are 1 to 9999.");
    return Evaluator::of_integer(*result);
}

Value date_result(Evaluator& evaluator, const CodeNode& node, const Value& a, const Value& b) {
    const std::int64_t result = node.op == Op::Add ? a.integer + b.integer : a.integer - b.integer;
    if (!is_date_in_range(result)) {
        evaluator.fail(node, "The date is out of range; years are 1 to 9999.");
    }
    return Evaluator::of_integer(result);
}

Value from_text(Evaluator& evaluator, const CodeNode& node, const Value& a) {
    ParsedDatum parsed = parse_datum(node.type, a.text);
    if (!parsed.fault.empty()) {
        constexpr std::size_t kShownMax = 60;
        evaluator.fail(
            node,
            fmt::format(
                "\"{}\" cannot be cast to {}; allowed is {}.",
                std::string(a.text.substr(0, kShownMax)),
                to_string(node.type),
                parsed.fault
            )
        );
    }
    if (node.type == Type::Numeric) return evaluator.of_numeric(std::move(parsed.datum.numeric));
    if (node.type == Type::Uuid) return evaluator.of_text(std::move(parsed.datum.text));
    return {.is_null = false, .integer = parsed.datum.integer, .real = parsed.datum.real};
}

Value to_integer(Evaluator& evaluator, const CodeNode& node, Type from, const Value& a) {
    std::optional<std::int64_t> result;
    if (from == Type::Double) {
        constexpr double kMax = 9223372036854775808.0;
        const double rounded = std::rint(a.real);
        if (rounded >= -kMax && rounded < kMax) result = static_cast<std::int64_t>(rounded);
    } else if (from == Type::Numeric) {
        result = a.numeric->to_integer();
    } else {
        result = a.integer;
    }
    if (!result || !fits(node.type, *result)) overflow(evaluator, node);
    return Evaluator::of_integer(*result);
}

Value to_real(Evaluator& evaluator, const CodeNode& node, Type from, const Value& a) {
    if (from != Type::Numeric) return Evaluator::of_real(static_cast<double>(a.integer));
    const double result = a.numeric->to_double();
    const bool is_lost = std::isinf(result) || (result == 0.0 && !a.numeric->is_zero());
    if (is_lost) overflow(evaluator, node);
    return Evaluator::of_real(result);
}

Value to_numeric(Evaluator& evaluator, const CodeNode& node, Type from, const Value& a) {
    if (from != Type::Double) return evaluator.of_numeric(Numeric::of(a.integer));
    auto result = Numeric::of(a.real);
    if (!result) evaluator.fail(node, "NaN and infinity cannot be cast to numeric.");
    return evaluator.of_numeric(*std::move(result));
}

}  // namespace

Value calculate(Evaluator& evaluator, const CodeNode& node, const Value& a, const Value& b) {
    switch (node.type) {
        case Type::Int4:
        case Type::Int8:
            return integer_result(evaluator, node, a.integer, b.integer);
        case Type::Double:
            return real_result(evaluator, node, a.real, b.real);
        case Type::Numeric:
            return numeric_result(evaluator, node, *a.numeric, *b.numeric);
        case Type::Timestamp:
            return time_result(evaluator, node, a, b);
        default:
            return date_result(evaluator, node, a, b);
    }
}

Value negate(Evaluator& evaluator, const CodeNode& node, const Value& a) {
    if (node.type == Type::Double) return Evaluator::of_real(-a.real);
    if (node.type == Type::Numeric) return evaluator.of_numeric(a.numeric->negated());
    const bool is_least = a.integer == std::numeric_limits<std::int64_t>::min();
    if (is_least || !fits(node.type, -a.integer)) overflow(evaluator, node);
    return Evaluator::of_integer(-a.integer);
}

Value cast(Evaluator& evaluator, const CodeNode& node, Type from, const Value& a) {
    if (from == Type::Text && node.type != Type::Text) return from_text(evaluator, node, a);
    switch (node.type) {
        case Type::Text:
            return evaluator.of_text(text_of(from, a));
        case Type::Boolean:
            return Evaluator::of(a.integer != 0);
        case Type::Int4:
        case Type::Int8:
            return to_integer(evaluator, node, from, a);
        case Type::Double:
            return to_real(evaluator, node, from, a);
        case Type::Numeric:
            return to_numeric(evaluator, node, from, a);
        case Type::Timestamp:
            return Evaluator::of_integer(a.integer * kMicrosecondsPerDay);
        case Type::Date:
            return Evaluator::of_integer(*date_of(a.integer));
        default:
            return a;
    }
}

}  // namespace ebb::predicate
