#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <variant>
#include <vector>

#include "core/kernel/decide.h"
#include "engine/held.h"
#include "engine/inbox.h"
#include "engine/live_instance.h"

namespace ebb::engine {

/// An event, and the caller or task that waits for its outcome.
struct Cause {
    /// An attempt's outcome; a request; or the held task that the event was made for.
    using Origin = std::variant<AttemptPtr, ReplyPtr, TokenId>;

    Event event;
    Origin origin;
    Decision::Verdict verdict = Decision::Verdict::Ignored;
    Decision::Refusal refusal;
    std::optional<std::int64_t> expected_revision{};  ///< of the instance before it
    std::optional<Postmark> postmark{};               ///< it was made of mail
};

bool is_request(const Cause& cause);
/// Answers the requests among them with the error, and removes them.
void refuse(std::vector<Cause>& causes, const std::exception_ptr& error);

/// The pending changes to one instance in one commit.
struct Work {
    InstanceId instance;
    std::vector<Cause> causes;
    std::vector<TaskChange> rewrites;  ///< rows to correct, without any event
    int conflicts = 0;                 ///< the number of failed attempts
    int delays = 0;                    ///< how often the store could not write it
    SteadyPoint not_before{};  ///< it is decided then, with everything that comes until then
};

/// One instance's work, decided: its events one after another, to be written in one commit.
struct Turn {
    LivePtr live;
    std::shared_ptr<const Program> program;  ///< of `state`; may be a newer version than the row's
    std::vector<Cause> causes;               ///< those that it decided
    std::vector<Cause> deferred;             ///< those that need their own commit after it
    InstanceState state;
    std::vector<HistoryEvent> history;
    std::vector<HistoryEvent> overdue;  ///< the first that the deadline of a decision has led to
    std::vector<TaskChange> tasks;      ///< at most one per token
    Effects effects;
    std::vector<MailKey> received;   ///< the mail that it decided
    std::vector<TokenId> rewritten;  ///< those whose rows had to be corrected, still wanted or not
    bool has_changed = false;        ///< false: there is nothing to write
    TimePoint now{};
    int conflicts = 0;
    int delays = 0;

    // What is written: set by choose_writes.
    std::string encoded;
    std::vector<TaskChange> written;
    std::vector<TokenId> kept;  ///< tokens whose lease this worker has after the commit

    Commit to_commit(const std::string& worker) const;
};

/// What decides a turn.
struct Judge {
    Environment& environment;
    Store& store;                      ///< where the history is read
    ProgramCache* programs = nullptr;  ///< null: the instance does not follow to a newer version
};

/// Decides the events of `work` on the instance as it is known, and removes them from `work`.
/// Throws what the store throws if the history has to be read; `work` is then unchanged. An
/// instance whose rules say so begins with following to the newest version.
Turn decide_turn(const Judge& judge, LivePtr live, Work& work, TimePoint now);

/// Chooses which task rows to write: if the next step can run here, the lease is kept, and a row
/// that is already held need not be touched. `capacity` limits the new leases and is reduced by
/// them.
void choose_writes(Turn& turn, HeldTable& held, const Environment& environment, int& capacity);

/// The size of the state and the payloads that it writes, once chosen.
std::size_t bytes_of(const Turn& turn);

}  // namespace ebb::engine
