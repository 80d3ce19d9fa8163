#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ebb::expression {

/// A point of UTC time as CEL has it: in nanoseconds, of the years 1 to 9999.
struct Moment {
    std::int64_t seconds = 0;      ///< since the Unix epoch
    std::int32_t nanoseconds = 0;  ///< 0 to 999,999,999, always forwards
};

bool is_in_range(const Moment& moment);

/// Reads RFC 3339 with up to nine digits of a second. Empty when `text` is something else; the
/// result need not be in range.
std::optional<Moment> parse_moment(std::string_view text);

/// RFC 3339 in UTC with as many digits of the second as are not zero.
std::string format_moment(const Moment& moment);

/// Reads `1h30m`, `-1.5s`, `100ms`: numbers with the units h, m, s, ms, us, ns. Empty when `text`
/// is something else or does not fit into 64 bits of nanoseconds (292 years).
std::optional<std::int64_t> parse_nanoseconds(std::string_view text);

/// In seconds: `90s`, `-1.5s`.
std::string format_nanoseconds(std::int64_t nanoseconds);

/// Reads `UTC`, `+01:00`, `-02:30` or `02:00`, in seconds east of Greenwich.
std::optional<std::int64_t> parse_zone(std::string_view text);

}  // namespace ebb::expression
