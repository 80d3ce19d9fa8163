#pragma once

#include <optional>
#include <string_view>

#include <ebb/observer.h>

namespace ebb {

/// A start of an instance that was asked for.
struct StartRequest {
    std::string_view workflow;
    int version = 1;  ///< the one that will run
    std::string_view key;
    const Payload& input;
    std::string_view by;  ///< who starts it, if it is known
};

/// An observer that may also refuse. Add it like any other observer. What it throws is a decision:
/// the first exception counts, and later interceptors are not asked. It can change nothing else.
///
/// The functions run in the threads that start instances and call handlers, several at the same
/// time. They may be slow, but must not call the engine.
class Interceptor : public Observer {
 public:
    /// Called before an instance is created, also if its key turns out to be taken. If it throws,
    /// nothing is stored, and the caller of `start` gets the exception. Throw Error with NotAllowed
    /// or InvalidPayload, so that the HTTP API has an answer for it. Not called for an instance
    /// that is imported.
    virtual void before_start(const StartRequest& /*start*/) {}

    /// Called before a handler or compensation. If it throws, the handler is not called, and the
    /// attempt has failed as if the handler had thrown: it counts, and it is retried unless the
    /// exception is a PermanentError; RetryAfter sets the pause.
    virtual void before_call(const StepContext& /*step*/, const Payload& /*input*/) {}

    /// Called with the output of a handler that has returned, unless it has paused. If it throws,
    /// the attempt has failed in the same way. The handler's effects remain.
    virtual void after_call(const StepContext& /*step*/, const Payload& /*output*/) {}
};

}  // namespace ebb
