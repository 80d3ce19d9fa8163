#include "core/expression/compare.h"

#include <cmath>

#include "core/expression/context.h"

namespace ebb::expression {

namespace {

std::partial_ordering order_int_uint(std::int64_t a, std::uint64_t b) {
    if (a < 0) return std::partial_ordering::less;
    return static_cast<std::uint64_t>(a) <=> b;
}

std::partial_ordering order_int_double(std::int64_t a, double b) {
    if (b < -0x1p63) return std::partial_ordering::greater;
    if (b > 0x1p63) return std::partial_ordering::less;
    return static_cast<double>(a) <=> b;
}

std::partial_ordering order_uint_double(std::uint64_t a, double b) {
    if (b < 0) return std::partial_ordering::greater;
    if (b > 0x1p64) return std::partial_ordering::less;
    return static_cast<double>(a) <=> b;
}

std::partial_ordering order_numbers(const Value& a, const Value& b) {
    if (a.kind == b.kind) {
        if (a.is(Kind::Int)) return a.integer <=> b.integer;
        if (a.is(Kind::Uint)) return a.natural <=> b.natural;
        return a.number <=> b.number;
    }
    if (a.is(Kind::Int)) {
        if (b.is(Kind::Uint)) return order_int_uint(a.integer, b.natural);
        return order_int_double(a.integer, b.number);
    }
    if (a.is(Kind::Uint) && b.is(Kind::Double)) return order_uint_double(a.natural, b.number);
    // The other way round: 0 <=> x turns an order over.
    return 0 <=> order_numbers(b, a);
}

bool equal_at(Context& context, const Value& a, const Value& b, int depth);

bool equal_lists(Context& context, const Value& a, const Value& b, int depth) {
    const std::size_t size = list_size(a);
    if (size != list_size(b)) return false;
    for (std::size_t i = 0; i < size; ++i) {
        if (!equal_at(context, list_at(a, i), list_at(b, i), depth)) return false;
    }
    return true;
}

bool equal_maps(Context& context, const Value& a, const Value& b, int depth) {
    if (map_size(a) != map_size(b)) return false;
    for (MapCursor at(a); !at.is_done(); at.next()) {
        const auto other = map_find(b, at.key());
        if (!other || !equal_at(context, at.value(), *other, depth)) return false;
    }
    return true;
}

bool equal_at(Context& context, const Value& a, const Value& b, int depth) {
    context.charge(1);
    context.check_value_depth(depth);
    if (a.is(Kind::String) && b.is(Kind::String)) {
        if (a.extra != b.extra) return false;
        context.charge_bytes(a.extra);
        return a.string() == b.string();
    }
    if (a.is_list() && b.is_list()) return equal_lists(context, a, b, depth + 1);
    if (a.is_map() && b.is_map()) return equal_maps(context, a, b, depth + 1);
    if (a.is(Kind::Null) && b.is(Kind::Null)) return true;
    const auto ordering = order(a, b);
    return ordering && *ordering == 0;
}

}  // namespace

std::optional<std::partial_ordering> order(const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) return order_numbers(a, b);
    if (a.kind != b.kind) return std::nullopt;
    switch (a.kind) {
        case Kind::Bool:
            return a.boolean <=> b.boolean;
        case Kind::String:
            return a.string() <=> b.string();
        case Kind::Duration:
            return a.integer <=> b.integer;
        case Kind::Timestamp:
            if (a.integer != b.integer) return a.integer <=> b.integer;
            return a.extra <=> b.extra;
        default:
            return std::nullopt;
    }
}

bool equal(Context& context, const Value& a, const Value& b) {
    return equal_at(context, a, b, 0);
}

}  // namespace ebb::expression
