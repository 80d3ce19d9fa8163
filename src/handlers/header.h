#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/time.h>

namespace ebb {

/// ASCII only.
std::string to_lower(std::string_view text);

/// A token of RFC 9110.
bool is_header_name(std::string_view name);

/// No control character but tab: above all no line break, with which data could add headers of its
/// own.
bool is_header_value(std::string_view value);

/// A time of RFC 9110: `Sun, 06 Nov 1994 08:49:37 GMT`. Empty when `text` is none.
std::optional<TimePoint> parse_http_date(std::string_view text);

/// What the header Retry-After asks for: a number of seconds, or a date, counted from `now`. Never
/// negative, at most HandlerLimits::kRetryAfterMax. Empty when `text` is neither.
std::optional<Duration> parse_retry_after(std::string_view text, TimePoint now);

}  // namespace ebb
