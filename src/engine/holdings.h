#pragma once

#include <string>

#include "engine/acquisitions.h"
#include "engine/agenda.h"
#include "engine/committer_role.h"
#include "engine/held.h"
#include "engine/live_instance.h"
#include "engine/returns.h"
#include "engine/watchdog.h"

namespace ebb::engine {

/// What this worker holds: the tasks that are leased to it, and what it remembers of their
/// instances. It keeps the two in step: if an instance may have been changed elsewhere, its tasks
/// are in doubt.
class Holdings {
 public:
    struct Parts {
        Environment& environment;
        ProgramCache& programs;
        Watchdog& watchdog;
        const Acquisitions& acquisitions;
        Agenda& agenda;
        Returns& returns;
    };

    explicit Holdings(const Parts& parts)
        : parts_(parts), live_(parts.environment.options.in_flight_max) {}

    HeldTable& tasks() EBB_REQUIRES(kCommitter) { return tasks_; }

    // Tasks

    Held& hold(const TaskRef& task, std::string slot = {}, bool has_thread = true)
        EBB_REQUIRES(kCommitter);
    /// Forgets the task, and stops what it runs. The lease is not returned: it is lost, or the row
    /// is gone.
    void let_go(const TaskRef& task, Attempt::StopReason reason) EBB_REQUIRES(kCommitter);
    void let_go_all(const InstanceId& id) EBB_REQUIRES(kCommitter);
    /// Returns the lease, as lost if the handler may have been called and its outcome is not kept.
    void hand_back(const TaskRef& task) EBB_REQUIRES(kCommitter);
    void hand_back_all(const InstanceId& id) EBB_REQUIRES(kCommitter);

    // Instances

    /// As it is remembered; null if it is not.
    LivePtr known(const InstanceId& id) EBB_REQUIRES(kCommitter) { return live_.find(id); }

    /// The same, or else as the store has it. Throws what the store throws.
    LivePtr live_of(const InstanceId& id) EBB_REQUIRES(kCommitter);
    /// Remembers an instance that was read, unless a newer version is already known.
    LivePtr keep_newer(LivePtr live) EBB_REQUIRES(kCommitter);
    /// Remembers an instance that was written here.
    void keep_written(const LivePtr& live) EBB_REQUIRES(kCommitter);

    void forget(const InstanceId& id) EBB_REQUIRES(kCommitter) { live_.erase(id); }

    /// Another process may have changed the instance, and with it the rows that are held here: set
    /// a stop or a park, or removed them. The next review reads it again.
    void distrust(const InstanceId& id) EBB_REQUIRES(kCommitter);

 private:
    void distrust_rows(const InstanceId& id) EBB_REQUIRES(kCommitter);

    const Parts parts_;
    HeldTable tasks_ EBB_GUARDED_BY(kCommitter);
    InstanceCache live_ EBB_GUARDED_BY(kCommitter);
};

}  // namespace ebb::engine
