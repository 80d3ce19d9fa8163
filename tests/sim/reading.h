#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/flow.h"
#include "sim/formula.h"
#include "sim/run.h"

namespace ebb::sim {

/// A visit fails after this many lost workers.
inline constexpr int kLossesMax = 5;

/// One place where an instance stands: the top level, or a branch of an open block.
struct Strand {
    enum class Branch { Open, Completed, Failed, Stopped };

    std::string path;
    const FlowNode* at = nullptr;  ///< null: at its end
    std::int64_t visit = 0;        ///< 0: no event has named it yet
    int attempt = 1;               ///< the next attempt
    int failures = 0;              ///< those that count against the limit
    int losses = 0;
    TimePoint not_before{};                 ///< when the next attempt may begin
    bool is_stopping = false;               ///< only its end may still be recorded
    bool is_frozen = false;                 ///< waits for an operator
    bool is_requeued = false;               ///< and an operator has just released it
    std::int64_t failed = 0;                ///< the event of the failure that froze it
    const HistoryEntry* awaited = nullptr;  ///< a timer, a decision or a signal
    std::set<std::string> voters;
    bool is_rejected = false;
    std::map<const FlowNode*, int> turns;
    std::int64_t data = 0;  ///< the event whose data it works on
    std::int64_t moved =
        0;  ///< the event that brought it here: its conditions see the data of that time
    bool is_resolved = false;  ///< the input from its template is known
    std::int64_t stopped = 0;  ///< the event at which a rollback stopped it
    bool must_end = false;     ///< it had begun when it was stopped: its end must be recorded

    // Its position at an open parallel block.
    bool is_forked = false;
    bool is_decided = false;  ///< the join has what it needs
    std::int64_t scope = 0;   ///< 0: no event of a branch has named it yet
    std::int64_t opened = 0;
    std::map<std::string, Branch> branches;
    std::map<std::string, std::int64_t> outputs;  ///< the events of completed branches
};

/// A compensation that has begun.
struct Undoing {
    std::int64_t visit = 0;
    int attempt = 1;
    int failures = 0;
    int losses = 0;
    TimePoint not_before{};
    bool is_frozen = false;
};

struct Ebbing {
    std::string kind;  ///< `failure`, `cancel`, `losers`
    std::string node;  ///< losers: the block
    std::string path;  ///< losers: the path of the block
    std::string prefix;
    std::set<std::string> losers;
    std::int64_t cause = 0;
    std::int64_t started = 0;
    std::int64_t floor = 0;
    std::int64_t first = 0;
    bool has_compensated = false;
};

/// The event that must come next (only stops may come before it).
struct Expected {
    std::string type;
    std::string node;
    std::string path;
    std::int64_t ref = 0;  ///< 0: any
    std::string kind;      ///< of a rollback
};

struct Savepoint {
    const FlowNode* node = nullptr;
    std::int64_t seq = 0;
    std::int64_t data = 0;
    int resumes = 0;
    std::map<const FlowNode*, int> turns;
};

/// Thrown at the first fault, because what follows a fault has no meaning.
struct Wrong {
    std::string what;
};

/// Reads one history.
class Reading {
 public:
    explicit Reading(const Evidence& evidence);

    /// Throws Wrong.
    void read();

 private:
    using Entry = HistoryEntry;

    // reading.cpp: the order of events, and events of the instance.
    void read_entry(const Entry& e);
    /// Returns true if the event may come between another event and its consequence.
    static bool is_end_by_stop(const Entry& e);
    bool read_instance_entry(const Entry& e);
    void check_expected(const Entry& e);
    void on_started(const Entry& e);
    void on_cancel(const Entry& e);
    void on_requeued(const Entry& e);
    void requeue(Strand& strand);
    void check_requeued(const Entry& e) const;
    void on_dead_lettered();
    void on_moved(const Entry& e);
    void end(const std::string& status);
    std::string present_status() const;
    Json payload(const Entry& e) const;
    [[noreturn]] void fail(const std::string& what) const;

