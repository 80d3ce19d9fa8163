#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ebb/engine.h>

#include "fault_at_call.h"
#include "golden_case.h"
#include "store/store.h"
#include "support/clock.h"

namespace ebb::golden {

/// Runs a case over a store under virtual time, in one thread: it plays the handlers and the
/// outside world, and the processes that die and take over.
class Player {
 public:
    Player(const Case& test_case, Store& store, ManualClock& clock, Fault fault = {});

    /// Until the instance is over and the script has no more events, or nothing ever happens again.
    void play();

    /// Lifts the pause that a lost worker has left, and plays on.
    void resume_and_play();

    /// A lease had to run out: what happens at a certain time may have come in another order.
    bool has_lost_time() const { return has_lost_time_; }

    /// From here on nothing goes wrong any more.
    void end_faults() { fault_.nth = 0; }

    const Fault& fault() const { return fault_; }

    const InstanceId& id() const { return id_; }

    /// The handlers in the order in which they were called; `!` = failed, `?` = its worker died.
    const std::vector<std::string>& calls() const { return calls_; }

    /// What the instance refused of what was asked of it.
    const std::vector<std::string>& refusals() const { return refusals_; }

    /// The engine that works at the end.
    Engine& engine() { return *process_->engine; }

    TimePoint start() const { return start_; }

 private:
    /// What dies together.
    struct Process {
        FaultAtCall store;
        Engine world;                    ///< through which people and other programs ask
        std::unique_ptr<Engine> engine;  ///< the worker

        Process(Store& inner, Fault& fault, const HandlerRegistry& nobody, Clock& clock);
    };

    /// One call that a handler got, to recognize that it is repeated because its result was lost.
    struct Call {
        int turn = 0;
        int attempt = 0;
        int pauses = 0;
        bool has_died = false;  ///< as the script wants it
    };

    void play_on();
    void boot();
    void reboot();
    void begin();
    Payload call(const std::string& handler, const Payload& input, const StepContext& context);
    int turn_of(const std::string& handler, const StepContext& context);
    bool is_end_known(const StepContext& context, const Call& call);
    Payload perform(const Json& outcome, const Payload& input);
    void act(std::size_t event);
    void act_or_throw(const Json& event);
    void act_on_worker(const Json& event);
    void let_others_go_on();
    void expire_worker();
    void act_when_due();
    bool is_over();
    bool move_on();
    bool is_patient(int& tries, const Error& error);
    bool recovers();
    Seq write_number(int number);

    const Case& case_;
    Store& store_;
    ManualClock& clock_;
    const TimePoint start_;
    Fault fault_;
    const Json events_;
    HandlerRegistry nobody_;
    HandlerRegistry handlers_;
    std::set<std::string> missing_;
    std::string worker_ = "worker";
    int workers_ = 1;
    int stuck_rounds_ = 0;
    int quiet_rounds_ = 0;
    int rounds_after_fault_ = 0;
    bool has_lost_time_ = false;
    std::unique_ptr<Process> process_;
    InstanceId id_;
    std::set<std::size_t> done_;
    std::map<std::string, int> turns_;
    std::map<std::string, Call> by_key_;
    std::vector<std::string> calls_;
    std::vector<std::string> refusals_;
};

/// What happened, one line per history event, then the calls, the steps' statuses and the outcome.
std::string tell(Player& player, const Case& test_case);

}  // namespace ebb::golden
