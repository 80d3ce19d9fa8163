#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/predicate/value.h"

// Dates, times and spans as ISO 8601 texts, which mean the same under every setting of a session.
// Years are 1 to 9999.

namespace ebb::predicate {

/// `2026-11-21`, in days since 1970-01-01.
std::optional<std::int64_t> parse_date(std::string_view text);
std::string format_date(std::int64_t days);

/// `2026-11-21 08:30:00.5+01:00`: date and time, with `T` or a space between them, and `Z`, an
/// offset, or nothing for UTC behind them. The time may be missing. In microseconds since 1970.
std::optional<std::int64_t> parse_timestamp(std::string_view text);
/// `2026-11-21 08:30:00.000000+00`.
std::string format_timestamp(std::int64_t microseconds);

/// `3 days 2 hours`, `3d18h`, `1 mon`, `02:30:00`: whole numbers with units.
std::optional<Interval> parse_interval(std::string_view text);
/// As ISO 8601: `P1M2DT3.000004S`.
std::string format_interval(const Interval& interval);

/// Empty when the result is out of range.
std::optional<std::int64_t> add_interval(
    std::int64_t microseconds, const Interval& interval, int sign
);
std::optional<std::int64_t> date_of(std::int64_t microseconds);
inline constexpr std::int64_t kMicrosecondsPerDay = 86'400'000'000;
bool is_date_in_range(std::int64_t days);

}  // namespace ebb::predicate
