#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb {

/// The bounds every payload is held to. Each is an engine option of the same name.
struct PayloadLimits {
    std::size_t payload_bytes_max = std::size_t{1} << 20;
    int json_depth_max = 64;
};

/// The greatest nesting of arrays and objects in `text`, found by one pass without parsing
/// (nlohmann's own depth callback costs seven times as much, and a parsed 200,000-deep array
/// overflows the stack when dumped).
int json_depth(std::string_view text);

/// Parses a JSON document. Throws Error with InvalidPayload (not JSON, invalid UTF-8, U+0000 in a
/// string) or PayloadTooLarge; `what` names the document in the message ("the input of instance
/// ...").
Json parse_json(std::string_view text, std::string_view what, const PayloadLimits& limits = {});

/// What is wrong in the text of `what`, and where, after nlohmann/json has thrown `error`.
std::string not_json(std::string_view what, const std::exception& error);

/// Checks `text` as parse_json does, without building the value.
void check_payload(std::string_view text, std::string_view what, const PayloadLimits& limits = {});

/// The shortest text of `value`; invalid UTF-8 becomes U+FFFD.
std::string to_text(const Json& value);

/// Appends `text` as a JSON string literal, quotes included; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

/// Appends `value` in decimal digits.
void append_number(std::string& out, std::int64_t value);

/// `text` with every invalid UTF-8 sequence and U+0000 replaced, cut at a character boundary to at
/// most `bytes_max` bytes.
std::string clean_text(std::string_view text, std::size_t bytes_max);

}  // namespace ebb
