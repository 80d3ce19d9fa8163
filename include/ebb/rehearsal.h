#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/definition.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/print.h>
#include <ebb/status.h>
#include <ebb/time.h>

// What a workflow would do: it is played from its start to its end, and the caller says how each
// step ends, what people decide and which signals come. No handler is called, nothing is stored,
// and no time passes but in the rehearsal. See docs/reference/rehearsal.md.

namespace ebb {

/// What happens at one node.
struct RehearsedOutcome {
    enum class Kind {
        Complete,     ///< a step completes; a person confirms; a signal comes
        Fail,         ///< an attempt fails; the step is retried according to its policy
        FailForGood,  ///< a step fails without another attempt; a person rejects
        Never,        ///< no answer: a step runs until its timeout, a wait until its deadline
    };

    Kind kind = Kind::Complete;
    int times = 0;  ///< how often; then it completes. 0 = always
    /// Of a step that completes; of a signal, its payload. Empty: a step passes its input on, and
    /// the payload is null.
    Payload output{};
    std::string code = "error";
    std::string message = "scripted failure";
    /// How long it lasts. Absent: a second for a step, a minute for a person or a signal.
    std::optional<Duration> takes{};

    bool operator==(const RehearsedOutcome&) const = default;
};

/// `complete`, `fail`, `fail_for_good`, `never`.
std::string_view to_string(RehearsedOutcome::Kind kind);
std::optional<RehearsedOutcome::Kind> parse_rehearsed_kind(std::string_view text);

struct RehearsalOptions {
    Payload input = "{}";
    /// By node: steps, decisions and signals. All others complete.
    std::map<std::string, RehearsedOutcome> outcomes{};
    /// Of compensations, by the step that they undo.
    std::map<std::string, RehearsedOutcome> compensations{};
    /// An operator cancels the instance when this node has completed for the first time; empty =
    /// no operator does.
    std::string cancel_after{};
    TimePoint start = TimePoint(std::chrono::sys_days(std::chrono::year(2030) / 1 / 15));
};

/// What happened.
struct Rehearsal {
    /// Of turns: calls of handlers, timers, decisions and signals.
    static constexpr int kTurnsMax = 1'000;
    static constexpr std::size_t kPayloadBytesMax = std::size_t{64} << 10;  ///< of one payload
    static constexpr std::size_t kBytesMax = std::size_t{8} << 20;          ///< of all together

    InstanceStatus status = InstanceStatus::Running;
    Payload output{};  ///< empty unless it completed
    Payload error{};   ///< why it failed; empty if it did not
    std::vector<HistoryEntry> events{};
    /// If it did not complete: the steps whose effects stay, because nothing undid them.
    std::vector<std::string> left{};
    /// What it still waits for at the end, without an answer and without a deadline.
    std::vector<WaitingFor> waiting_for{};
    Duration took{0};
    bool is_cut = false;  ///< a limit ended the rehearsal before the workflow had ended
};

/// Plays the workflow. The same arguments give the same events. Throws DefinitionError, and Error:
/// InvalidPayload (the input does not fit), InvalidArgument (a name that no node has, or an outcome
/// that does not fit its node), InvalidDefinition (a workflow with rules cannot be rehearsed).
Rehearsal rehearse(const Definition& definition, const RehearsalOptions& options = {});

}  // namespace ebb
