#include "core/predicate/types.h"

#include <array>
#include <utility>

namespace ebb::predicate {

std::string_view to_string(Type type) {
    constexpr std::array<std::string_view, 12> kNames{
        "unknown",
        "boolean",
        "integer",
        "bigint",
        "numeric",
        "double precision",
        "text",
        "timestamptz",
        "date",
        "uuid",
        "jsonb",
        "interval",
    };
    return kNames[static_cast<std::size_t>(type)];
}

std::string_view spoken(Type type) {
    switch (type) {
        case Type::Int8:
            return "integer";
        case Type::Double:
            return "double";
        case Type::Timestamp:
            return "timestamp";
        case Type::Json:
            return "json";
        default:
            return to_string(type);
    }
}

std::optional<Type> parse_type(std::string_view name) {
    constexpr std::array<std::pair<std::string_view, Type>, 20> kTypes{{
        {"bool", Type::Boolean},
        {"boolean", Type::Boolean},
        {"int", Type::Int4},
        {"int4", Type::Int4},
        {"integer", Type::Int4},
        {"int8", Type::Int8},
        {"bigint", Type::Int8},
        {"numeric", Type::Numeric},
        {"decimal", Type::Numeric},
        {"float8", Type::Double},
        {"double precision", Type::Double},
        {"text", Type::Text},
        {"timestamp", Type::Timestamp},
        {"timestamptz", Type::Timestamp},
        {"timestamp with time zone", Type::Timestamp},
        {"date", Type::Date},
        {"uuid", Type::Uuid},
        {"json", Type::Json},
        {"jsonb", Type::Json},
        {"interval", Type::Interval},
    }};
    for (const auto& [known, type] : kTypes) {
        if (known == name) return type;
    }
    return std::nullopt;
}

}  // namespace ebb::predicate
