#pragma once

#include <chrono>

namespace ebb {

/// Every duration of Ebb has microsecond resolution; longer units convert implicitly.
using Duration = std::chrono::microseconds;

/// A point of UTC time. Zero is the Unix epoch.
using TimePoint = std::chrono::sys_time<Duration>;

/// "Never": no timer, no deadline.
inline constexpr TimePoint kNever = TimePoint::max();

/// A point on a clock that only measures how much time passes (Clock::steady_now). It says nothing
/// about the date, so the compiler refuses to compare it with a TimePoint.
using SteadyPoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// The same for a SteadyPoint.
inline constexpr SteadyPoint kSteadyNever = SteadyPoint::max();

}  // namespace ebb
