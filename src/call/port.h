#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include <ebb/context.h>

#include "support/json.h"
#include "support/log.h"

namespace ebb {

/// Writes what the handler of `context` logs, as `handler_log` with the call's circumstances.
void write_handler_log(
    const Log& log,
    const StepContext& context,
    LogLevel level,
    std::string_view message,
    std::span<const LogField> fields
) noexcept;

/// What StepContext::progress takes. Throws Error.
void check_progress(const Payload& value, PayloadLimits limits);

/// A port that only logs: of calls whose progress is not visible before they end.
class LogPort final : public detail::CallPort {
 public:
    /// Both must outlive it.
    LogPort(const Log& log, const StepContext& context) : log_(log), context_(context) {}

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        write_handler_log(log_, context_, level, message, fields);
    }

    void progress(Payload) const override {}

 private:
    const Log& log_;
    const StepContext& context_;
};

}  // namespace ebb
