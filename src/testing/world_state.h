#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/testing.h>

#include "support/sync.h"
#include "testing/script.h"

namespace ebb::testing::detail {

/// One call of a handler that has ended.
struct Call {
    InstanceId instance;
    std::string step;
    bool is_compensation = false;
    bool has_failed = false;
};

/// What was called, in order. Thread-safe: asynchronous handlers end in any thread.
class CallLog {
 public:
    void add(Call call) {
        const Lock lock(mutex_);
        calls_.push_back(std::move(call));
    }

    std::vector<Call> of(const InstanceId& id) const {
        const Lock lock(mutex_);
        std::vector<Call> calls;
        for (const Call& call : calls_) {
            if (call.instance == id) calls.push_back(call);
        }
        return calls;
    }

 private:
    mutable Mutex mutex_;
    std::vector<Call> calls_ EBB_GUARDED_BY(mutex_);
};

/// Everything of a World. Shared with its handles, which say what is wrong when they outlive it.
struct WorldState {
    explicit WorldState(WorldOptions its_options);

    WorldOptions options;
    ManualClock clock;
    StorePtr store;
    HandlerRegistry real;
    std::map<std::string, std::shared_ptr<ScriptState>> scripts;
    std::vector<Definition> workflows;
    CallLog calls;
    std::vector<InstanceId> instances;
    std::unique_ptr<HandlerRegistry> registry;  ///< what the engine has: `real`, scripts and stubs
    std::unique_ptr<Engine> engine;             ///< null until it is needed

    Engine& need_engine();
    /// The registry may lack what has been added since.
    void drop_engine();
    int poll();
    /// Lets time pass until `end`, with a stop at everything that becomes due.
    void advance_to(TimePoint end);
    void run_until_idle();
    /// When a retry or a timer of an instance is due next; kNever if there is none.
    TimePoint next_wake();

 private:
    void add_handlers_of(const Definition& definition);
    void add_handler(const std::string& name);
};

}  // namespace ebb::testing::detail
