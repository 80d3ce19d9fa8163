#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/rules.h>

#include "core/predicate/value.h"

// Attribute values as JSON, which is how instances keep them, and as conditions see them.

namespace ebb::rules {

predicate::Type predicate_type(AttributeType type);

/// A value of `type` in its canonical form, or why `json` is none.
struct Coerced {
    Payload json;       ///< canonical
    std::string fault;  ///< what is allowed; empty when it is one
};

/// Reads any JSON that can only mean one value of the type: a number for a numeric, an offset in a
/// timestamp, upper case in a uuid.
Coerced coerce(AttributeType type, const Json& json);

/// Is `json` certainly what `coerce` would make of it? False says nothing. True for null and most
/// values of the types text, boolean and integer.
bool is_plain(AttributeType type, std::string_view json);

/// The members of a JSON object, by attribute: the text of its value, or an empty one. They point
/// into `object`. Empty if it is not an object, or if a name comes twice or is not that of an
/// attribute.
std::optional<std::vector<std::string_view>> texts_of(const Rules& rules, std::string_view object);

/// The reverse of what `coerce` writes.
predicate::Datum datum_of(AttributeType type, std::string_view canonical);

}  // namespace ebb::rules
