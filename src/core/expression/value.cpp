#include "core/expression/value.h"

#include <algorithm>
#include <cmath>

#include "support/clock.h"

namespace ebb::expression {

namespace {

std::int64_t count_characters(std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
}

template <typename A, typename B>
Ordering order(const A& a, const B& b) {
    if (a < b) return Ordering::Less;
    return b < a ? Ordering::Greater : Ordering::Equal;
}

Ordering reverse(Ordering ordering) {
    if (ordering == Ordering::Less) return Ordering::Greater;
    return ordering == Ordering::Greater ? Ordering::Less : ordering;
}

Ordering order_int_uint(std::int64_t a, std::uint64_t b) {
    return a < 0 ? Ordering::Less : order(static_cast<std::uint64_t>(a), b);
}

/// A double against an integer without losing digits: 2^53 + 1 is greater than 2^53.
template <typename Integer>
Ordering order_double_integer(double a, Integer b) {
    if (std::isnan(a)) return Ordering::Unordered;
    constexpr double kAbove =
        static_cast<double>(std::uint64_t{1} << 63) * (std::is_signed_v<Integer> ? 1 : 2);
    if (a >= kAbove) return Ordering::Greater;
    if (a < (std::is_signed_v<Integer> ? -kAbove : 0.0)) return Ordering::Less;
    const double whole = std::floor(a);
    const Ordering by_whole = order(static_cast<Integer>(whole), b);
    return by_whole == Ordering::Equal && a > whole ? Ordering::Greater : by_whole;
}

Ordering order_numbers(const Value& a, const Value& b) {
    return std::visit(
        [](const auto& x, const auto& y) -> Ordering {
            using X = std::decay_t<decltype(x)>;
            using Y = std::decay_t<decltype(y)>;
            constexpr bool kNumbers = std::is_arithmetic_v<X> && std::is_arithmetic_v<Y> &&
                                      !std::is_same_v<X, bool> && !std::is_same_v<Y, bool>;
            if constexpr (!kNumbers) {
                return Ordering::Incomparable;
            } else if constexpr (std::is_same_v<X, double> && std::is_same_v<Y, double>) {
                return std::isnan(x) || std::isnan(y) ? Ordering::Unordered : order(x, y);
            } else if constexpr (std::is_same_v<X, double>) {
                return order_double_integer(x, y);
            } else if constexpr (std::is_same_v<Y, double>) {
                return reverse(order_double_integer(y, x));
            } else if constexpr (std::is_same_v<X, Y>) {
                return order(x, y);
            } else if constexpr (std::is_same_v<X, std::int64_t>) {
                return order_int_uint(x, y);
            } else {
                return reverse(order_int_uint(y, x));
            }
        },
        a.kind,
        b.kind
    );
}

bool equal_lists(const Value& a, const Value& b) {
    const auto size = size_of(a);
    if (size != size_of(b)) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
        if (!equals(element(a, i), element(b, i))) return false;
    }
    return true;
}

bool equal_maps(const Value& a, const Value& b) {
    const auto size = size_of(a);
    if (size != size_of(b)) return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
        const auto [key, value] = entry(a, i);
        const auto other = lookup(b, key);
        if (!other || !equals(value, *other)) return false;
    }
    return true;
}

}  // namespace

Value Value::of(const Json& json) {
    switch (json.type()) {
        case Json::value_t::boolean:
            return {json.get<bool>()};
        case Json::value_t::number_integer:
            return {json.get<std::int64_t>()};
        case Json::value_t::number_unsigned: {
            const auto number = json.get<std::uint64_t>();
            if (number <= static_cast<std::uint64_t>(INT64_MAX))
                return {static_cast<std::int64_t>(number)};
            return {number};
        }
        case Json::value_t::number_float:
            return {json.get<double>()};
        case Json::value_t::string:
        case Json::value_t::array:
        case Json::value_t::object:
            return {&json};
        case Json::value_t::null:
        case Json::value_t::binary:
        case Json::value_t::discarded:
            return {Null{}};
    }
    return {Null{}};
}

std::optional<std::string_view> Value::as_text() const {
    if (const Text* text = as<Text>()) return std::string_view(**text);
    if (const auto* json = as<const Json*>(); json != nullptr && (*json)->is_string()) {
        return std::string_view((*json)->get_ref<const std::string&>());
    }
    return std::nullopt;
}

bool Value::is_list() const {
    const auto* json = as<const Json*>();
    return json != nullptr ? (*json)->is_array() : as<std::shared_ptr<const Items>>() != nullptr;
}

bool Value::is_map() const {
    const auto* json = as<const Json*>();
    return json != nullptr ? (*json)->is_object() : as<std::shared_ptr<const Entries>>() != nullptr;
}

