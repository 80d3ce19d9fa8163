#pragma once

#include <string>
#include <string_view>

#include <ebb/json.h>

#include "handlers/call_variables.h"
#include "handlers/spec.h"

namespace ebb {

/// What a program or server has answered.
struct Answer {
    std::string_view what;  ///< for messages: `The handler "pay": the program "./pay"`
    std::string_view text;
    std::size_t bytes_max = 0;
};

/// The output of a step from `answer`. Throws HandlerFailure `invalid_output`, which is permanent:
/// the call has succeeded, so repeating it would repeat its effect.
Payload make_output(OutputMode mode, const Answer& answer, const Payload& input);

/// `text` with every value of `secrets` in it replaced by `***`. Values of fewer than 4 bytes are
/// no secrets.
std::string redact(std::string text, const CallVariables::Environment& secrets);

}  // namespace ebb
