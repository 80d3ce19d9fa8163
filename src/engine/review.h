#pragma once

#include <vector>

#include "engine/committer_role.h"
#include "engine/flights.h"
#include "engine/holdings.h"
#include "engine/open_work.h"
#include "engine/ready_queue.h"
#include "engine/settle.h"

namespace ebb::engine {

/// Looks at the held tasks of instances that were touched: each gets what it needs next, which is
/// an event, a row, a call, or to be given back.
class Reviewer {
 public:
    struct Parts {
        Environment& environment;
        Watchdog& watchdog;
        ReadyQueue& ready;
        Agenda& agenda;
        Holdings& holdings;
        OpenWork& open;
        Flights& flights;
        Settler& settler;
    };

    explicit Reviewer(const Parts& parts) : parts_(parts) {}

    /// Touches what was set aside, if its time has come.
    void look_again(SteadyPoint now) EBB_REQUIRES(kCommitter);
    void review_touched(const Moment& now) EBB_REQUIRES(kCommitter);

    /// Gives the new calls to the handler threads. `may_keep_one`: one of them may be returned, to
    /// be made by the caller, if no call waits for a thread.
    AttemptPtr hand_out(bool may_keep_one) EBB_REQUIRES(kCommitter);
    void hand_out_all() EBB_REQUIRES(kCommitter);

 private:
    void review(const InstanceId& id, const Moment& now) EBB_REQUIRES(kCommitter);
    /// Drops tasks that the store does not lease to this worker. After `live_of`: a worker that
    /// takes a task later changes the instance, so the next commit meets a conflict.
    void check_doubtful(const InstanceId& id) EBB_REQUIRES(kCommitter);
    std::vector<TokenId> leased_here(const InstanceId& id) const;
    void review_attempt(Held& held, const LiveInstance& live) EBB_REQUIRES(kCommitter);
    void review_idle(Held& held, LiveInstance& live, const Moment& now) EBB_REQUIRES(kCommitter);
    /// Decides the mail that came with the task, or has it read again.
    void review_mail(Held& held, const LiveInstance& live) EBB_REQUIRES(kCommitter);
    void start_attempt(Held& held, LiveInstance& live, Invocation call) EBB_REQUIRES(kCommitter);

    Environment& environment() const { return parts_.environment; }

    HeldTable& tasks() const EBB_REQUIRES(kCommitter) { return parts_.holdings.tasks(); }

    const Parts parts_;
    std::vector<AttemptPtr> started_ EBB_GUARDED_BY(kCommitter);  // to be handed out
};

}  // namespace ebb::engine
