#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/executor.h"
#include "engine/ready_queue.h"
#include "engine/service.h"
#include "support/sync.h"

namespace ebb::engine {

/// The only maker of threads: one for each service, and the pool that calls handlers.
class Runner {
 public:
    struct Parts {
        Environment& environment;
        ReadyQueue& ready;
        Committer& committer;
        Executor& executor;
        std::vector<Service*> services;
    };

    explicit Runner(Parts parts) : parts_(std::move(parts)) {}

    ~Runner() { join(); }

    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;

    void start();
    /// Lets all threads end as soon as they are through with what they are doing.
    void request_stop();
    /// Waits for them, also for handlers that do not return: what they use may be gone afterwards.
    void join();

    /// A handler was given up: another thread takes its place, at most as many as the pool has.
    void replace_thread();

 private:
    void serve(Service& service);
    void work();
    bool is_surplus();

    const Parts parts_;
    std::atomic<bool> is_stopping_{false};
    Mutex mutex_;
    int replaced_ EBB_GUARDED_BY(mutex_) = 0;  // given up and not returned yet
    std::vector<std::jthread> threads_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::engine
