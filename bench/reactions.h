#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <sys/types.h>

#include <ebb/ebb.h>

#include "report.h"
#include "shared_memory.h"

// How soon one process feels what has happened to another, or what another has asked for.

namespace ebb::bench {

using OpenStore = std::function<StorePtr()>;

/// What handlers in other processes tell.
struct Seen {
    std::atomic<int> calls{0};
    std::atomic<pid_t> runner{0};  ///< of the last call
    std::atomic<std::int64_t> called_at{0};
    std::atomic<std::int64_t> stopped_at{0};
};

/// Worker processes that share a store, and a client in this process. There must be no threads: it
/// forks.
class Team {
 public:
    /// The lease of the workers.
    static constexpr Duration kLease = std::chrono::seconds(2);

    Team(OpenStore open, std::size_t workers);
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team();

    /// From the end of a worker process that is killed in its handler, until another process has
    /// called the handler.
    double kill_ms();
    /// From cancel() until the handler in the other process is asked to stop.
    double cancel_ms();
    /// From decide() until the handler of the next step is called in the other process.
    double decide_ms();

 private:
    int serve();
    /// Runs the handler until it is asked to stop.
    InstanceId hold();

    const OpenStore open_;
    SharedMemory<Seen> seen_;
    std::vector<pid_t> pids_;
    StorePtr store_;
    const HandlerRegistry none_;
    std::optional<Engine> client_;
};

/// The ratio is that of the slowest of `runs`: what is promised holds always.
Figure reaction_figure(Duration promised, int runs, const std::function<double()>& reaction_ms);

}  // namespace ebb::bench
