#pragma once

#include <memory>

#include <ebb/observer.h>

namespace ebb {

/// For tests: counts what rollbacks undo. Keeps a few bytes for each instance that was ever rolled
/// back.
class RollbackDepth : public Observer {
 public:
    /// The most steps that one rollback of the instance has undone, or tried to; 0 if there was no
    /// rollback. Rollbacks that run at the same time, of branches, count together.
    virtual int depth(const InstanceId& instance) const = 0;
    /// Of all instances.
    virtual int deepest() const = 0;
};

std::shared_ptr<RollbackDepth> make_rollback_depth();

}  // namespace ebb
