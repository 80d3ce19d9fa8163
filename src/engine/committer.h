#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <ebb/engine.h>
#include <ebb/error.h>

#include "engine/claim_signals.h"
#include "engine/environment.h"
#include "engine/flight.h"
#include "engine/held.h"
#include "engine/hint_box.h"
#include "engine/inbox.h"
#include "engine/live_instance.h"
#include "engine/pace.h"
#include "engine/ready_queue.h"
#include "engine/service.h"
#include "engine/turn.h"
#include "engine/waiters.h"
#include "engine/watchdog.h"

namespace ebb::engine {

/// Turns events into commits, and commits into the calls that follow.
///
/// There is one committer at a time: a thread that posts something and finds the role free works
/// for all threads. So the committer owns the instances in memory and the table of held tasks
/// without a lock, and decides events of one instance one after another. While a commit is on its
/// way, no thread holds the role for it: other threads continue with other instances. When as many
/// commits are on their way as the store takes at the same time, everything that comes shares the
/// next one. If the store is in trouble, the same commit is repeated until its outcome is known;
/// nothing is lost in the meantime.
class Committer final : public Service {
 public:
    struct Parts {
        Environment& environment;
        ProgramCache& programs;
        ReadyQueue& ready;
        Watchdog& watchdog;
        Waiters& waiters;
        ClaimSignals& signals;
        HintBox& hints;
        Pace& pace;
    };

    explicit Committer(Parts parts)
        : parts_(parts),
          commits_at_once_(parts.environment.store.traits().commits_at_once),
          cache_(parts.environment.options.in_flight_max) {}

    std::string_view name() const override { return "committer"; }

    bool has_observer() const { return !environment().observers.empty(); }

    /// Posts work. The next `combine` of any thread does it.
    void post(Item item) { inbox_.post(std::move(item)); }

    /// The kind of thread that offers its time.
    enum class Role {
        Handler,  ///< a handler thread: gets the next call of its own instance back, to run it
        Guest,    ///< a thread with other work: one round, then the committer's own thread
        Owner,    ///< works until nothing is left
    };

    /// Processes posted work, unless another thread is doing so. Returns a call that the caller
    /// must make (Role::Handler only), or null.
    AttemptPtr combine(Role role);

    /// Whether a handler thread should make the next ready call rather than commit what it has
    /// posted: more work will then share the commit. The committer's own thread ensures that
    /// nothing waits longer than Pace::gathering_time, however long that call takes.
    bool may_gather();

    SteadyPoint tick(SteadyPoint now) override;

    /// When it needs to look again: a commit to repeat, or a task set aside.
    SteadyPoint next_look() const { return SteadyPoint(Duration(next_look_.load())); }

    /// Held around every claim and start that leases tasks to this worker, until the tasks are
    /// posted. A heartbeat must not treat tasks on their way as forgotten.
    class Acquiring {
     public:
        explicit Acquiring(Committer& committer) : committer_(committer) {
            ++committer_.acquiring_;
        }

        ~Acquiring() { --committer_.acquiring_; }

        Acquiring(const Acquiring&) = delete;
        Acquiring& operator=(const Acquiring&) = delete;

     private:
        Committer& committer_;
    };

    /// Heartbeats get rising numbers when they are sent.
    std::uint64_t next_heartbeat() { return ++heartbeats_; }

    /// How many more tasks this worker should take.
    int free_capacity() const;

    /// Has something been posted that the committer has not taken yet?
    bool has_posted() const { return inbox_.has_items(); }

    /// Is there enough room to make a claim worthwhile?
    bool has_room() const;

    /// True if this worker holds no task and everything decided is written.
    bool is_idle() const { return is_idle_; }

    /// Rings while draining, when it has become idle.
    Alarm& idle_alarm() { return idle_; }

    /// Whether there is a thread that calls tick: guests then hand over to it.
    void set_has_own_thread(bool has) { has_own_thread_ = has; }

