#pragma once

#include <string>

#include <ebb/json.h>

namespace ebb::cli {

/// A failure `{"code", "message", ...}` as `code: message`, in one line; empty when it is empty.
std::string failure_text(const Payload& failure);

/// Who asked for something and why: ` by ann (changed my mind)`; empty when neither is known.
std::string request_text(const Payload& request);

/// A member of a JSON object as text; empty when there is none. Numbers and the like as JSON.
std::string member_text(const Payload& object, const char* member);

/// The payload in one line, in at most `columns`.
std::string payload_text(const Payload& payload, int columns, std::string_view ellipsis);

}  // namespace ebb::cli
