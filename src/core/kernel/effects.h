#pragma once

#include <string>
#include <vector>

#include <ebb/label.h>
#include <ebb/triage.h>

#include "core/kernel/state.h"

// What a decision writes besides the instance's own row, its history and its tasks. All of it is
// written in the transaction of the commit, and nothing is sent where there is nothing.

namespace ebb {

/// What a token waits for from outside: a person's decision, or a signal.
struct Wait {
    enum class Kind { Decision, Signal };

    Kind kind = Kind::Decision;
    std::string workflow;
    std::string node;
    std::string signal;              ///< its name; empty for a decision
    std::vector<std::string> roles;  ///< who may decide; empty = anyone
    Visit visit = 0;
    TimePoint since{};
    TimePoint deadline = kNever;
    int quorum = 1;
    int confirmed = 0;  ///< how many have confirmed so far

    bool operator==(const Wait&) const = default;
};

std::string_view to_string(Wait::Kind kind);

/// The change of the side rows of one token.
struct WaitChange {
    TokenId token = 0;
    bool is_over = false;  ///< the token has stopped waiting; `wait` is unused
    /// Replaces the present rows. If they are of the same visit, their `since` stays.
    Wait wait;

    bool operator==(const WaitChange&) const = default;
};

/// The change of the side row of the instance itself.
struct FailureChange {
    bool is_over = false;  ///< `note` is unused
    FailureNote note;

    bool operator==(const FailureChange&) const = default;
};

/// An event that a subscription wants to hear of. The row waits in `outbox` until it is relayed.
struct Notice {
    std::string subscription;
    Seq seq = 0;       ///< of the history event that it reports; unique within the instance
    std::string type;  ///< `instance.completed`, ...
    std::string data;  ///< JSON object: what receivers learn about the instance
    TimePoint at{};

    bool operator==(const Notice&) const = default;
};

/// Effects of a decision beside the instance. Other kinds (mail, births) become members of their
/// own.
struct Effects {
    std::vector<WaitChange> waits;        ///< at most one per token
    std::vector<FailureChange> failures;  ///< at most one
    Labels labels{};                      ///< to put; the instance's others stay
    /// Not of the decision itself: added before the commit, if a subscription is enabled.
    std::vector<Notice> notices{};

    bool is_empty() const {
        return waits.empty() && failures.empty() && labels.empty() && notices.empty();
    }

    bool operator==(const Effects&) const = default;
};

/// Adds what a later decision of the same commit wants: its word is the last.
void merge(Effects& effects, Effects later);

class HistoryView;
class Program;

/// The side rows that an instance in `state` must have, as changes of an instance without any.
/// `Wait::since` and `FailureNote::at` are `now`: the state does not know them. Without `history`
/// (null) a failure has no step, code, group and message.
Effects side_rows_of(
    const Program& program, const InstanceState& state, const HistoryView* history, TimePoint now
);

/// `text` with what differs between occurrences of one failure replaced. A number becomes `<n>`; a
/// word of at least eight hexadecimal digits, or a UUID, `<id>`; a quoted text `<text>`; an
/// absolute path `<path>`.
std::string normalized_message(std::string_view text);

/// 16 hexadecimal digits: the same for failures with the same workflow, step, code and normalized
/// message. Not secret, and stable over versions of Ebb.
std::string failure_group(
    std::string_view workflow,
    std::string_view step,
    std::string_view code,
    std::string_view message
);

}  // namespace ebb
