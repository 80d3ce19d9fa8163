#pragma once

#include <string>
#include <string_view>

#include <ebb/handler.h>
#include <ebb/json.h>

#include "handlers/call_variables.h"
#include "handlers/spec.h"
#include "support/redact.h"

namespace ebb {

/// What a program or server has answered.
struct Answer {
    std::string_view what;  ///< for messages: `The handler "pay": the program "./pay"`
    std::string_view text;
    std::size_t bytes_max = 0;
    const Redactor& redactor;  ///< for what a message quotes of `text`
};

/// The output of a step from `answer`. Throws HandlerFailure `invalid_output`, which is permanent:
/// the call has succeeded, so repeating it would repeat its effect.
Payload make_output(OutputMode mode, const Answer& answer, const Payload& input);

/// Hides the values of `variables`.
Redactor redactor_of(const CallVariables::Environment& variables);

/// The same failure with every secret in it hidden.
HandlerFailure redacted(const HandlerFailure& failure, const Redactor& redactor);

}  // namespace ebb
