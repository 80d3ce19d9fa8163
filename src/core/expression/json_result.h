#pragma once

#include <ebb/json.h>

#include "core/expression/context.h"
#include "core/expression/value.h"

namespace ebb::expression {

/// The value as JSON, bounded by result_bytes_max unless it is a variable's own value. Timestamps
/// and durations become text. Throws ExpressionError, also for what JSON does not have (NaN).
Json to_json(Context& context, const Value& value);

}  // namespace ebb::expression
