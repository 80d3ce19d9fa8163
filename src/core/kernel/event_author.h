#pragma once

#include <string_view>

namespace ebb {

/// Whether the payload of such an event names the person or program that caused it, as `by`. Other
/// payloads are the application's: a member of this name in them means something else.
constexpr bool says_who(std::string_view type) {
    return type == "decision_made" || type == "requeued" || type == "cancel_requested" ||
           type == "abort_requested" || type == "paused" || type == "unpaused" || type == "moved" ||
           type == "arrived" || type == "attributes_written" || type == "compensation_skipped";
}

}  // namespace ebb
