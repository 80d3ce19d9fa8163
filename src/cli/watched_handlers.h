#pragma once

#include <functional>
#include <string>

#include <ebb/handler.h>

#include "support/clock.h"

namespace ebb::cli {

/// A handler's call has begun here.
struct CallStarted {
    InstanceId instance;
    std::string node{};
    std::string handler{};
    int attempt = 1;
    int max_attempts = 1;
    bool is_compensation = false;
    TimePoint at{};
};

/// A registry with the handlers of `handlers`, each of which tells `watcher` before it runs. The
/// history knows only of ends, so this is how a display knows what is running. An asynchronous
/// handler stays asynchronous. `handlers` and `clock` must outlive it. The watcher is called from
/// worker threads.
HandlerRegistry watch_handlers(
    const HandlerRegistry& handlers,
    const Clock& clock,
    std::function<void(const CallStarted&)> watcher
);

}  // namespace ebb::cli
