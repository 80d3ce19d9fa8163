#include "call/call.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "support/unwritable.h"

namespace ebb {

namespace {

constexpr std::size_t kCodeBytesMax = 128;

/// What a handle may be: as in a definition.
std::optional<Failure> wrong_handle(const StepContext& context) {
    if (context.choice == nullptr || context.choice->handle.empty()) return std::nullopt;
    const std::string& handle = context.choice->handle;
    if (handle.size() <= DefinitionLimits::kNameBytesMax &&
        clean_text(handle, handle.size()) == handle) {
        return std::nullopt;
    }
    return Failure{
        .code = "invalid_output",
        .message = fmt::format(
            "The handler names a handle of {} bytes; a handle is at most {} bytes of UTF-8 text.",
            handle.size(),
            DefinitionLimits::kNameBytesMax
        ),
        .is_permanent = true,
        .retry_after = {},
        .details = {},
    };
}

std::string clean_code(std::string_view code) {
    std::string clean = clean_text(code, kCodeBytesMax);
    return clean.empty() ? "error" : clean;
}

/// The details as the history may keep them: a text that is not a JSON document is kept as a
/// string.
std::string clean_details(const Payload& details, const CallLimits& limits) {
    if (details.empty()) return {};
    try {
        check_payload(details, "The details of the failure", limits.payload);
        return details;
    } catch (const Error&) {
        std::string text;
        append_json_string(text, clean_text(details, limits.error_bytes_max));
        return text;
    }
}

/// What a handler may ask for: added to a date, more would overflow and be due at once.
constexpr Duration kRetryAfterMax = std::chrono::hours(24 * 366) * 100;

Duration within_reach(Duration delay) {
    return std::clamp(delay, Duration::zero(), kRetryAfterMax);
}

Failure describe(const HandlerFailure& error, const CallLimits& limits) {
    const HandlerFailure::Options& options = error.options();
    Failure failure{
        .code = clean_code(options.code),
        .message = clean_text(error.what(), limits.error_bytes_max),
        .is_permanent = options.is_permanent,
        .retry_after = options.retry_after,
        .details = clean_details(options.details, limits),
    };
    if (failure.retry_after) failure.retry_after = within_reach(*failure.retry_after);
    return failure;
}

Failure describe_current_exception(const CallLimits& limits) {
    const auto clean = [&](const char* text) { return clean_text(text, limits.error_bytes_max); };
    try {
        throw;
    } catch (const HandlerFailure& error) {
        return describe(error, limits);
    } catch (const PermanentError& error) {
        return {
            .code = clean_code(error.code()),
            .message = clean(error.what()),
            .is_permanent = true,
            .retry_after = {},
            .details = {},
        };
    } catch (const RetryAfter& error) {
        return {
            .code = "error",
            .message = clean(error.what()),
            .is_permanent = false,
            .retry_after = within_reach(error.delay()),
            .details = {},
        };
    } catch (const UnwritableValue& error) {
        return {
            .code = "invalid_output",
            .message = clean(error.what()),
            .is_permanent = true,
            .retry_after = {},
            .details = {},
        };
    } catch (const std::exception& error) {
        return {
            .code = "error",
            .message = clean(error.what()),
            .is_permanent = false,
            .retry_after = {},
            .details = {},
        };
    } catch (...) {
        return {
            .code = "error",
            .message = "The handler threw an exception that is not a std::exception.",
            .is_permanent = false,
            .retry_after = {},
            .details = {},
        };
    }
}

}  // namespace

CallResult call_handler(
    const Handler& handler,
    const Payload& input,
    const StepContext& context,
    const CallLimits& limits
) {
    try {
        Payload output = handler(input, context);
        if (context.choice != nullptr && context.choice->is_paused) return Payload("null");
        if (auto failure = wrong_handle(context)) return std::move(*failure);
        try {
            check_payload(output, "The handler's output", limits.payload);
        } catch (const Error& error) {
            return Failure{
                .code = "invalid_output",
                .message = clean_text(error.what(), limits.error_bytes_max),
                .is_permanent = true,
                .retry_after = {},
                .details = {},
            };
        }
        return output;
    } catch (...) {
        return describe_current_exception(limits);
    }
}

}  // namespace ebb
