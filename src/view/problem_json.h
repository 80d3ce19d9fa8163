#pragma once

#include <span>

#include <ebb/error.h>

#include "view/payload_json.h"

namespace ebb::view {

/// Problems of a definition. `pointer` is a JSON pointer into it; `line` and `column` are null if
/// the definition has no source text.
Json problems_json(std::span<const Diagnostic> problems);

/// The same with `severity`, `end_line`, `end_column`, `related` and `fixes`, for texts that a
/// person edits.
Json detailed_problems_json(std::span<const Diagnostic> problems);

}  // namespace ebb::view
