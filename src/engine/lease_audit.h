#pragma once

#include <vector>

#include "engine/claim_signals.h"
#include "engine/committer_role.h"
#include "engine/holdings.h"
#include "engine/inbox.h"

namespace ebb::engine {

/// Compares what the store leases to this worker with what is held here, with each heartbeat: drops
/// what was lost, takes over what a predecessor of the same name held, and returns what is not
/// known here.
class LeaseAudit {
 public:
    struct Parts {
        Environment& environment;
        ClaimSignals& signals;
        const Acquisitions& acquisitions;
        Holdings& holdings;
        Agenda& agenda;
        Returns& returns;
    };

    explicit LeaseAudit(const Parts& parts) : parts_(parts) {}

    void compare(const item::Heartbeat& heartbeat) EBB_REQUIRES(kCommitter);

 private:
    void drop_lost(const item::Heartbeat& heartbeat) EBB_REQUIRES(kCommitter);
    void obey_stops(const HeartbeatResult& result) EBB_REQUIRES(kCommitter);
    void adopt_orphans(const HeartbeatResult& result) EBB_REQUIRES(kCommitter);
    void adopt(const TaskRef& task, bool may_have_been_called) EBB_REQUIRES(kCommitter);
    /// The predecessor may still be alive, and claim and call until its leases end.
    void doubt_predecessor(const item::Heartbeat& heartbeat) EBB_REQUIRES(kCommitter);
    void release_unknown(const item::Heartbeat& heartbeat) EBB_REQUIRES(kCommitter);

    const Parts parts_;
    /// Leased to this worker according to the last heartbeat, but not held here.
    std::vector<TaskRef> unknown_ EBB_GUARDED_BY(kCommitter);
    bool has_adopted_ EBB_GUARDED_BY(kCommitter) = false;
    SteadyPoint predecessor_gone_at_ EBB_GUARDED_BY(kCommitter){};
    bool is_predecessor_gone_ EBB_GUARDED_BY(kCommitter) = false;  // and its claims were seen
};

}  // namespace ebb::engine
