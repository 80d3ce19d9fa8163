#pragma once

#include <vector>

#include "core/kernel/effects.h"

// Which side rows a decision changes: those of the state after it, less those of the state before.
// Private to the kernel.

namespace ebb::kernel {

class Transition;

/// What of a state has side rows. Takes no memory where nothing has.
class Projection {
 public:
    explicit Projection(const InstanceState& before);

    /// What the decision in `t`, which began with that state, changes.
    Effects changes(const Transition& t) const;

 private:
    struct Standing {
        TokenId token = 0;
        Visit visit = 0;
        std::size_t votes = 0;
        TimePoint due{};
    };

    std::vector<Standing> waits_;
    InstanceStatus failure_ = InstanceStatus::Running;  ///< Running = there is none
    Seq error_ = 0;
    bool has_labels_ = false;  ///< they already have rows
};

}  // namespace ebb::kernel
