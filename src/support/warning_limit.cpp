#include "support/warning_limit.h"

#include <utility>
#include <vector>

namespace ebb {

std::optional<std::uint64_t> WarningLimit::admit(std::string_view event) {
    const SteadyPoint now = clock_.steady_now();
    const Lock lock(mutex_);
    auto found = periods_.find(event);
    if (found == periods_.end()) {
        if (periods_.size() >= kNamesMax) return 0;
        found = periods_.emplace(event, Period{.begun = now}).first;
    }
    Period& period = found->second;
    if (now - period.begun >= period_) {
        period.begun = now;
        period.written = 0;
    }
    if (period.written >= kBurst) {
        ++period.dropped;
        return std::nullopt;
    }
    ++period.written;
    return std::exchange(period.dropped, 0);
}

void WarningLimit::write(
    LogLevel level, std::string_view event, std::span<const LogField> fields
) noexcept {
    if (level != LogLevel::Warning) return sink_.write(level, event, fields);
    try {
        const std::optional<std::uint64_t> dropped = admit(event);
        if (!dropped) return;
        if (*dropped == 0) return sink_.write(level, event, fields);
        std::vector<LogField> all(fields.begin(), fields.end());
        all.emplace_back("dropped", *dropped);
        sink_.write(level, event, all);
    } catch (...) {
        // Out of memory, or a broken clock: the warning itself matters more than its limit.
        sink_.write(level, event, fields);
    }
}

}  // namespace ebb
