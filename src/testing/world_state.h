#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/completion.h>
#include <ebb/error.h>
#include <ebb/testing.h>

#include "support/sync.h"
#include "testing/process.h"
#include "testing/script.h"

namespace ebb::testing::detail {

/// One call of a handler that has ended.
struct Call {
    InstanceId instance;
    std::string step;
    bool is_compensation = false;
    bool has_failed = false;
};

/// A process that dies more often without coming further would die for good.
inline constexpr int kLivesMax = 1'000;

/// What was called, in order, and what it did. Thread-safe: asynchronous handlers end in any
/// thread.
class CallLog {
 public:
    void add(Call call) {
        const Lock lock(mutex_);
        calls_.push_back(std::move(call));
    }

    void add_effect(const StepContext& step) {
        const Lock lock(mutex_);
        const std::string& key =
            step.compensates ? step.compensates->idempotency_key : step.idempotency_key;
        const auto found = std::find_if(effects_.begin(), effects_.end(), [&](const Effect& each) {
            return each.idempotency_key == key;
        });
        // A call of which only the undoing is known may have done something.
        if (step.compensates) {
            if (found != effects_.end()) found->is_undone = true;
        } else if (found != effects_.end()) {
            ++found->calls;
        } else {
            effects_.push_back({step.instance, step.step, key, 1});
        }
    }

    std::vector<Effect> effects() const {
        const Lock lock(mutex_);
        return effects_;
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
    std::vector<Effect> effects_ EBB_GUARDED_BY(mutex_);
};

/// Everything of a World. Shared with its handles, which say what is wrong when they outlive it.
struct WorldState {
    explicit WorldState(WorldOptions its_options);
    ~WorldState();
    WorldState(const WorldState&) = delete;
    WorldState& operator=(const WorldState&) = delete;

    WorldOptions options;
    ManualClock clock;
    StorePtr store;
    HandlerRegistry real;
    std::map<std::string, std::shared_ptr<ScriptState>> scripts;
    std::vector<Definition> workflows;
    CallLog calls;
    std::vector<InstanceId> instances;  ///< that may not have ended
    std::vector<InstanceId> started;    ///< all, in order
    CrashPlan plan;
    /// For starts and signals without one, so that they can be repeated.
    bool makes_keys = false;
    int signals = 0;
    std::string worker_id = "test";
    int deaths = 0;
    std::unique_ptr<ProcessStore> process;  ///< the engine's view of the store
    /// Of asynchronous calls that may still be open.
    std::vector<std::weak_ptr<ebb::detail::CompletionState>> open_calls;
    std::unique_ptr<HandlerRegistry> registry;  ///< what the engine has: `real`, scripts and stubs
    std::unique_ptr<Engine> engine;             ///< null until it is needed

    Engine& need_engine();
    /// The registry may lack what has been added since.
    void drop_engine();
    int poll();
    /// Lets time pass until `end`, with a stop at everything that becomes due.
    void advance_to(TimePoint end);
    void run_until_idle();
    void check_scripts();
    /// The handler that a step of the world's workflows calls; empty if there is no such step.
    std::string handler_of_step(const std::string& step) const;
    /// Is an asynchronous call under way that the test has to complete?
    bool has_open_call() const;
    InstanceId start(std::string_view workflow, const Payload& input, StartOptions how);

    /// Repeats `act` with a new process whenever the process has died. A repeated act may find that
    /// it was done before.
    template <typename Act>
    auto survive(Act act) -> decltype(act()) {
        for (int lives = 0; lives < kLivesMax; ++lives) {
            try {
                if constexpr (std::is_void_v<decltype(act())>) {
                    act();
                    if (!is_dead()) return;
                } else {
                    auto result = act();
                    if (!is_dead()) return result;
                }
            } catch (const ProcessDied&) {
                // Its next life tries again.
            } catch (const Error& error) {
                const bool is_done_before = lives > 0 && (error.code() == ErrorCode::NotWaiting ||
                                                          error.code() == ErrorCode::InvalidState);
                if constexpr (std::is_void_v<decltype(act())>) {
                    if (is_done_before) return;
                }
                if (!is_dead()) throw;
            }
            take_over();
        }
        throw ExpectationFailed("The worker's process dies again and again without end.");
    }

    /// Calls a handler, unless the plan says that this call goes wrong.
    Payload call(const Handler& handler, const Payload& input, const StepContext& context);
    /// The same for an asynchronous one.
    void begin(
        const AsyncHandler& handler,
        const Payload& input,
        const ebb::detail::CompletionPtr& completion
    );

    /// When a retry or a timer of an instance is due next; kNever if there is none.
    TimePoint next_wake();

 private:
    bool is_dead() const { return process && process->is_dead(); }

    /// What goes wrong with this call of a handler: CallFails, AnswerLost or None.
    CrashPlan::Kind fault_of(const StepContext& context);

    /// Another process takes over from the one that has died.
    void take_over();
    void make_engine();
    void add_handlers_of(const Definition& definition);
    void add_handler(const std::string& name);
};

}  // namespace ebb::testing::detail
