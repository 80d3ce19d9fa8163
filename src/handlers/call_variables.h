#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/handler.h>

#include "core/expression/template.h"
#include "support/json.h"

namespace ebb {

/// What expressions of a handler entry see.
inline constexpr std::array<std::string_view, 8> kCallVariables = {
    "input",
    "payload",
    "instance",
    "workflow",
    "step",
    "attempt",
    "idempotency_key",
    "env",
};

bool is_call_variable(std::string_view name);

/// The variables of one call. `input` is parsed when it is first asked for, so that constant
/// templates cost nothing. Both arguments must outlive it.
class CallVariables : public Variables {
 public:
    using Environment = std::map<std::string, std::string>;

    CallVariables(const Payload& input, const StepContext& context, const Environment& environment)
        : input_text_(input), context_(context), environment_(environment) {}

    const Json* find(std::string_view name) const override;

    const Json* find_step(std::string_view) const override { return nullptr; }

 private:
    Json make(std::string_view name) const;

    const Payload& input_text_;
    const StepContext& context_;
    const Environment& environment_;
    mutable std::map<std::string, Json, std::less<>> known_;
};

/// Those variables of this process that are named in `names` and set.
CallVariables::Environment read_environment(const std::vector<std::string>& names);

/// Throws the failure of a handler whose expression cannot be evaluated.
[[noreturn]] void throw_expression_failed(std::string_view what, const ExpressionError& error);

/// A rendered template as text: strings as they are, everything else as JSON.
std::string render_text(const Template& from, const Variables& variables, std::string_view what);

}  // namespace ebb
