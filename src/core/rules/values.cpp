#include "core/rules/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/predicate/time_values.h"
#include "support/json.h"
#include "support/json_reader.h"

namespace ebb::rules {

using predicate::Datum;
using predicate::Type;

Type predicate_type(AttributeType type) {
    constexpr std::array<Type, 9> kTypes{
        Type::Text,
        Type::Boolean,
        Type::Int8,
        Type::Double,
        Type::Numeric,
        Type::Timestamp,
        Type::Date,
        Type::Uuid,
        Type::Json,
    };
    return kTypes[static_cast<std::size_t>(type)];
}

namespace {

Coerced fault(std::string_view allowed) {
    return {.json = {}, .fault = std::string(allowed)};
}

Coerced value(const Json& json) {
    return {.json = to_text(json), .fault = {}};
}

/// `2026-11-21T08:30:00.000000Z`.
std::string time_text(std::int64_t microseconds) {
    std::string text = predicate::format_timestamp(microseconds);
    constexpr std::size_t kDateBytes = 10;
    constexpr std::size_t kZoneBytes = 3;
    text[kDateBytes] = 'T';
    text.resize(text.size() - kZoneBytes);
    return text + "Z";
}

/// A value that JSON writes as a string of what its type reads.
Coerced from_text(AttributeType type, const std::string& text) {
    const predicate::ParsedDatum parsed = parse_datum(predicate_type(type), text);
    if (!parsed.fault.empty()) return fault(parsed.fault);
    switch (type) {
        case AttributeType::Timestamp:
            return value(time_text(parsed.datum.integer));
        case AttributeType::Numeric:
            return value(parsed.datum.numeric.to_string());
        case AttributeType::Date:
            return value(predicate::format_date(parsed.datum.integer));
        default:
            return value(parsed.datum.text);
    }
}

Coerced to_integer(const Json& json) {
    if (json.is_number_unsigned() &&
        json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
        return fault("a whole number of 64 bits");
    }
    if (json.is_number_integer()) return value(json);
    constexpr double kExactMax = 9007199254740992.0;
    const bool is_whole = json.is_number_float() &&
                          std::rint(json.get<double>()) == json.get<double>() &&
                          std::fabs(json.get<double>()) <= kExactMax;
    if (is_whole) return value(static_cast<std::int64_t>(json.get<double>()));
    return fault("a whole number");
}

}  // namespace

Coerced coerce(AttributeType type, const Json& json) {
    if (json.is_null()) return {.json = "null", .fault = {}};
    switch (type) {
        case AttributeType::Text:
            return json.is_string() ? value(json) : fault("a text");
        case AttributeType::Boolean:
            return json.is_boolean() ? value(json) : fault("true or false");
        case AttributeType::Integer:
            return to_integer(json);
        case AttributeType::Double:
            // Zero has no sign, as in the numbers of jsonb.
            return json.is_number() ? value(json.get<double>() + 0.0) : fault("a number");
        case AttributeType::Numeric:
            if (json.is_number()) return from_text(type, json.dump());
            break;
        case AttributeType::Document:
            return value(json);
        case AttributeType::Timestamp:
        case AttributeType::Date:
        case AttributeType::Uuid:
            break;
    }
    if (!json.is_string()) return fault(fmt::format("a text with a {}", to_string(type)));
    return from_text(type, json.get<std::string>());
}

namespace {

/// A number that is all of the text; nothing if it is not.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The text of a JSON string. Most have no escapes, and need no parser.
std::string text_in(std::string_view json) {
    const bool is_plain = json.size() >= 2 && json.front() == '"' && json.back() == '"' &&
                          json.find('\\') == std::string_view::npos;
    if (is_plain) return std::string(json.substr(1, json.size() - 2));
    return Json::parse(json).get<std::string>();
}

}  // namespace

bool is_plain(AttributeType type, std::string_view json) {
    if (json == "null") return true;
    switch (type) {
        case AttributeType::Text:
            return json.size() >= 2 && json.front() == '"' &&
                   json.find('\\') == std::string_view::npos;
        case AttributeType::Boolean:
            return json == "true" || json == "false";
        case AttributeType::Integer:
            return number_in<std::int64_t>(json).has_value() && json != "-0";
        default:
            return false;
    }
}

std::optional<std::vector<std::string_view>> texts_of(const Rules& rules, std::string_view object) {
    const std::vector<Attribute>& attributes = rules.attributes;
    std::vector<std::string_view> texts(attributes.size());
    std::size_t next = 0;
    bool is_read = true;
    try {
        JsonReader json(object);
        json.object([&](std::string_view name) {
            // Mostly they come in the order of the definition.
            const auto named = [&](const Attribute& each) { return each.name == name; };
            auto at = std::find_if(
                attributes.begin() + static_cast<std::ptrdiff_t>(next), attributes.end(), named
            );
            if (at == attributes.end()) at = std::find_if(attributes.begin(), at, named);
            if (at == attributes.end()) {
                is_read = false;
                return json.skip();
            }
            next = static_cast<std::size_t>(at - attributes.begin());
            is_read = is_read && texts[next].empty();
            texts[next] = json.raw();
        });
        json.end();
    } catch (const JsonSyntaxError&) {
        return std::nullopt;
    }
    if (!is_read) return std::nullopt;
    return texts;
}

// For each attribute and write: a parser of JSON would be most of a transition's cost.
Datum datum_of(AttributeType type, std::string_view canonical) {
    if (canonical == "null") return {};
    switch (type) {
        case AttributeType::Document:
            return {.is_null = false, .text = std::string(canonical)};
        case AttributeType::Boolean:
            return {.is_null = false, .integer = canonical == "true" ? 1 : 0};
        case AttributeType::Integer:
            if (const auto number = number_in<std::int64_t>(canonical)) {
                return {.is_null = false, .integer = *number};
            }
            return {.is_null = false, .integer = Json::parse(canonical).get<std::int64_t>()};
        case AttributeType::Double:
            if (const auto number = number_in<double>(canonical)) {
                return {.is_null = false, .real = *number};
            }
            return {.is_null = false, .real = Json::parse(canonical).get<double>()};
        case AttributeType::Text:
            return {.is_null = false, .text = text_in(canonical)};
        default:
            return parse_datum(predicate_type(type), text_in(canonical)).datum;
    }
}

}  // namespace ebb::rules
