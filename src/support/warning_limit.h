#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <ebb/clock.h>
#include <ebb/log.h>

#include "support/sync.h"

namespace ebb {

/// Passes events on to another sink, but of the warnings of one name at most kBurst in a period: a
/// database that is down fails thousands of calls, and the log must stay readable. The first
/// warning after that says how many were dropped, in its field `dropped`. Thread-safe.
class WarningLimit final : public LogSink {
 public:
    /// Both must outlive it. Time is measured by `clock`.
    WarningLimit(LogSink& sink, const Clock& clock, Duration period = kPeriod)
        : sink_(sink), clock_(clock), period_(period) {}

    bool is_enabled(LogLevel level) const noexcept override { return sink_.is_enabled(level); }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override;

    static constexpr int kBurst = 10;
    static constexpr Duration kPeriod = std::chrono::minutes(1);
    /// Names come from the program, so there are few; beyond this many, no warning is dropped.
    static constexpr std::size_t kNamesMax = 256;

 private:
    struct Period {
        SteadyPoint begun{};
        int written = 0;
        std::uint64_t dropped = 0;
    };

    /// How many warnings of this name were dropped since the last one; none = drop this one, too.
    std::optional<std::uint64_t> admit(std::string_view event);

    LogSink& sink_;
    const Clock& clock_;
    const Duration period_;
    Mutex mutex_;
    std::map<std::string, Period, std::less<>> periods_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb
