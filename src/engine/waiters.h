#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

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
        bool is_nudged_ = false;
    };

    /// This engine works on the instance and will see its end: who waits for it need not look into
    /// the store at once.
    void expect(const InstanceId& id);
    /// False when its end is over, or is somebody else's to see.
    bool is_expected(const InstanceId& id) const;
    /// It has ended: true when somebody waits, who is to be notified.
    bool end(const InstanceId& id);
    void notify(const InstanceId& id, const Result& result);
    /// Those who wait and poll in between have something to do.
    void nudge();

 private:
    mutable Mutex mutex_;
    /// More are not remembered: some may be ended by others.
    static constexpr std::size_t kExpectedMax = 4'096;

    std::unordered_multimap<InstanceId, Waiter*> waiters_ EBB_GUARDED_BY(mutex_);
    std::unordered_set<InstanceId> expected_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
