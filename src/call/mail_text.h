#pragma once

#include <string>
#include <string_view>

#include "core/kernel/event.h"
#include "support/json.h"

// Requests to an instance as text: they wait as mail in its inbox until an engine decides them.
// docs/reference/inbox.md has their members.

namespace ebb {

/// The mail that begins an instance which SQL has put: `input` and `by`. decode_mail only.
inline constexpr std::string_view kStartMail = "start";

/// `signal`, `decision`, `cancel`, `write` or `recover`. Throws Error for any other event.
std::string_view mail_kind(const Event& request);

/// Its members as a JSON object.
std::string encode_mail(const Event& request);

/// The request. Throws Error, as the functions of request.h do, if the text is not one that
/// encode_mail can have made, or if a value is not allowed.
Event decode_mail(std::string_view kind, std::string_view body, const PayloadLimits& limits);

}  // namespace ebb
