#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <ebb/instance.h>

#include "core/kernel/event.h"
#include "support/json.h"

// Requests to an instance from outside, checked and turned into events of the kernel. All engines
// share them. All functions throw Error if a text is too long or invalid.

namespace ebb {

/// The name of the person or program that makes a request, in the form in which it is stored.
std::string clean_name(std::string_view text);

Event make_decision(const PersonalDecision& decision);
Event make_signal(
    std::string_view name,
    Payload payload,
    const RequestOptions& options,
    const PayloadLimits& limits
);
Event make_cancel(std::string_view by, std::string_view reason);
Event make_abort(std::string_view by, std::string_view reason);
Event make_pause(std::string_view by, std::string_view reason);
Event make_resume(std::string_view by);
/// Attributes are an object, or null to only check the conditions.
Event make_write(Payload attributes, const WriteOptions& options, const PayloadLimits& limits);
/// Back to the write with the number `to`.
Event make_recovery(std::int64_t to, bool stops, std::string_view by, std::string_view request_id);
Event make_requeue(const RequeueOptions& options, const PayloadLimits& limits);

}  // namespace ebb
