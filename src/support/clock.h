#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ebb/clock.h>
#include <ebb/time.h>

namespace ebb {

/// `2026-11-21T05:10:00.123456Z`, fractions only as far as they are not zero.
std::string format_time(TimePoint time);

/// The reverse of format_time; also accepts offsets (`+01:00`). Empty when `text` is not an RFC
/// 3339 time.
std::optional<TimePoint> parse_time(std::string_view text);

/// `1h30m`, `2.5s`, `100ms`: as read back by parse_duration.
std::string format_duration(Duration duration);

/// Reads `90s`, `1h30m`, `100ms`, `2d`, `0`, or ISO 8601 (`PT1H30M`). Empty when it is neither or
/// negative.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace ebb
