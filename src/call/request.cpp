#include "call/request.h"

#include <utility>

#include <fmt/format.h>

#include <ebb/definition.h>
#include <ebb/error.h>

namespace ebb {

namespace {

constexpr std::size_t kByBytesMax = 256;
constexpr std::size_t kTextBytesMax = 8 << 10;
constexpr std::size_t kRequestIdBytesMax = 200;

std::string check_request_id(std::string_view id) {
    if (id.size() > kRequestIdBytesMax) {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format("A request id has at most {} bytes.", kRequestIdBytesMax)
        );
    }
    return clean_text(id, kRequestIdBytesMax);
}

std::string clean_reason(std::string_view text) {
    return clean_text(text, kTextBytesMax);
}

}  // namespace

std::string clean_name(std::string_view text) {
    return clean_text(text, kByBytesMax);
}

Event make_decision(const PersonalDecision& decision) {
    return event::DecisionMade{
        .node = decision.node,
        .is_confirmed = decision.verdict == PersonalDecision::Verdict::Confirm,
        .by = clean_name(decision.by),
        .role = clean_name(decision.role),
        .comment = clean_reason(decision.comment),
        .request_id = check_request_id(decision.request_id),
    };
}

Event make_signal(
    std::string_view name,
    Payload payload,
    const RequestOptions& options,
    const PayloadLimits& limits
) {
    if (name.empty() || name.size() > DefinitionLimits::kNameBytesMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The name of a signal has 1 to {} bytes.", DefinitionLimits::kNameBytesMax)
        );
    }
    check_payload(payload, "The payload of the signal", limits);
    return event::SignalReceived{
        .name = clean_name(name),
        .payload = std::move(payload),
        .request_id = check_request_id(options.request_id),
        .by = clean_name(options.by),
    };
}

Event make_cancel(std::string_view by, std::string_view reason) {
    return event::CancelRequested{.by = clean_name(by), .reason = clean_reason(reason)};
}

Event make_abort(std::string_view by, std::string_view reason) {
    return event::AbortRequested{.by = clean_name(by), .reason = clean_reason(reason)};
}

Event make_pause(std::string_view by, std::string_view reason) {
    return event::Paused{.by = clean_name(by), .reason = clean_reason(reason)};
}

Event make_resume(std::string_view by) {
    return event::Resumed{clean_name(by)};
}

Event make_write(Payload attributes, const WriteOptions& options, const PayloadLimits& limits) {
    check_payload(attributes, "The write", limits);
    return event::AttributesWritten{
        .values = std::move(attributes),
        .is_repair = options.is_repair,
        .by = clean_name(options.by),
        .request_id = check_request_id(options.request_id),
    };
}

Event make_recovery(std::int64_t to, bool stops, std::string_view by, std::string_view request_id) {
    return event::RecoverRequested{
        .to = to, .stops = stops, .by = clean_name(by), .request_id = check_request_id(request_id)
    };
}

Event make_requeue(const RequeueOptions& options, const PayloadLimits& limits) {
    if (options.new_input) check_payload(*options.new_input, "The new input", limits);
    return event::Requeued{
        .new_input = options.new_input,
        .skip_compensation = options.skip_compensation,
        .by = clean_name(options.by)
    };
}

}  // namespace ebb
