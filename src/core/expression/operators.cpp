#include "core/expression/operators.h"

#include <algorithm>
#include <cmath>

#include "core/expression/compare.h"
#include "core/expression/describe.h"

namespace ebb::expression {

namespace {

std::string_view symbol(Op op) {
    switch (op) {
        case Op::Less:
            return "<";
        case Op::LessEqual:
            return "<=";
        case Op::Greater:
            return ">";
        case Op::GreaterEqual:
            return ">=";
        case Op::And:
            return "&&";
        default:
            return "||";
    }
}

bool is_key(const Value& value) {
    return value.is(Kind::String) || value.is(Kind::Bool) || value.is_number();
}

Value element_of(Context& context, const Value& list, const Value& key) {
    const std::size_t size = list_size(list);
    std::size_t at = size;
    if (key.is(Kind::Int)) {
        at = key.integer < 0 ? size : static_cast<std::size_t>(key.integer);
    } else if (key.is(Kind::Uint)) {
        at = key.natural;
    } else if (key.is(Kind::Double) && key.number == std::floor(key.number)) {
        at = key.number >= 0 && key.number < 0x1p53 ? static_cast<std::size_t>(key.number) : size;
    } else {
        return context.fail("The index of a list is a whole number, not {}.", key_text(key));
    }
    if (at < size) return list_at(list, at);
    if (size == 0) return context.fail("The list is empty: it has no index {}.", key_text(key));
    return context.fail(
        "The index {} is outside of the list, whose last is {}.", key_text(key), size - 1
    );
}

}  // namespace

Value relation(Context& context, Op op, const Value& a, const Value& b) {
    if (a.is(Kind::Failure)) return a;
    if (b.is(Kind::Failure)) return b;
    if (op == Op::Equal) return bool_value(equal(context, a, b));
    if (op == Op::NotEqual) return bool_value(!equal(context, a, b));
    if (a.is(Kind::String)) context.charge_bytes(std::min(a.extra, b.extra));
    const auto ordering = order(a, b);
    if (!ordering) {
        return context.fail(
            "The operator {} does not compare {} with {}.", symbol(op), a_type(a), a_type(b)
        );
    }
    switch (op) {
        case Op::Less:
            return bool_value(*ordering < 0);
        case Op::LessEqual:
            return bool_value(*ordering <= 0);
        case Op::Greater:
            return bool_value(*ordering > 0);
        default:
            return bool_value(*ordering >= 0);
    }
}

Value logical_not(Context& context, const Value& value) {
    if (value.is(Kind::Bool)) return bool_value(!value.boolean);
    if (value.is(Kind::Failure)) return value;
    return context.fail("The operator ! needs a bool, but this is {}.", a_type(value));
}

Value logical(Context& context, Op op, const Value& a, const Value& b) {
    const bool decisive = op == Op::Or;
    if (a.is(Kind::Bool) && a.boolean == decisive) return a;
    if (b.is(Kind::Bool) && b.boolean == decisive) return b;
    if (a.is(Kind::Failure)) return a;
    if (b.is(Kind::Failure)) return b;
    if (a.is(Kind::Bool) && b.is(Kind::Bool)) return a;
    return context.fail(
        "The operator {} needs two bools, but one is {}.",
        symbol(op),
        a_type(a.is(Kind::Bool) ? b : a)
    );
}

Value membership(Context& context, const Value& element, const Value& range) {
    if (element.is(Kind::Failure)) return element;
    if (range.is(Kind::Failure)) return range;
    if (range.is_map()) {
        if (!is_key(element)) return bool_value(false);
        return bool_value(map_find(range, element).has_value());
    }
    if (!range.is_list()) {
        return context.fail(
            "The operator in needs a list or a map on its right, but this is {}.", a_type(range)
        );
    }
    for (std::size_t i = 0; i < list_size(range); ++i) {
        if (equal(context, element, list_at(range, i))) return bool_value(true);
    }
    return bool_value(false);
}

Value field(Context& context, const Value& map, std::string_view name) {
    if (map.is(Kind::Failure)) return map;
    if (!map.is_map()) {
        return context.fail("The field \"{}\" needs a map, but this is {}.", name, a_type(map));
    }
    if (const auto found = map_find(map, name)) return *found;
    return context.fail_missing("field", map, string_value(name));
}

Value has_field(Context& context, const Value& map, std::string_view name) {
    if (map.is(Kind::Failure)) return map;
    if (!map.is_map()) {
        return context.fail(
            "has() asks for the field \"{}\" of a map, but this is {}.", name, a_type(map)
        );
    }
    return bool_value(map_find(map, name).has_value());
}

Value index(Context& context, const Value& range, const Value& key) {
    if (range.is(Kind::Failure)) return range;
    if (key.is(Kind::Failure)) return key;
    if (range.is_list()) return element_of(context, range, key);
    if (!range.is_map()) {
        return context.fail("An index needs a list or a map, but this is {}.", a_type(range));
    }
    if (!is_key(key)) {
        return context.fail(
            "The key of a map is a string, an int, a uint or a bool, not {}.", a_type(key)
        );
    }
    if (const auto found = map_find(range, key)) return *found;
    return context.fail_missing("key", range, key);
}

}  // namespace ebb::expression
