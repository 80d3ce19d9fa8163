#pragma once

#include <source_location>

namespace ebb::detail {

/// Writes what failed and where to stderr, in one line, and aborts.
[[noreturn]] void assertion_failed(
    const char* condition, const char* what_must_hold, const std::source_location& where
) noexcept;

}  // namespace ebb::detail

/// Aborts when `condition` is false: only a bug of Ebb can make it so, and continuing would write a
/// wrong state. On in every build. For anything that users or the world can cause, throw
/// ebb::Error.
#define EBB_ASSERT(condition, what_must_hold)                              \
    (static_cast<bool>(condition)                                          \
         ? static_cast<void>(0)                                            \
         : ::ebb::detail::assertion_failed(                                \
               #condition, what_must_hold, std::source_location::current() \
           ))
