#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <ebb/json.h>
#include <ebb/time.h>

// The values from which all views are made. The command, REST and SSE print the same views;
// docs/reference/cli.md documents the members. Members stay, and new ones may come.

namespace ebb::view {

using Json = nlohmann::ordered_json;

/// A payload as the value that it holds; null if it is empty. Text that is not JSON becomes a
/// string. A number with more digits than a double holds is a string until `json_text` writes it.
Json payload_json(const Payload& payload);

/// The text of a document. The numbers of its payloads keep all their digits. Invalid UTF-8 becomes
/// U+FFFD.
std::string json_text(const Json& document, int indent = -1);
/// The same for a text that something else has made from such a document or from a part of it.
std::string with_all_digits(std::string text);

/// RFC 3339 in UTC; null for "none" (zero) and "never".
Json time_json(TimePoint time);

/// Null if it is empty.
Json text_json(const std::string& text);

Json number_json(const std::optional<int>& number);

}  // namespace ebb::view