    void require(bool is_so, const std::string& what) const {
        if (!is_so) fail(what);
    }

    // reading_forward.cpp: how strands move through the flow.
    bool read_forward_entry(const Entry& e);
    Strand& strand_of(const Entry& e);
    Strand& spawn(const std::string& path);
    bool reach(Strand& strand, const std::string& node) const;
    Strand& arrive(const Entry& e, const char* kind = nullptr);
    void take_visit(Strand& strand, const Entry& e);
    void go(Strand& strand, const FlowNode* to);
    std::string way_of(const Entry& e) const;
    std::optional<std::string> asked_way(const Strand& strand, const Entry& e) const;
    std::string error_way(const Strand& strand, const std::string& code) const;
    void check_way(const Entry& e, const std::string& wanted) const;
    void leave(Strand& strand, const std::string& handle);
    void on_step_paused(const Entry& e);
    void resume_paused(const Entry& signal);
    void resume_step(Strand& strand, std::int64_t signal);
    void on_branch_taken(const Entry& e);
    static bool is_end_of_node(const Entry& e);
    bool is_way(const Entry& e) const;
    void on_loop_finished(const Entry& e);
    void on_savepoint(const Entry& e);
    void on_timer_fired(const Entry& e);
    void on_decision_made(const Entry& e);
    void on_decision_completed(const Entry& e);
    void on_signal_completed(const Entry& e);
    void await(const Entry& e, const char* kind);
    void check_time(const Entry& e, const Entry& since, const std::string& duration) const;

    // reading_data.cpp: the data that nodes work on, and its consequences.
    Json data_of(std::int64_t seq) const;
    Facts facts_for(const Strand& strand) const;
    Value ask(const Strand& strand, const std::string& expression) const;
    std::string side_of(const Strand& strand) const;
    bool may_turn(const Strand& strand) const;
    bool may_finish(const Strand& strand) const;
    void require_data(const Strand& strand, const Entry& e) const;
    void on_input_resolved(const Entry& e);
    Value key_of(const Strand& strand) const;
    void check_resolved(const Strand& strand) const;
    void check_expression_error(const Strand& strand) const;
    Value handle_asked(const Strand& strand, const Json& output) const;
    void check_due(const Strand& strand, const Entry& e, const std::string& duration) const;
    void check_output(const Entry& e) const;

    // reading_steps.cpp: attempts and how they end.
    bool read_step_entry(const Entry& e);
    Strand& attempt_of(const Entry& e);
    void on_step_completed(const Entry& e);
    void on_step_retried(const Entry& e);
    void on_step_progressed(const Entry& e);
    void check_too_large(Strand& strand);
    void on_step_failed(const Entry& e);
    void on_lease_lost(const Entry& e);
    void on_step_requeued(const Entry& e);
    void on_stopped(const Entry& e);
    TimePoint end_of_wait(const Entry& e, int failures) const;
    void check_wait(const Entry& e, TimePoint not_before) const;
    void check_failure(const Strand& strand, const Entry& e, const std::string& code) const;
    const Call* completed_call(const Entry& e) const;
    void check_lost_result(const Strand& strand, const Entry& e, const std::string& code) const;
    void check_end_of_wait(const Strand& strand, const Entry& e, const std::string& code) const;
    void give_up(Strand& strand, const Entry& e);
    void on_instance_failed(const Entry& e);
    bool is_past_deadline(const Entry& e) const;
    void note_undoable(const Entry& e);

    // reading_scopes.cpp: parallel blocks.
    bool read_scope_entry(const Entry& e);
    Strand* parent_of(const std::string& path);
    void on_opened(const Entry& e);
    void on_branch_completed(const Entry& e);
    void on_branch_failed(const Entry& e);
    void on_joined(const Entry& e);
    void drop_inside(const std::string& path);
    void stop_inside(const std::string& path);
    void stop_all();
    std::string branch_path(const Strand& parent, const std::string& branch) const;

