#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <ebb/engine.h>

#include "support/sync.h"

namespace ebb::engine {

/// Callers of `wait` in this process. They are notified immediately when this engine commits the
/// end of the instance that they wait for. Thread-safe.
class Waiters {
 public:
    /// One caller, from construction to destruction.
    class Waiter {
     public:
        Waiter(Waiters& waiters, const InstanceId& id);
        ~Waiter();
        Waiter(const Waiter&) = delete;
        Waiter& operator=(const Waiter&) = delete;

        /// Waits at most `limit` for the end; empty if it has not come.
        std::optional<Result> wait(Duration limit);

     private:
        friend class Waiters;

        Waiters& waiters_;
        const InstanceId id_;
        CondVar changed_;  // one each: the end of one instance must not wake all callers
        std::optional<Result> result_;
        bool is_nudged_ = false;
    };

    /// This engine works on the instance and will see its end, so callers that wait for it need not
    /// look into the store immediately.
    void expect(const InstanceId& id);
    /// False if the end is over, or if another process will see it.
    bool is_expected(const InstanceId& id) const;
    /// The instance has ended. True if a caller waits and must be notified.
    bool end(const InstanceId& id);
    void notify(const InstanceId& id, const Result& result);
    /// Callers that wait and poll in between have something to do.
    void nudge();

 private:
    mutable Mutex mutex_;
    /// The maximum number of remembered instances. Other processes may end some of them.
    static constexpr std::size_t kExpectedMax = 4'096;

    std::unordered_multimap<InstanceId, Waiter*> waiters_ EBB_GUARDED_BY(mutex_);
    std::unordered_set<InstanceId> expected_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
