#pragma once

#include <span>
#include <vector>

#include "engine/claim_signals.h"
#include "engine/committer_role.h"
#include "engine/hint_box.h"
#include "engine/holdings.h"
#include "engine/open_work.h"
#include "engine/turn.h"
#include "engine/waiters.h"

namespace ebb::engine {

/// What the outcome of a turn means for what is held, for what is still open, and for those who
/// wait: callers, other workers, observers.
class Settler {
 public:
    struct Parts {
        Environment& environment;
        Waiters& waiters;
        ClaimSignals& signals;
        HintBox& hints;
        const Acquisitions& acquisitions;
        Agenda& agenda;
        Holdings& holdings;
        OpenWork& open;
    };

    explicit Settler(const Parts& parts) : parts_(parts) {}

    // The store has answered.
    void settle(Turn& turn, CommitResult result) EBB_REQUIRES(kCommitter);
    void settle_committed(Turn& turn) EBB_REQUIRES(kCommitter);
    void settle_end(LiveInstance& live) EBB_REQUIRES(kCommitter);
    /// Gives the wake back, so that its mail is read again.
    void return_mail(const TaskRef& wake) EBB_REQUIRES(kCommitter);
    void observe(const LiveInstance& live, std::span<const HistoryEvent> events);

    // There is no answer.
    /// Nothing has to be written.
    void settle_unchanged(Turn& turn) EBB_REQUIRES(kCommitter);
    /// It cannot be written, so it is looked at again much later.
    void set_aside(Turn& turn, const std::exception& error) EBB_REQUIRES(kCommitter);
    /// Answers the requests among its causes with the error. True if that was all of it: nothing of
    /// the turn need be written then, and what it deferred is open again.
    bool drop_requests(Turn& turn, const std::exception_ptr& error) EBB_REQUIRES(kCommitter);
    /// The work cannot be decided: its callers get the error, and its tasks are returned.
    void drop(Work& work, const Error& why) EBB_REQUIRES(kCommitter);

 private:
    void settle_conflict(Turn& turn) EBB_REQUIRES(kCommitter);
    /// Something blocks this instance only.
    void settle_busy(Turn& turn) EBB_REQUIRES(kCommitter);
    void settle_missing(Turn& turn) EBB_REQUIRES(kCommitter);
    void settle_row(const Turn& turn, const TaskChange& change) EBB_REQUIRES(kCommitter);
    void settle_put(const Turn& turn, const TaskChange& change) EBB_REQUIRES(kCommitter);
    void settle_cause(const Turn& turn, Cause& cause) EBB_REQUIRES(kCommitter);
    void settle_mail(const Turn& turn) EBB_REQUIRES(kCommitter);
    void note_refused_mail(const InstanceId& id, const Cause& cause);
    void tell_of_end(const Turn& turn);
    void reopen(std::vector<Cause> causes, const InstanceId& id, int conflicts)
        EBB_REQUIRES(kCommitter);
    /// Until then, nothing of the instance is decided, except for running calls.
    void delay(const InstanceId& id, int delays) EBB_REQUIRES(kCommitter);
    void undecide(const Turn& turn) EBB_REQUIRES(kCommitter);
    void forget_instance(const Turn& turn) EBB_REQUIRES(kCommitter);

    Environment& environment() const { return parts_.environment; }

    HeldTable& tasks() const EBB_REQUIRES(kCommitter) { return parts_.holdings.tasks(); }

    const Parts parts_;
};

}  // namespace ebb::engine
