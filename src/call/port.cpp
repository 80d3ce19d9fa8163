#include "call/port.h"

#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

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
    if (value.size() > StepContext::kProgressBytesMax) {
        throw Error(
            ErrorCode::PayloadTooLarge,
            fmt::format(
                "The progress has {} bytes of JSON; at most {} are allowed.",
                value.size(),
                StepContext::kProgressBytesMax
            )
        );
    }
    check_payload(value, "The progress", limits);
}

}  // namespace ebb
