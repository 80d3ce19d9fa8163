#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <ebb/instance.h>

#include "core/kernel/event.h"
#include "support/json.h"

// What the outside asks of an instance, checked and as the kernel's events: the same for every
// engine. All throw Error where a text is too long or not valid.

namespace ebb {

/// A name of a person or of whoever asks, as it can be kept.
std::string clean_name(std::string_view text);

Event make_decision(const PersonalDecision& decision);
Event make_signal(
    std::string_view name, Payload payload, std::string_view request_id, const PayloadLimits& limits
);
Event make_cancel(std::string_view by, std::string_view reason);
Event make_abort(std::string_view by, std::string_view reason);
Event make_pause(std::string_view by, std::string_view reason);
Event make_resume(std::string_view by);
/// Attributes are an object, or null to ask the conditions alone.
Event make_write(Payload attributes, const WriteOptions& options, const PayloadLimits& limits);
Event make_requeue(const RequeueOptions& options, const PayloadLimits& limits);

}  // namespace ebb