bool Value::is_number() const {
    return as<std::int64_t>() != nullptr || as<std::uint64_t>() != nullptr ||
           as<double>() != nullptr;
}

std::string_view type_name(const Value& value) {
    if (value.as_text()) return "string";
    if (value.is_list()) return "list";
    if (value.is_map()) return "map";
    if (value.as<bool>() != nullptr) return "bool";
    if (value.as<std::int64_t>() != nullptr) return "int";
    if (value.as<std::uint64_t>() != nullptr) return "uint";
    if (value.as<double>() != nullptr) return "double";
    if (value.as<TimePoint>() != nullptr) return "timestamp";
    if (value.as<Duration>() != nullptr) return "duration";
    return "null";
}

std::int64_t size_of(const Value& value) {
    if (const auto text = value.as_text()) return count_characters(*text);
    if (const auto* json = value.as<const Json*>())
        return static_cast<std::int64_t>((*json)->size());
    if (const auto* list = value.as<std::shared_ptr<const Items>>())
        return static_cast<std::int64_t>((*list)->size());
    if (const auto* map = value.as<std::shared_ptr<const Entries>>())
        return static_cast<std::int64_t>((*map)->size());
    return -1;
}

Value element(const Value& list, std::size_t index) {
    if (const auto* json = list.as<const Json*>()) return Value::of((**json)[index]);
    return (**list.as<std::shared_ptr<const Items>>())[index];
}

std::pair<Value, Value> entry(const Value& map, std::size_t index) {
    if (const auto* json = map.as<const Json*>()) {
        const auto at = std::next((*json)->begin(), static_cast<std::ptrdiff_t>(index));
        return {Value::text(at.key()), Value::of(at.value())};
    }
    return (**map.as<std::shared_ptr<const Entries>>())[index];
}

std::optional<Value> lookup(const Value& map, const Value& key) {
    if (const auto* json = map.as<const Json*>()) {
        const auto name = key.as_text();
        if (!name) return std::nullopt;
        const auto found = (*json)->find(std::string(*name));
        if (found == (*json)->end()) return std::nullopt;
        return Value::of(*found);
    }
    for (const auto& [known, value] : **map.as<std::shared_ptr<const Entries>>()) {
        if (equals(known, key)) return value;
    }
    return std::nullopt;
}

bool equals(const Value& a, const Value& b) {
    if (a.is_list() && b.is_list()) return equal_lists(a, b);
    if (a.is_map() && b.is_map()) return equal_maps(a, b);
    if (a.as<Null>() != nullptr && b.as<Null>() != nullptr) return true;
    return compare(a, b) == Ordering::Equal;
}

Ordering compare(const Value& a, const Value& b) {
    const auto x = a.as_text();
    const auto y = b.as_text();
    if (x && y) return order(*x, *y);
    if (a.as<bool>() != nullptr && b.as<bool>() != nullptr)
        return order(*a.as<bool>(), *b.as<bool>());
    if (a.as<TimePoint>() != nullptr && b.as<TimePoint>() != nullptr) {
        return order(*a.as<TimePoint>(), *b.as<TimePoint>());
    }
    if (a.as<Duration>() != nullptr && b.as<Duration>() != nullptr)
        return order(*a.as<Duration>(), *b.as<Duration>());
    return order_numbers(a, b);
}

namespace {

std::string key_text(const Value& key) {
    if (const auto text = key.as_text()) return std::string(*text);
    return to_json(key).dump();
}

}  // namespace

Json to_json(const Value& value) {
    if (const auto text = value.as_text()) return std::string(*text);
    if (const auto* json = value.as<const Json*>()) return **json;
    if (const auto* flag = value.as<bool>()) return *flag;
    if (const auto* number = value.as<std::int64_t>()) return *number;
    if (const auto* number = value.as<std::uint64_t>()) return *number;
    if (const auto* number = value.as<double>())
        return std::isfinite(*number) ? Json(*number) : Json(nullptr);
    if (const auto* time = value.as<TimePoint>()) return format_time(*time);
    if (const auto* duration = value.as<Duration>()) return format_duration(*duration);
    if (const auto* list = value.as<std::shared_ptr<const Items>>()) {
        Json array = Json::array();
        for (const Value& item : **list) array.push_back(to_json(item));
        return array;
    }
    if (const auto* map = value.as<std::shared_ptr<const Entries>>()) {
        Json object = Json::object();
        for (const auto& [key, item] : **map) object[key_text(key)] = to_json(item);
        return object;
    }
    return nullptr;
}

}  // namespace ebb::expression
