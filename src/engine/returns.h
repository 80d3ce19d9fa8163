#pragma once

#include <cstdint>
#include <vector>

#include "engine/acquisitions.h"
#include "engine/committer_role.h"
#include "engine/environment.h"
#include "engine/held.h"
#include "engine/hint_box.h"

namespace ebb::engine {

/// The leases that this worker gives up, until the store knows it.
class Returns {
 public:
    Returns(Environment& environment, HintBox& hints, const Acquisitions& acquisitions)
        : environment_(environment), hints_(hints), acquisitions_(acquisitions) {}

    /// Another worker may run it as if nothing had happened.
    void release(const TaskRef& task) EBB_REQUIRES(kCommitter) { released_.push_back(task); }

    /// Its handler may have been called, and the outcome is not kept: the next worker to claim the
    /// task must know this before it makes the same call again.
    void abandon(const TaskRef& task) EBB_REQUIRES(kCommitter) { abandoned_.push_back(task); }

    /// Returns the leases to the store, but for tasks that are held again.
    void flush(HeldTable& held) EBB_REQUIRES(kCommitter);

    /// It may have been called, and only a later heartbeat than number `since` can say whether the
    /// store knows that.
    void doubt(const TaskRef& task, std::uint64_t since) EBB_REQUIRES(kCommitter) {
        doubts_.push_back({task, since});
    }

    bool has_doubts() const EBB_REQUIRES(kCommitter) { return !doubts_.empty(); }

    bool is_doubted(const TaskRef& task) const EBB_REQUIRES(kCommitter);
    /// Forgets the doubts that the heartbeat has settled. `in_store`, sorted: the tasks that the
    /// store leases to this worker.
    void settle_doubts(
        std::uint64_t heartbeat, const std::vector<TaskRef>& in_store, HeldTable& held
    ) EBB_REQUIRES(kCommitter);

 private:
    struct Doubt {
        TaskRef task;
        std::uint64_t since = 0;
    };

    Environment& environment_;
    HintBox& hints_;
    const Acquisitions& acquisitions_;
    std::vector<TaskRef> released_ EBB_GUARDED_BY(kCommitter);
    std::vector<TaskRef> abandoned_ EBB_GUARDED_BY(kCommitter);
    std::vector<Doubt> doubts_ EBB_GUARDED_BY(kCommitter);
};

}  // namespace ebb::engine
