#pragma once

#include <chrono>

namespace ebb {

/// Every duration of Ebb has microsecond resolution; longer units convert implicitly.
using Duration = std::chrono::microseconds;

/// A point of UTC time. Zero is the Unix epoch.
using TimePoint = std::chrono::sys_time<Duration>;

/// "Never": no timer, no deadline.
inline constexpr TimePoint kNever = TimePoint::max();

}  // namespace ebb