 private:
    static constexpr Duration::rep kNotGathering = kSteadyNever.time_since_epoch().count();

    // The round: committer.cpp
    int capacity(int target) const;
    AttemptPtr run_rounds(Role role, bool& is_inside);
    void take_part(const Moment& now, void (Committer::*part)(const Moment&));
    void begin_round(const Moment& now);
    void end_round(const Moment& now);
    bool leave_after(Role role, int rounds, SteadyPoint now);
    /// Runs before this thread is away with a commit.
    void leave_to_others(SteadyPoint now);
    bool has_more(SteadyPoint now) const;
    bool may_decide() const;
    void announce_next_look(SteadyPoint look);
    void take_items();
    void absorb_or_hold_back(Item item);
    /// Holds the item back: until its instance is settled, nothing more may be decided on it.
    bool must_wait(const Item& item);
    void look_again(SteadyPoint now);
    void decide_open(const Moment& now);
    bool decide_one(Work& work, const Moment& now, std::vector<Turn>& turns);
    /// Pending changes for tasks that were lost in the meantime no longer belong to this worker.
    void forget_lost(Work& work);
    void make_batches(std::vector<Turn> turns);
    AttemptPtr hand_out(Role role);

    // Invariants between the parts of a round: books.cpp
    void check_books(const Moment& now);
    void check_work() const;
    void check_held(const Moment& now);

    // Flights: flying.cpp
    FlightPtr take_off(SteadyPoint now);
    void fly(Flight& flight) noexcept;
    void settle_landed(SteadyPoint now);
    void settle_flight(Flight& flight, SteadyPoint now);
    void settle_all(Batch& batch, std::vector<CommitResult>& results);
    /// Finds the conflicts that are with an earlier attempt of the batch whose answer was lost.
    void recognize(Batch& batch, std::vector<CommitResult>& results);
    void write_one_by_one(Batch& batch, const std::exception& error);
    void drop_requests(Batch& batch);
    void block(SteadyPoint now, const std::exception& error);
    void refuse_requests(const std::exception_ptr& error);

    // Posted items: absorb.cpp
    void absorb(item::Outcome& outcome);
    void note_progress(const AttemptPtr& attempt, std::optional<Payload> value);
    void absorb(item::Transacted& transacted);
    void absorb(item::Unstarted& unstarted);
    void absorb(item::Claimed& claimed);
    void absorb(item::Begun& begun);
    void absorb(item::Request& request);
    void absorb(item::Heartbeat& heartbeat);
    void absorb(item::Told& told);
    void absorb(item::Withdrawal& withdrawal);
    void absorb(item::Shutdown& shutdown);
    void drop_lost(const item::Heartbeat& heartbeat);
    void obey_stops(const HeartbeatResult& result);
    void adopt_orphans(const HeartbeatResult& result);
    void adopt(const TaskRef& task, bool may_have_been_called);
    void doubt_predecessor(const item::Heartbeat& heartbeat);
    void release_unknown(const item::Heartbeat& heartbeat);
    void settle_doubts(const item::Heartbeat& heartbeat);
    /// All workers share what the store does at the same time: two workers may write as if each
    /// were alone.
    void share_store(int others);

    // Outcomes of commits: settle.cpp
    void settle(Turn& turn, CommitResult result);
    void settle_committed(Turn& turn);
    void settle_conflict(Turn& turn);
    /// Something blocks this instance only.
    void settle_busy(Turn& turn);
    void settle_unchanged(Turn& turn);
    void settle_row(const Turn& turn, const TaskChange& change);
    void settle_cause(const Turn& turn, Cause& cause);
    void settle_end(LiveInstance& live);
    void tell_of_end(const Turn& turn);
    void reopen(std::vector<Cause> causes, const InstanceId& id, int conflicts);
    /// Until then, nothing of the instance is decided, except for running calls.
    void delay(const InstanceId& id, int delays);
    void undecide(const Turn& turn);
    void forget_instance(const Turn& turn);
    void set_aside(Turn& turn, const std::exception& error);
    void drop(Work& work, const Error& why);
    void observe(const LiveInstance& live, std::span<const HistoryEvent> events);

