#pragma once

#include <string_view>
#include <vector>

#include <ebb/definition.h>

namespace ebb::source {

/// What is valid but probably not meant, without places: `unbounded_wait`, `shadowed_case`,
/// `retries_exceed_deadline`. A comment `# ebb: allow CODE` in `text` turns one off.
std::vector<Diagnostic> lint(const Definition& definition, std::string_view text);

/// Has `text` a comment `# ebb: allow CODE`?
bool allows(std::string_view text, std::string_view code);

}  // namespace ebb::source
