#pragma once

#include <string>

#include <ebb/json.h>

namespace ebb::cli {

/// A failure `{"code", "message", ...}` as `code: message`, in one line; empty if it is empty. What
/// takes an instance with rules back, `{"to", "by"}`, is `taken back to the write 4 by ann`.
std::string failure_text(const Payload& failure);

/// An instance's failure with the step that caused it: `step: code: message`.
std::string cause_text(const Payload& failure);

/// The same without the message: `step: code`.
std::string cause_name(const Payload& failure);

/// The person and the reason of a request: ` by ann (changed my mind)`; empty if neither is known.
std::string request_text(const Payload& request);

/// A member of a JSON object as text; empty if there is none. Members that are not strings are
/// given as JSON.
std::string member_text(const Payload& object, const char* member);

/// The payload in one line, in at most `columns`.
std::string payload_text(const Payload& payload, int columns, std::string_view ellipsis);

}  // namespace ebb::cli
