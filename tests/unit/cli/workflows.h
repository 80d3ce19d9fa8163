#pragma once

#include <string_view>

// Workflows that the tests of the command run.

namespace ebb::cli::testing {

/// Two steps; the second one's output is the result.
inline constexpr std::string_view kHello = R"(workflow: hello
handlers:
  greet: {exec: [jq, -c, '{greeting: ("Hello, " + .)}']}
  shout: {exec: [jq, '.greeting + "!"']}
steps:
  - greet
  - shout
)";

/// The second step fails for good; the first one is undone.
inline constexpr std::string_view kSaga = R"(workflow: saga
handlers:
  reserve: {exec: ['true']}
  release: {exec: ['true']}
  charge:
    exec: [sh, -c, 'echo the card was declined >&2; exit 65']
    permanent_exit_codes: [65]
steps:
  - {step: reserve, compensate: release}
  - charge
)";

/// Waits for a person.
inline constexpr std::string_view kApproval = R"(workflow: approval
handlers:
  pay: {exec: ['true']}
steps:
  - {decision: boss, roles: [manager]}
  - pay
)";

/// Waits for a signal.
inline constexpr std::string_view kSignal = R"(workflow: parcel
steps:
  - signal: delivered
)";

/// Freezes at its only step until an operator requeues it with {"ok": true}.
inline constexpr std::string_view kFrozen = R"(workflow: frozen
on_error: dead_letter
handlers:
  work: {exec: [jq, -e, .ok]}
steps:
  - {step: work, max_attempts: 1}
)";

}  // namespace ebb::cli::testing
