#pragma once

#include <memory>
#include <optional>
#include <unordered_map>

#include <ebb/engine.h>

#include "support/sync.h"

namespace ebb::engine {

/// Callers of `wait` in this process, told at once when this engine commits the end of what they
/// wait for. Thread-safe.
class Waiters {
 public:
    /// One caller, from its making to its end.
    class Waiter {
     public:
        Waiter(Waiters& waiters, const InstanceId& id);
        ~Waiter();
        Waiter(const Waiter&) = delete;
        Waiter& operator=(const Waiter&) = delete;

        /// Waits at most `limit` for the end; empty when it has not come.
        std::optional<Result> wait(Duration limit);

     private:
        friend class Waiters;

        Waiters& waiters_;
        const InstanceId id_;
        CondVar changed_;  // one each: the end of one instance must not wake all who wait
        std::optional<Result> result_;
    };

    bool has(const InstanceId& id) const;
    void notify(const InstanceId& id, const Result& result);

 private:
    mutable Mutex mutex_;
    std::unordered_multimap<InstanceId, Waiter*> waiters_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
