#pragma once

#include <memory>

#include "engine/attempt.h"
#include "support/sync.h"

namespace ebb::engine {

/// Where completions find the engine while it is there: they may outlive it. Thread-safe.
class Gate {
 public:
    /// Keeps the engine from going away for as long as it lives.
    class Pass {
     public:
        explicit Pass(Gate& gate) : gate_(gate), is_open_(gate.enter()) {}

        ~Pass() {
            if (is_open_) gate_.leave();
        }

        Pass(const Pass&) = delete;
        Pass& operator=(const Pass&) = delete;

        /// False: the engine is gone.
        explicit operator bool() const { return is_open_; }

     private:
        Gate& gate_;
        const bool is_open_;
    };

    /// Lets no thread in any more, and waits for those that are inside.
    void close();

 private:
    bool enter();
    void leave();

    Mutex mutex_;
    CondVar left_;
    int inside_ EBB_GUARDED_BY(mutex_) = 0;
    bool is_closed_ EBB_GUARDED_BY(mutex_) = false;
};

/// Who hears of the end of an asynchronous call.
class AsyncEnds {
 public:
    virtual ~AsyncEnds() = default;
    /// From any thread, while the gate is open. False: the attempt was given up before.
    virtual bool on_async_end(const AttemptPtr& attempt, Event event) = 0;
};

/// Begins the call of an attempt whose handler is asynchronous, and returns. Throws Error when its
/// input cannot be read from the store: then nothing was called. The environment and `ends` must
/// live as long as the gate is open.
void begin_async_call(
    Environment& environment,
    const AttemptPtr& attempt,
    AsyncEnds& ends,
    const std::shared_ptr<Gate>& gate
);

}  // namespace ebb::engine
