#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ebb::predicate {

/// The types of the condition language. An attribute has one of those that `is_attribute_type`
/// names; the others appear inside of conditions only.
enum class Type : std::uint8_t {
    Unknown,  ///< a quoted literal or NULL whose type the context gives
    Boolean,
    Int4,  ///< what `length`, a small literal and a cast to `integer` yield, as in PostgreSQL
    Int8,
    Numeric,
    Double,
    Text,
    Timestamp,  ///< with time zone, in microseconds
    Date,
    Uuid,
    Json,
    Interval,  ///< a constant that is added to a timestamp
};

/// The name that printed SQL uses: `bigint`, `timestamptz`, ...
std::string_view to_string(Type type);

/// The name that messages use, which is that of the type of an attribute: `integer`, `timestamp`...
std::string_view spoken(Type type);

/// Reads the name of a type as a cast has it (`int8`, `double precision` with one space, ...).
std::optional<Type> parse_type(std::string_view lower_case_name);

inline bool is_number(Type type) {
    return type == Type::Int4 || type == Type::Int8 || type == Type::Numeric ||
           type == Type::Double;
}

/// One attribute as conditions see it.
struct Column {
    std::string name;
    Type type = Type::Text;

    bool operator==(const Column&) const = default;
};

}  // namespace ebb::predicate
