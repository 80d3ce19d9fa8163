#include "call/port.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

namespace {

/// What Ebb itself writes into the line of a handler.
constexpr std::string_view kReservedKeys[] = {
    "time",
    "level",
    "event",
    "instance",
    "workflow",
    "step",
    "handler",
    "attempt",
    "message",
};

bool is_reserved(std::string_view key) {
    return std::find(std::begin(kReservedKeys), std::end(kReservedKeys), key) !=
           std::end(kReservedKeys);
}

}  // namespace

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
        std::vector<std::string> renamed;
        renamed.reserve(fields.size());
        for (const LogField& field : fields) {
            LogField& added = all.emplace_back(field);
            if (is_reserved(field.key)) added.key = renamed.emplace_back(field.key).append("_");
        }
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
