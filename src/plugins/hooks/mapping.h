#pragma once

#include <map>
#include <string>
#include <string_view>

#include <ebb/json.h>

#include "plugins/hooks/hook.h"

// What an event means for a workflow.

namespace ebb::hooks {

/// A genuine request.
struct HookEvent {
    std::string delivery;
    std::map<std::string, std::string> headers;  ///< by lower-case name, without secrets
    std::string body;
};

struct HookAct {
    bool is_wanted = true;     ///< `when` says so; otherwise nothing is done
    std::string key{};         ///< of the instance
    std::string request_id{};  ///< the same for each repetition of one event
    Payload input = "null";    ///< of the instance, or the payload of the signal
};

/// Throws InvalidPayload if the body is not JSON, or if an expression cannot be evaluated for it.
HookAct act_of(const Hook& hook, const HookEvent& event);

}  // namespace ebb::hooks
