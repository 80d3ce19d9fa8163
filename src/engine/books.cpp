// The invariants of the committer's books between two parts of a round, whatever was posted.
// Checked in builds for tests, including the simulation.

#include "engine/checks.h"
#include "engine/committer.h"
#include "support/assert.h"

namespace ebb::engine {

void OpenWork::check() const {
    EBB_ASSERT(works_.size() == index_.size(), "each instance has its work in one place");
    for (const Work& work : works_) {
        const auto known = index_.find(work.instance);
        EBB_ASSERT(known != index_.end(), "the index knows all open work");
        EBB_ASSERT(&works_.at(known->second) == &work, "the index leads to the work");
    }
}

void Flights::check() const {
    std::size_t waiting = 0;
    for (const Batch& batch : batches_) {
        EBB_ASSERT(!batch.turns.empty(), "a batch to write is not empty");
        waiting += batch.turns.size();
        for (const Turn& turn : batch.turns) {
            EBB_ASSERT(is_pending(turn.live->row.id), "each decided instance is pending");
        }
    }
    EBB_ASSERT(
        under_way_ >= 0 && under_way_ <= commits_at_once_,
        "the number of flights is within its limits"
    );
    EBB_ASSERT(waiting <= pending_.size(), "an instance is decided once until it is settled");
    EBB_ASSERT(
        under_way_ > 0 || waiting == pending_.size(),
        "each pending instance is decided or on its way"
    );
}

void Committer::check_books(const Moment& now) {
    if (!checks_always() || has_died_) return;
    open_.check();
    flights_.check();
    for (const Work& work : open_.all()) {
        EBB_ASSERT(!flights_.is_pending(work.instance), "an unsettled instance has no open work");
    }
    check_held(now);
}

void Committer::check_held(const Moment& now) {
    HeldTable& tasks = holdings_.tasks();
    int size = 0;
    int slots = 0;
    const bool may_hold = environment().worker.may_hold(now.steady);
    tasks.for_each([&](const Held& held) EBB_REQUIRES(kCommitter) {
        ++size;
        slots += held.slot.empty() ? 0 : 1;
        const InstanceId& id = held.task.instance;
        const bool is_pending = flights_.is_pending(id);
        const AttemptPtr& attempt = held.state.attempt();
        EBB_ASSERT(held.state.is_called() == (attempt != nullptr), "what is called has an attempt");
        EBB_ASSERT(!attempt || attempt->task() == held.task, "it runs its own attempt");
        EBB_ASSERT(
            !held.state.is_deciding() || is_pending || open_.has(id),
            "an instance that is being decided is open or pending"
        );
        const bool is_looked_at =
            is_pending || open_.has(id) || agenda_.next_look() != kSteadyNever || agenda_.has(id);
        EBB_ASSERT(
            !held.state.is_idle() || is_looked_at || !may_hold,
            "a held task that does not run will be reviewed"
        );
    });
    EBB_ASSERT(size == tasks.size(), "the table counts what it holds");
    EBB_ASSERT(slots == tasks.slots(), "the table counts the slots that it holds");
}

}  // namespace ebb::engine
