#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/kernel/decide.h"
#include "engine/held.h"
#include "engine/inbox.h"
#include "engine/live_instance.h"

namespace ebb::engine {

/// An event and who waits for what it comes to.
struct Cause {
    /// An attempt's outcome; a request; or the held task that the event was made for.
    using Origin = std::variant<AttemptPtr, ReplyPtr, TokenId>;

    Event event;
    Origin origin;
    Decision::Verdict verdict = Decision::Verdict::Ignored;
    Decision::Refusal refusal;
    std::optional<std::int64_t> expected_revision{};  ///< of the instance before it
};

/// What is to be done to one instance in one commit.
struct Work {
    InstanceId instance;
    std::vector<Cause> causes;
    std::vector<TaskChange> rewrites;  ///< rows to be put right, without any event
    int conflicts = 0;                 ///< how often it was tried in vain
};

/// One instance's work, decided: its events one after another, to be written at once.
struct Turn {
    LivePtr live;
    std::vector<Cause> causes;    ///< those that it decided
    std::vector<Cause> deferred;  ///< those that need a commit of their own after it
    InstanceState state;
    std::vector<HistoryEvent> history;
    std::vector<TaskChange> tasks;   ///< at most one per token
    std::vector<TokenId> rewritten;  ///< whose rows were to be put right, wanted still or not
    bool has_changed = false;        ///< false: there is nothing to write
    TimePoint now{};
    int conflicts = 0;

    // What is written: set by choose_writes.
    std::string encoded;
    std::vector<TaskChange> written;
    std::vector<TokenId> kept;  ///< tokens whose lease this worker has after the commit

    Commit to_commit(const std::string& worker) const;
};

/// Decides the events of `work` on the instance as it is known and takes them from it. Throws what
/// the store throws when the history has to be read; `work` is then as it was.
Turn decide_turn(Store& store, LivePtr live, Work& work, TimePoint now);

/// Chooses which rows of the tasks to write: where the next step can run here the lease is kept,
/// and a row that is held already need not be touched. `capacity` bounds the leases that are new
/// and is reduced by them.
void choose_writes(Turn& turn, HeldTable& held, const Environment& environment, int& capacity);

/// Of the state and the payloads that it writes, once chosen.
std::size_t bytes_of(const Turn& turn);

}  // namespace ebb::engine
