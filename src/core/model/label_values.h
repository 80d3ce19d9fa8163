#pragma once

#include <string_view>

#include <ebb/json.h>
#include <ebb/label.h>

// Labels as JSON: a text, a number or a bool as it is, a time as `{"time":
// "2026-01-31T08:00:00Z"}`.

namespace ebb {

/// `[A-Za-z_][A-Za-z0-9_.-]*`, at most kNameBytesMax bytes.
bool is_label_name(std::string_view name);

Json label_to_json(const LabelValue& value);
Json labels_to_json(const Labels& labels);

/// An object of values. Throws InvalidArgument or LimitExceeded.
Labels labels_from_json(const Json& json);

/// What a template of a label has yielded. Throws InvalidArgument if it is not of the type.
LabelValue label_of(std::string_view name, LabelType type, const Json& json);

/// The value of a label as a person types it. Throws InvalidArgument.
LabelValue parse_label(std::string_view name, LabelType type, std::string_view text);

/// Throws InvalidArgument for a word that is not a type.
LabelType parse_label_type(std::string_view text);

}  // namespace ebb
