#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <ebb/id.h>
#include <ebb/time.h>

#include "engine/committer_role.h"

namespace ebb::engine {

/// What the committer looks at again: the instances to review now, and the time when it looks at
/// everything that was set aside.
class Agenda {
 public:
    void touch(const InstanceId& id) EBB_REQUIRES(kCommitter) { touched_.push_back(id); }

    void look_at(SteadyPoint when) EBB_REQUIRES(kCommitter) {
        next_look_ = std::min(next_look_, when);
    }

    /// kSteadyNever: nothing is set aside.
    SteadyPoint next_look() const EBB_REQUIRES(kCommitter) { return next_look_; }

    bool is_due(SteadyPoint now) const EBB_REQUIRES(kCommitter) {
        return !touched_.empty() || next_look_ <= now;
    }

    /// True if what was set aside must be looked at now. Its next time is unknown afterwards.
    bool take_look(SteadyPoint now) EBB_REQUIRES(kCommitter) {
        if (next_look_ > now) return false;
        next_look_ = kSteadyNever;
        return true;
    }

    /// The instances to review, each once.
    std::vector<InstanceId> take_touched() EBB_REQUIRES(kCommitter) {
        std::vector<InstanceId> touched = std::exchange(touched_, {});
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        return touched;
    }

    bool has(const InstanceId& id) const EBB_REQUIRES(kCommitter) {
        return std::find(touched_.begin(), touched_.end(), id) != touched_.end();
    }

 private:
    std::vector<InstanceId> touched_ EBB_GUARDED_BY(kCommitter);
    SteadyPoint next_look_ EBB_GUARDED_BY(kCommitter) = kSteadyNever;
};

}  // namespace ebb::engine
