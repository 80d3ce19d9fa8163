// The invariants of the committer's books between two parts of a round, whatever was posted.
// Checked in builds for tests, including the simulation.

#include <algorithm>

#include "engine/checks.h"
#include "engine/committer.h"
#include "support/assert.h"

namespace ebb::engine {

namespace {

/// A test simulates the death of a process by throwing something other than a std::exception.
bool has_died(const std::exception_ptr& last_error) {
    if (!last_error) return false;
    try {
        std::rethrow_exception(last_error);
    } catch (const std::exception&) {
        return false;
    } catch (...) {
        return true;
    }
}

}  // namespace

void Committer::check_books(const Moment& now) {
    if (!checks_always() || has_died(last_error_)) return;
    check_work();
    check_held(now);
}

void Committer::check_work() const {
    EBB_ASSERT(open_.size() == open_index_.size(), "each instance has its work in one place");
    for (const Work& work : open_) {
        const auto known = open_index_.find(work.instance);
        EBB_ASSERT(known != open_index_.end(), "the index knows all open work");
        EBB_ASSERT(&open_.at(known->second) == &work, "the index leads to the work");
        EBB_ASSERT(!pending_.contains(work.instance), "an unsettled instance has no open work");
    }
    std::size_t waiting = 0;
    for (const Batch& batch : batches_) {
        EBB_ASSERT(!batch.turns.empty(), "a batch to write is not empty");
        waiting += batch.turns.size();
        for (const Turn& turn : batch.turns) {
            EBB_ASSERT(pending_.contains(turn.live->row.id), "each decided instance is pending");
        }
    }
    EBB_ASSERT(
        flights_ >= 0 && flights_ <= commits_at_once_, "the number of flights is within its limits"
    );
    EBB_ASSERT(waiting <= pending_.size(), "an instance is decided once until it is settled");
    EBB_ASSERT(
        flights_ > 0 || waiting == pending_.size(), "each pending instance is decided or on its way"
    );
}

void Committer::check_held(const Moment& now) {
    int size = 0;
    int slots = 0;
    const bool may_hold = environment().worker.may_hold(now.steady);
    held_.for_each([&](const Held& held) {
        ++size;
        slots += held.slot.empty() ? 0 : 1;
        const InstanceId& id = held.task.instance;
        const bool is_pending = pending_.contains(id);
        const AttemptPtr& attempt = held.state.attempt();
        EBB_ASSERT(held.state.is_called() == (attempt != nullptr), "what is called has an attempt");
        EBB_ASSERT(!attempt || attempt->task() == held.task, "it runs its own attempt");
        EBB_ASSERT(
            !held.state.is_deciding() || is_pending || open_index_.contains(id),
            "an instance that is being decided is open or pending"
        );
        const bool is_looked_at = is_pending || open_index_.contains(id) ||
                                  look_again_at_ != kSteadyNever ||
                                  std::find(touched_.begin(), touched_.end(), id) != touched_.end();
        EBB_ASSERT(
            !held.state.is_idle() || is_looked_at || !may_hold,
            "a held task that does not run will be reviewed"
        );
    });
    EBB_ASSERT(size == held_.size(), "the table counts what it holds");
    EBB_ASSERT(slots == held_.slots(), "the table counts the slots that it holds");
}

}  // namespace ebb::engine