    // reading_rollback.cpp: compensations.
    bool read_rollback_entry(const Entry& e);
    void on_rollback_started(const Entry& e);
    void on_rollback_finished(const Entry& e);
    void on_compensation_stopped(const Entry& e);
    /// Requires that the history says how each strand under `prefix` that was stopped has ended.
    void check_all_ended(const std::string& prefix) const;
    void on_compensation(const Entry& e);
    void finish_undoing(Undoing& undoing, const Entry& e);
    void on_resumed(const Entry& e);
    std::int64_t next_of(const Ebbing& ebbing) const;
    bool is_to_be_undone(const Entry& e) const;
    bool is_of_loser(const Ebbing& ebbing, const Entry& e) const;
    Ebbing* ebbing_of(const Entry& e);
    void take_over(const Ebbing& ebbing);
    bool is_left_over(const Entry& e) const;
    void check_nothing_late(const Entry& e) const;
    void turn_into_cancel(const Entry& e);

    // reading_form.cpp: the numbers and names that an event carries.
    bool is_pause(const Entry& e) const;
    void check_form(const Entry& e) const;
    void check_order(const Entry& e);
    void check_arrival(const Strand& strand) const;
    void check_settled() const;
    bool rests(Strand strand) const;
    bool branches_rest(const Strand& strand) const;

    // reading_requests.cpp: the requests of people.
    void check_requests() const;
    void check_mover(const Entry& e) const;

    // reading_end.cpp: what must hold when an instance has ended or waits.
    void check_end();
    void check_waits() const;
    void check_deadline_kept() const;

    // reading_calls.cpp: the calls that handlers really received.
    void check_calls();
    void check_ending(const Entry& e) const;
    void check_doubt(const Entry& e) const;
    void check_input(const Call& call) const;
    void check_payload(const Call& call) const;
    void require_call(const Entry& e, const std::string& outcome, const std::string& result) const;
    Json told_of(const Entry& undone) const;
    bool is_in_doubt(const Entry& at) const;

    const Evidence& evidence_;
    const Flow flow_;
    const Entry* now_ = nullptr;
    std::map<std::int64_t, const Entry*> entries_;
    std::map<std::string, Strand> strands_;                     // by path
    std::map<std::string, std::vector<std::int64_t>> outputs_;  // the events of steps
    std::set<std::int64_t> visits_;
    std::set<std::int64_t> scopes_;
    std::optional<Expected> expected_;
    bool was_expected_ = false;       // the event at hand had to come
    std::int64_t decision_ = 0;       // the last event that certainly came from outside
    std::int64_t last_but_stop_ = 0;  // the last event that did not end a stopped strand
    std::int64_t last_failure_ = 0;   // the last failure that needs an operator
    std::int64_t last_visit_ = 0;     // the highest number so far
    std::string phase_ = "running";   // the activity, paused or not
    bool is_paused_ = false;
    bool is_away_ = false;      // its row is `moved`
    bool is_released_ = false;  // the snapshot was released too: it may only arrive
    std::string ended_;
    std::optional<Savepoint> savepoint_;
    std::map<std::int64_t, std::string> signals_;  // not used yet

    /// The signals that resumed paused steps, one for each pause, by visit.
    std::map<std::int64_t, std::vector<std::int64_t>> told_;

    std::map<std::int64_t, const Entry*> undoable_;
    std::map<std::int64_t, std::int64_t> last_of_visit_;
    std::set<std::int64_t> settled_;
    std::map<std::int64_t, Undoing> undoings_;
    std::set<std::int64_t> in_flight_;  // may have begun before another rollback took over
    TimePoint visited_at_{};            // of the latest visit
    std::int64_t visits_before_ = 0;    // before the events of exactly that time
    std::set<std::int64_t> skippable_;  // an operator may have just skipped them
    std::optional<Ebbing> ebbing_;
    std::map<std::string, Ebbing> loser_ebbings_;  // by node
};

}  // namespace ebb::sim
