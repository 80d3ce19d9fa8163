#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>

namespace ebb::source {

/// What is valid but probably not meant, without places: `unbounded_wait`, `shadowed_case`,
/// `retries_exceed_deadline`, `never_times_out`, and of rules what core/rules_analysis is certain
/// of. A comment `# ebb: allow CODE` in `text` turns one off.
std::vector<Diagnostic> lint(const Definition& definition, std::string_view text);

/// What a backoff waits before the attempt after so many failed ones, without jitter.
Duration delay_before(const Backoff& backoff, int retry);

/// The codes that such comments turn off.
std::set<std::string, std::less<>> allowed_codes(std::string_view text);

}  // namespace ebb::source
