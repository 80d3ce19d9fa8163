#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/kernel/decide.h"
#include "engine/attempt.h"
#include "engine/committer_role.h"
#include "engine/letters.h"
#include "engine/live_instance.h"
#include "store/store.h"

namespace ebb::engine {

/// Where a held task stands. The functions are its transitions; each asserts the state that
/// it begins in. docs/engine.md has the table.
class HeldState {
 public:
    enum class State {
        Idle,      ///< waits for a review, which may be set aside until a date
        Called,    ///< its attempt is queued or running
        Deciding,  ///< something of it is on its way through a commit
    };

    bool is_idle() const { return state_ == State::Idle; }

    bool is_called() const { return state_ == State::Called; }

    bool is_deciding() const { return state_ == State::Deciding; }

    /// Null unless called.
    const AttemptPtr& attempt() const { return attempt_; }

    /// The attempt whose outcome is being decided on, or could not be kept. Null = none.
    const AttemptPtr& returned() const { return returned_; }

    /// Idle -> Called.
    void call(AttemptPtr attempt);
    /// Called -> Idle: the call never began, or what followed from it is already committed.
    void end_call();
    /// Called -> Idle, unless the call has begun; returns whether it did not.
    bool withdraw();
    /// Called -> Deciding, on the outcome of the call.
    void take_outcome();
    /// Idle -> Deciding, on an event or a row of the task.
    void decide();
    /// Idle or Deciding -> Deciding: the commit did not take the outcome, so it is decided again.
    void decide_again();
    /// Deciding -> Idle. Nothing happens in the other states: a commit may name tasks that it did
    /// not decide on.
    void end_decision();

    /// The outcome of `returned` is settled.
    void forget_returned() { returned_ = nullptr; }

 private:
    State state_ = State::Idle;
    AttemptPtr attempt_;
    AttemptPtr returned_;
};

/// One task whose lease this worker holds.
struct Held {
    TaskRef task;
    std::uint64_t acquired = 0;  ///< the number of the last heartbeat sent before
    HeldState state{};
    /// The row says something (a stop, a loss, a park, no handler) that must not outlive what
    /// happens next: it has to be written again even if the lease is kept.
    bool is_row_dirty = false;
    /// Another process has changed the instance, and may have gone on with this task: only the
    /// store knows whose it is.
    bool is_doubtful = false;
    bool is_stop = false;         ///< claimed as a stop: its handler is no longer called
    bool is_engine_task = false;  ///< claimed as the engine's own: a timer or a deadline
    Visit due_visit = 0;          ///< of an engine's task: whose time has come
    bool was_lost = false;        ///< the attempt in progress may have been called by `lost_by`
    std::string lost_by;
    /// What was handed in for the attempt in progress, until it is decided.
    std::optional<Event> outcome;
    std::optional<Letters> letters{};  ///< of kMailTask
    /// The queue with limits that it was claimed from, whose slot it holds; empty = none. Set when
    /// it is added.
    std::string slot;
    /// While its handler is called, it occupies a thread. Set when it is added.
    bool has_thread = true;
    /// It may have been called under this very lease, and its outcome is not kept.
    bool is_called_in_vain = false;
    bool was_asked_to_stop = false;
    int fruitless = 0;         ///< how often it was looked at without coming any further
    SteadyPoint not_before{};  ///< set aside until then
};

/// The tasks that this worker holds, by instance. Belongs to the committer: not thread-safe.
class HeldTable {
 public:
    /// Null when it is not held. Valid until the instance's tasks change.
    Held* find(const TaskRef& task);
    /// All of one instance.
    std::vector<Held>& of(const InstanceId& id);

    bool has_any_of(const InstanceId& id) const { return tasks_.contains(id); }

    Held& add(Held held);
    void erase(const TaskRef& task);

    int size() const { return size_; }

    /// How many hold a slot of a queue with limits, and how many of these need a thread.
    int slots() const { return slots_; }

    int thread_slots() const { return thread_slots_; }

    /// Calls `visit(Held&)` for each; `visit` must not add or erase.
    template <class Visit>
    void for_each(Visit visit) EBB_REQUIRES(kCommitter) {
        for (auto& [id, tasks] : tasks_) {
            for (Held& held : tasks) visit(held);
        }
    }

 private:
    std::unordered_map<InstanceId, std::vector<Held>> tasks_;
    std::vector<Held> none_;
    int size_ = 0;
    int slots_ = 0;
    int thread_slots_ = 0;
};

/// What has to happen to a held task before its handler can run, as the instance's state sees it: a
/// timer that fired, a stop, a loss. Empty when nothing has to.
std::optional<Event> event_for(const Held& held, const LiveInstance& live);

/// What to do with a held task for which no event is due and nothing runs.
struct NextMove {
    enum class Kind {
        Run,      ///< call its handler
        Rewrite,  ///< commit `row`, so that the right worker finds it
        Release,  ///< give the lease back
        Wait,     ///< until the leases are known to be valid again
    };

    Kind kind = Kind::Release;
    std::optional<Invocation> call;  ///< of Run
    TaskChange row;                  ///< of Rewrite
};

NextMove next_move(
    const Held& held, const LiveInstance& live, const Environment& environment, const Moment& now
);

/// May what is held be decided on? When the last heartbeat is too old, others may have taken the
/// task over and called its handler.
bool is_surely_held(const Held& held, const Environment& environment, SteadyPoint now);

/// Is the attempt's outcome still what the instance waits for?
enum class Standing {
    Wanted,
    Unwanted,  ///< its token is stopping: the outcome is awaited, but the handler should
               ///< stop
    Orphaned,  ///< no caller waits for it
};
Standing standing_of(const Attempt& attempt, const LiveInstance& live);

}  // namespace ebb::engine
