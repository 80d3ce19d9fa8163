#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <ebb/worker_observer.h>

namespace ebb {

struct QueuedOptions {
    /// What happens to a notice while as many as `capacity` are waiting.
    enum class Overflow {
        Drop,  ///< it is dropped and counted
        Wait,  ///< the engine waits, so that nothing is lost
    };

    std::size_t capacity = 8'192;
    Overflow overflow = Overflow::Drop;
};

/// An observer that notifies another one from a thread of its own, so that a slow observer does not
/// slow the engine. Notices keep their order. Thread-safe.
class QueuedObserver : public WorkerObserver {
 public:
    /// Notices that were dropped, because too many were waiting.
    virtual std::uint64_t dropped() const = 0;
    /// Notices at which the observer threw an exception. They are not logged.
    virtual std::uint64_t failed() const = 0;
    /// Waits until the observer has been notified of everything that waits now, at most `limit`.
    /// True if it has been.
    virtual bool flush(Duration limit) = 0;
};

/// Wraps `observer`. Its destructor waits until the observer has been notified of everything. The
/// contexts of calls are copies, which neither log nor report progress. Throws Error with
/// InvalidArgument for an Interceptor, which the engine has to wait for, for no observer, and for a
/// capacity of zero.
std::shared_ptr<QueuedObserver> queued(
    std::shared_ptr<Observer> observer, const QueuedOptions& options = {}
);

}  // namespace ebb
