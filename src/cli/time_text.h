#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/time.h>

// Times as people read and write them: in the time zone of the user (TZ), unless they say UTC.

namespace ebb::cli {

/// How tables and timelines show times.
enum class Times { Relative, Local, Utc };

/// `2026-11-21 06:10:00` in the user's time zone, or `2026-11-21 05:10:00Z`.
std::string absolute_time(TimePoint time, Times times);

/// `in 2d 23h`, `now`.
std::string until_text(TimePoint time, TimePoint now);

/// `3m ago` or `in 2d 23h`, or the time itself if `times` is not Relative.
std::string time_text(TimePoint time, TimePoint now, Times times);

/// Reads a point in time: `2h` (that long before `now`), `today`, `yesterday`, `2026-11-21`,
/// `2026-11-21 06:10[:00]` in the user's time zone, or an RFC 3339 time. Empty if it is none of
/// these.
std::optional<TimePoint> parse_when(std::string_view text, TimePoint now);

}  // namespace ebb::cli