    // What comes next: review.cpp
    void review_touched(const Moment& now);
    void review(const InstanceId& id, const Moment& now);
    void review_attempt(Held& held, const LiveInstance& live);
    /// Drops tasks that the store does not lease to this worker. After `live_of`: a worker that
    /// takes a task later changes the instance, so the next commit meets a conflict.
    void check_doubtful(const InstanceId& id);
    std::vector<TokenId> leased_here(const InstanceId& id);
    void review_idle(Held& held, LiveInstance& live, const Moment& now);
    void start_attempt(Held& held, LiveInstance& live, Invocation call);
    void let_go(const TaskRef& task, Attempt::StopReason reason);
    /// Returns the lease, as lost if the handler may have been called and its outcome is not kept:
    /// the next worker to claim the task must know this before it makes the same call again.
    void hand_back(const TaskRef& task);
    void flush_releases();

    /// A task whose release as lost got no answer.
    struct Doubt {
        TaskRef task;
        std::uint64_t since = 0;  ///< the number of the last heartbeat sent before it
    };

    Held& hold(const TaskRef& task, std::string slot = {});
    Work& work_of(const InstanceId& id);
    LivePtr live_of(const InstanceId& id);
    /// Caches an instance that was read, unless a newer version is already cached.
    LivePtr keep_newer(LivePtr live);
    /// Another process may have changed the instance, and with it the rows that are held here: set
    /// a stop or a park, or removed them.
    void distrust_rows(const InstanceId& id);

    /// kSteadyNever: no gathered work is waiting.
    SteadyPoint gathering_until() const { return SteadyPoint(Duration(gathering_until_.load())); }

    Environment& environment() const { return parts_.environment; }

    const Parts parts_;
    const int commits_at_once_;  // for a worker that is alone
    Inbox inbox_;
    std::atomic<int> acquiring_{0};
    std::atomic<std::uint64_t> heartbeats_{0};
    std::atomic<bool> is_idle_{true};
    Alarm idle_;
    std::atomic<bool> has_own_thread_{false};
    std::atomic<Duration::rep> gathering_until_{kNotGathering};
    std::atomic<Duration::rep> next_look_{kSteadyNever.time_since_epoch().count()};

    // Only the thread that is the committer uses the following members.
    InstanceCache cache_;
    HeldTable held_;
    std::vector<Work> open_;  // to be decided, in order
    std::unordered_map<InstanceId, std::size_t> open_index_;
    std::size_t delayed_ = 0;                 // of open_: not to be decided before look_again_at_
    std::deque<Batch> batches_;               // decided, to be written
    std::unordered_set<InstanceId> pending_;  // decided, not settled
    int flights_ = 0;                         // on their way
    int flights_max_ = commits_at_once_;
    std::vector<Item> held_back_;  // until their instances are settled
    bool wants_quiet_ = false;     // one of them concerns everything: nothing is decided before it
    bool has_settled_ = false;     // something was settled since held_back_ was checked
    std::vector<InstanceId> touched_;    // to be reviewed
    std::vector<AttemptPtr> started_;    // to be handed out
    std::vector<TaskRef> releases_;      // to be released
    std::vector<TaskRef> abandoned_;     // to be released as lost
    std::vector<Doubt> doubts_;          // were they released as lost?
    std::vector<TaskRef> unknown_;       // held according to the last heartbeat, but not here
    bool has_adopted_ = false;           // tasks that a predecessor of the same name held
    SteadyPoint predecessor_gone_at_{};  // the process that had this name before
    bool is_predecessor_gone_ = false;   // and its claims have been seen
    SteadyPoint look_again_at_ = kSteadyNever;
    SteadyPoint retry_at_{};  // nothing is written before this
    int failures_ = 0;
    std::exception_ptr last_error_;
};

}  // namespace ebb::engine
