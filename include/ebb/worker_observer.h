#pragma once

#include <string_view>

#include <ebb/observer.h>

namespace ebb {

/// The way of a call from the store to its thread.
struct CallDelay {
    std::string_view queue;
    /// From the time at which the call was due to its beginning. Never negative.
    Duration waited{0};
};

/// An observer that also sees how this process does its work. Add it like any other observer.
class WorkerObserver : public Observer {
 public:
    /// A call begins. Runs in the thread that makes it, before Observer::before_step. The stateless
    /// engine has no queues and does not call it.
    virtual void on_call(const StepContext& /*step*/, const CallDelay& /*delay*/) {}
};

}  // namespace ebb
