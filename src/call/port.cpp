#include "call/port.h"

#include <algorithm>
#include <vector>

namespace ebb {

void write_handler_log(
    const Log& log,
    const StepContext& context,
    LogLevel level,
    std::string_view message,
    std::span<const LogField> fields
) noexcept {
    if (!log.is_enabled(level)) return;
    try {
        std::vector<LogField> all{
            {"instance", context.instance.to_string()},
            {"workflow", context.workflow},
            {"step", context.step},
            {"handler", context.handler},
            {"attempt", context.attempt},
            {"message", message},
        };
        all.insert(all.end(), fields.begin(), fields.end());
        log.write(level, "handler_log", all);
    } catch (...) {
        // Out of memory: a log line is not worth the handler's call.
    }
}

void check_progress(const Payload& value, PayloadLimits limits) {
    limits.payload_bytes_max = std::min(limits.payload_bytes_max, StepContext::kProgressBytesMax);
    check_payload(value, "The progress", limits);
}

}  // namespace ebb
