#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ebb/stateless.h>
#include <ebb/store.h>

#include "sim/cluster.h"
#include "store/store.h"

namespace ebb::sim {

using test::Dice;

/// One run of a plan: the cluster, its time, and who moves next.
class Simulation {
 public:
    Simulation(const Plan& plan, const RunOptions& options);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    RunResult run();

 private:
    // cluster.cpp: what happens by itself, in an order that chance gives.
    void move(Dice& dice);
    void poke(Worker& worker, Dice& dice);
    void keep_alive(Worker& worker);
    void pass_time(Dice& dice);
    bool is_anybody_busy() const;
    TimePoint next_due() const;
    Payload output_of(const std::string& handler, int count) const;
    std::string handle_of(const Invocation& invocation, const Running& running, int count);
    Running prepare(const std::string& by, int instance, const Invocation& invocation);
    void record(const Running& running);
    bool begin_one(Worker& worker);
    void end_one(Worker& worker, Dice& dice);
    void end(Worker& worker, std::size_t index);
    bool may_end(const Running& running) const;
    void crash(Worker& worker, int restart_after);
    bool is_name_alive(const std::string& id) const;
    void restart(bool at_once);
    void perform_late(bool now);
    bool all_have_ended();
    int number_of(const InstanceId& id) const;
    void note(const std::string& line);

    // watch.cpp
    void watch();
    void watch_start(const Claim& claim);
    void watch_limits();

    // disturb.cpp: what happens to it.
    void disturb(const Disturbance& disturbance);
    void disturb_store(Worker& worker, const Disturbance& disturbance);
    void disturb_worker(Worker& worker, const Disturbance& disturbance);
    void start_twin(const Worker& worker);
    void repeat_last_outcome(Worker& worker);
    void request(Worker& by, const Disturbance& disturbance);
    void send(Worker& by, const InstanceId& id, Event event);
    Event event_of(const Disturbance& disturbance);
    void evolve();
    Event recovery(Dice& dice, const InstanceId& id);

    // abroad.cpp: instances leave the cluster and come back.
    void open_abroad();
    Payload call_abroad(const Payload& input, const StepContext& context);
    void travel(Worker& by, const Disturbance& disturbance);
    void note_request(const InstanceId& id, const char* type);
    void take_out(Worker& by, const InstanceId& id);
    void step_abroad(const InstanceId& id);
    void bring_back(Worker& by, const InstanceId& id);
    void bring_all_back();
    void note_told(const InstanceId& id);
    std::vector<HistoryEntry> whole_history(const InstanceId& id);

    // purge.cpp: what has ended is deleted.
    void purge(Worker& by, const Disturbance& disturbance);
    bool is_gone(const InstanceId& id) const;
    void look_for_ghosts();

    // rest.cpp: faults have stopped.
    void come_to_rest();
    void calm_down();
    bool work_off(Worker& worker);
    bool let_time_pass();
    void gather();
    void go_on();
    void help(Dice& dice);
    void give_what_is_awaited(const InstanceId& id, Dice& dice);
    Event requeue(Dice& dice) const;
    static Event random_write(Dice& dice, const std::string& by);

    const Plan& plan_;
    const RunOptions& options_;
    ManualClock clock_;
    StorePtr store_;
    std::unique_ptr<Store> decorated_;
    Store* shared_;
    StoreLog log_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<Worker> client_;
    std::vector<InstanceId> instances_;
    std::vector<Call> calls_;
    std::vector<Asked> requests_;
    std::map<std::pair<int, std::string>, int> counts_;  // of calls, by instance and handler
    std::optional<Running> last_ended_;

    /// Of an instance that was moved out, or is just being so.
    struct Away {
        std::string home;         ///< its snapshot as it was exported; empty: no process has it yet
        std::string text;         ///< as it is now
        bool is_leaving = false;  ///< it may already be back
    };

    /// What was known of an instance when it was purged.
    struct Gone {
        std::string status;
        std::vector<HistoryEntry> history;
        TimePoint ended_at;
    };

    std::map<int, Gone> gone_;  // by instance
    std::map<int, Away> away_;  // by instance
    HandlerRegistry abroad_handlers_;
    std::unique_ptr<stateless::Engine> abroad_;
    std::vector<HistoryEntry> abroad_events_;                          // of what is happening there
    std::map<int, std::map<std::int64_t, HistoryEntry>> told_abroad_;  // by instance and number
    std::map<std::string, std::vector<TimePoint>> starts_;             // by queue
    std::size_t version_ = 0;  // of the plan's newer ones, the next
    int tick_ = 0;
    bool is_calm_ = false;
    bool has_true_time_ = true;
    RunResult result_;
};

}  // namespace ebb::sim
