#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>
#include <ebb/time.h>

// The values of the expression language: CEL's types. JSON documents are walked by reference and
// never copied whole.

namespace ebb::expression {

struct Value;
using Items = std::vector<Value>;
/// In the order of the source; keys are unique.
using Entries = std::vector<std::pair<Value, Value>>;

struct Null {
    bool operator==(const Null&) const = default;
};

struct Value {
    using Text = std::shared_ptr<const std::string>;
    using Kind = std::variant<
        Null,
        bool,
        std::int64_t,
        std::uint64_t,
        double,
        Text,
        const Json*,
        std::shared_ptr<const Items>,
        std::shared_ptr<const Entries>,
        TimePoint,
        Duration>;

    Kind kind;

    static Value text(std::string text) {
        return {std::make_shared<const std::string>(std::move(text))};
    }

    static Value list(Items items) { return {std::make_shared<const Items>(std::move(items))}; }

    static Value map(Entries entries) {
        return {std::make_shared<const Entries>(std::move(entries))};
    }

    /// A view of `json`, which must outlive the value; scalars are taken out at once.
    static Value of(const Json& json);

    template <typename Type>
    const Type* as() const {
        return std::get_if<Type>(&kind);
    }

    std::optional<std::string_view> as_text() const;
    bool is_list() const;
    bool is_map() const;
    bool is_number() const;
};

/// `null`, `bool`, `int`, `uint`, `double`, `string`, `list`, `map`, `timestamp`, `duration`.
std::string_view type_name(const Value& value);

/// Elements of a list, entries of a map, characters of a string; -1 for everything else.
std::int64_t size_of(const Value& value);
Value element(const Value& list, std::size_t index);
/// Entry number `index` of a map.
std::pair<Value, Value> entry(const Value& map, std::size_t index);
/// The value of a key; empty when the map has none.
std::optional<Value> lookup(const Value& map, const Value& key);

/// CEL's equality: numbers compare by their mathematical value whatever their type; other types
/// never equal each other.
bool equals(const Value& a, const Value& b);

enum class Ordering { Less, Equal, Greater, Unordered, Incomparable };
Ordering compare(const Value& a, const Value& b);

/// Timestamps and durations become text; maps get text keys.
Json to_json(const Value& value);

}  // namespace ebb::expression
