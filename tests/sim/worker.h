#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core.h"
#include "sim/plan.h"
#include "sim/sim_store.h"
#include "support/clock.h"
#include "support/skewed_clock.h"

namespace ebb::sim {

using test::SkewedClock;

/// A call in progress.
struct Running {
    engine::AttemptPtr attempt;
    Behaviour behaviour = Behaviour::Complete;
    std::size_t call = 0;  ///< its number in the run's list of calls
    std::string output;    ///< that it will return; empty: its input
    std::string handle{};  ///< that it will name
    // Known when it has returned:
    Payload input{};
    std::string code{};  ///< of its failure; empty: it completed
    std::string message{};
    std::optional<std::int64_t> retry_after_ms{};
    std::optional<Payload> payload{};
    bool is_paused = false;
};

/// Follows the script and keeps the outcome.
Payload behave(Running& running, const Payload& input, const StepContext& context);

/// One process of the cluster: the parts of a real engine, moved one by one by the scheduler.
class Worker {
 public:
    struct Setup {
        std::string id;
        std::vector<std::string> handlers;
        int in_flight_max = 8;
        bool is_client = false;  ///< only starts and steers
    };

    Worker(Setup setup, Store& shared, StoreLog& log, const Clock& truth);

    const std::string& id() const { return setup_.id; }

    const Setup& setup() const { return setup_; }

    bool is_alive() const { return core_ != nullptr; }

    Engine::Core& core() { return *core_; }

    SimStore& store() { return *store_; }

    SteadyPoint now() const { return clock.steady_now(); }

    void start();
    /// Gives its keeper the time. False: it lives, and has sent no heartbeat for too long.
    bool keep_alive();
    /// The process is gone, with everything that it knew.
    void crash();
    void begin_drain();
    /// True: it was drained, nothing runs any more, and it has signed off.
    bool finish_drain();

    /// Pops an attempt and begins it. Null: there is none, or it is not to be called.
    engine::AttemptPtr begin_next();
    /// Lets the handler return.
    engine::Executor::Ending end(Running& running);

    SkewedClock clock;
    std::vector<Running> running;
    SteadyPoint beaten_at{};  ///< the last heartbeat
    int stalled_until = 0;    ///< a tick
    int restart_at = 0;       ///< a tick, while it is not alive

 private:
    const Clock& truth_;
    Setup setup_;
    Store& shared_;
    StoreLog& log_;
    HandlerRegistry handlers_;
    std::unique_ptr<SimStore> store_;
    std::unique_ptr<Engine::Core> core_;
    Running* returning_ = nullptr;
};

}  // namespace ebb::sim
