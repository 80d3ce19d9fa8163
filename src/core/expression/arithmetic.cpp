#include <limits>

#include "core/expression/operators.h"
#include "core/expression/time_text.h"

namespace ebb::expression {

namespace {

std::string_view symbol(Op op) {
    switch (op) {
        case Op::Add:
            return "+";
        case Op::Subtract:
            return "-";
        case Op::Multiply:
            return "*";
        case Op::Divide:
            return "/";
        default:
            return "%";
    }
}

Value fail_operands(Context& context, Op op, const Value& a, const Value& b) {
    return context.fail_types(fmt::format("The operator {}", symbol(op)), a, b);
}

template <typename Integer>
struct Computed {
    Integer value = 0;
    bool overflows = false;
};

template <typename Integer>
Computed<Integer> compute(Op op, Integer a, Integer b) {
    Computed<Integer> result;
    switch (op) {
        case Op::Add:
            result.overflows = __builtin_add_overflow(a, b, &result.value);
            break;
        case Op::Subtract:
            result.overflows = __builtin_sub_overflow(a, b, &result.value);
            break;
        case Op::Multiply:
            result.overflows = __builtin_mul_overflow(a, b, &result.value);
            break;
        default:
            // The least int has no positive counterpart.
            result.overflows = std::numeric_limits<Integer>::is_signed &&
                               a == std::numeric_limits<Integer>::min() &&
                               b == static_cast<Integer>(-1);
            if (!result.overflows) result.value = op == Op::Divide ? a / b : a % b;
    }
    return result;
}

template <typename Integer>
Value integers(Context& context, Op op, Integer a, Integer b) {
    const bool is_signed = std::numeric_limits<Integer>::is_signed;
    if (b == 0 && op == Op::Divide) return context.fail("{} is divided by zero.", a);
    if (b == 0 && op == Op::Modulo) return context.fail("{} % 0 is undefined.", a);
    const auto result = compute(op, a, b);
    if (result.overflows) {
        return context.fail(
            "{} {} {} is outside of the range of {}.", a, symbol(op), b, is_signed ? "int" : "uint"
        );
    }
    if constexpr (std::numeric_limits<Integer>::is_signed) return int_value(result.value);
    if constexpr (!std::numeric_limits<Integer>::is_signed) return uint_value(result.value);
}

Value doubles(Context& context, Op op, const Value& a, const Value& b) {
    switch (op) {
        case Op::Add:
            return double_value(a.number + b.number);
        case Op::Subtract:
            return double_value(a.number - b.number);
        case Op::Multiply:
            return double_value(a.number * b.number);
        case Op::Divide:
            return double_value(a.number / b.number);
        default:
            return context.fail("The operator % is defined for int and uint, not for double.");
    }
}

Value joined_text(Context& context, const Value& a, const Value& b) {
    context.check_bytes(std::size_t{a.extra} + b.extra);
    std::string text;
    text.reserve(std::size_t{a.extra} + b.extra);
    text.append(a.string()).append(b.string());
    return context.text(text);
}

Value joined_lists(Context& context, const Value& a, const Value& b) {
    const std::size_t size = list_size(a) + list_size(b);
    context.check_elements(size);
    context.charge(static_cast<std::int64_t>(size));
    List* list = context.new_list(size);
    for (std::size_t i = 0; i < list_size(a); ++i) list->items.push_back(list_at(a, i));
    for (std::size_t i = 0; i < list_size(b); ++i) list->items.push_back(list_at(b, i));
    return list_value(list);
}

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

/// `nanoseconds` may have either sign; those of the moment are made to count forwards.
Value moved_moment(Context& context, const Value& moment, std::int64_t nanoseconds, bool is_back) {
    std::int64_t seconds = nanoseconds / kNanosPerSecond;
    std::int64_t rest = nanoseconds % kNanosPerSecond;
    if (is_back) {
        seconds = -seconds;
        rest = -rest;
    }
    rest += moment.extra;
    seconds += moment.integer;
    if (rest < 0) {
        rest += kNanosPerSecond;
        --seconds;
    } else if (rest >= kNanosPerSecond) {
        rest -= kNanosPerSecond;
        ++seconds;
    }
    const Moment moved{.seconds = seconds, .nanoseconds = static_cast<std::int32_t>(rest)};
    if (!is_in_range(moved)) {
        return context.fail("The resulting timestamp is outside of the years 1 to 9999.");
    }
    return timestamp_value(moved.seconds, moved.nanoseconds);
}

Value fail_duration(Context& context) {
    return context.fail("The resulting duration is longer than 292 years.");
}

Value between(Context& context, const Value& a, const Value& b) {
    std::int64_t nanoseconds = 0;
    const std::int64_t rest = std::int64_t{a.extra} - std::int64_t{b.extra};
    if (__builtin_mul_overflow(a.integer - b.integer, kNanosPerSecond, &nanoseconds) ||
        __builtin_add_overflow(nanoseconds, rest, &nanoseconds)) {
        return fail_duration(context);
    }
    return duration_value(nanoseconds);
}

Value durations(Context& context, Op op, const Value& a, const Value& b) {
    const auto result = compute(op, a.integer, b.integer);
    return result.overflows ? fail_duration(context) : duration_value(result.value);
}

/// Additions and subtractions of timestamps and durations.
Value times(Context& context, Op op, const Value& a, const Value& b) {
    const bool is_sum = op == Op::Add;
    if (a.is(Kind::Timestamp) && b.is(Kind::Duration)) {
        return moved_moment(context, a, b.integer, !is_sum);
    }
    if (a.is(Kind::Duration) && b.is(Kind::Duration)) return durations(context, op, a, b);
    if (a.is(Kind::Timestamp) && b.is(Kind::Timestamp) && !is_sum) return between(context, a, b);
    if (a.is(Kind::Duration) && b.is(Kind::Timestamp) && is_sum) {
        return moved_moment(context, b, a.integer, false);
    }
    return fail_operands(context, op, a, b);
}

}  // namespace

Value arithmetic(Context& context, Op op, const Value& a, const Value& b) {
    if (a.is(Kind::Failure)) return a;
    if (b.is(Kind::Failure)) return b;
    if (a.kind == b.kind) {
        if (a.is(Kind::Int)) return integers(context, op, a.integer, b.integer);
        if (a.is(Kind::Uint)) return integers(context, op, a.natural, b.natural);
        if (a.is(Kind::Double)) return doubles(context, op, a, b);
        if (a.is(Kind::String) && op == Op::Add) return joined_text(context, a, b);
    }
    if (op == Op::Add && a.is_list() && b.is_list()) return joined_lists(context, a, b);
    const bool are_times = (a.is(Kind::Timestamp) || a.is(Kind::Duration)) &&
                           (b.is(Kind::Timestamp) || b.is(Kind::Duration));
    if (are_times && (op == Op::Add || op == Op::Subtract)) return times(context, op, a, b);
    if (op == Op::Add && (a.is(Kind::String) || b.is(Kind::String))) {
        return context.fail(
            "The operator + does not join {} and {}; make a string of it with string().",
            a_type(a),
            a_type(b)
        );
    }
    return fail_operands(context, op, a, b);
}

Value negate(Context& context, const Value& value) {
    if (value.is(Kind::Failure)) return value;
    if (value.is(Kind::Double)) return double_value(-value.number);
    if (!value.is(Kind::Int)) {
        return context.fail("The sign - needs an int or a double, but this is {}.", a_type(value));
    }
    if (value.integer == INT64_MIN) {
        return context.fail("-({}) is outside of the range of int.", value.integer);
    }
    return int_value(-value.integer);
}

}  // namespace ebb::expression
