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

/// Turns what happened into commits, and commits into the calls that follow.
///
/// There is one at a time: whoever posts something and finds the place free works for all. So it
/// owns the instances in memory and the table of held tasks without any lock, and events of one
/// instance are decided one after another. Nobody is the committer while a commit is under way:
/// others go on with other instances, and everything that comes while as many commits are under way
/// as the store takes at once shares the next one. Where the store is in trouble, the very same
/// commit is repeated until it is known what became of it; nothing is lost meanwhile.
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

    /// Leaves something to be done. It is done by the next `combine` of anybody.
    void post(Item item) { inbox_.post(std::move(item)); }

    /// Who offers its time.
    enum class Role {
        Handler,  ///< a handler thread: gets the next call of its own instance back, to make it
        Guest,    ///< a thread with other things to do: one round, then the committer's own thread
        Owner,    ///< works until nothing is left
    };

    /// Works off what was posted, unless somebody else does. Returns a call that the caller must
    /// make (Role::Handler only), or null.
    AttemptPtr combine(Role role);

    /// Whether a handler thread should rather make the next call that is ready than commit what it
    /// has posted: more will then share the commit. The committer's own thread sees to it that
    /// nothing waits longer than Pace::gathering_time, whatever that call does.
    bool may_gather();

    SteadyPoint tick(SteadyPoint now) override;

    /// When it wants to look again: a commit to be repeated, a task set aside.
    SteadyPoint next_look() const { return SteadyPoint(Duration(next_look_.load())); }

    /// Around every claim and start that leases tasks to this worker, until they are posted: a
    /// heartbeat must not take what is on its way for forgotten.
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

    /// Was something posted that nobody has taken yet?
    bool has_posted() const { return inbox_.has_items(); }

    /// Is there so much room that a claim is worth its price?
    bool has_room() const;

    /// True when this worker holds no task and everything decided is written.
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
    /// Before this thread is away with a commit.
    void leave_to_others(SteadyPoint now);
    bool has_more(SteadyPoint now) const;
    bool may_decide() const;
    void announce_next_look(SteadyPoint look);
    void take_items();
    void absorb_or_hold_back(Item item);
    /// Until what it concerns is settled, nothing more may be decided on it.
    bool must_wait(const Item& item);
    void look_again(SteadyPoint now);
    void decide_open(const Moment& now);
    bool decide_one(Work& work, const Moment& now, std::vector<Turn>& turns);
    /// What was to be done for tasks that were lost meanwhile is not ours to do.
    void forget_lost(Work& work);
    void make_batches(std::vector<Turn> turns);
    AttemptPtr hand_out(Role role);

    // What must be so between the parts of a round: books.cpp
    void check_books(const Moment& now);
    void check_work() const;
    void check_held(const Moment& now);

    // Flights: flying.cpp
    FlightPtr take_off(SteadyPoint now);
    void fly(Flight& flight) noexcept;
    void settle_landed(SteadyPoint now);
    void settle_flight(Flight& flight, SteadyPoint now);
    void settle_all(Batch& batch, const std::vector<CommitResult>& results);
    void write_one_by_one(Batch& batch, const std::exception& error);
    void drop_requests(Batch& batch);
    void block(SteadyPoint now, const std::exception& error);
    void refuse_requests(const std::exception_ptr& error);

    // What was posted: absorb.cpp
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
    void doubt_predecessor(const item::Heartbeat& heartbeat);
    void release_unknown(const item::Heartbeat& heartbeat);
    void settle_doubts(const item::Heartbeat& heartbeat);
    /// What the store does at once is for all workers: two may write as if each were alone.
    void share_store(int others);

    // What became of a commit: settle.cpp
    void settle(Turn& turn, CommitResult result, bool may_be_repeated);
    void settle_committed(Turn& turn);
    void settle_conflict(Turn& turn);
    void settle_unchanged(Turn& turn);
    void settle_row(const Turn& turn, const TaskChange& change);
    void settle_cause(const Turn& turn, Cause& cause);
    void settle_end(LiveInstance& live);
    void tell_of_end(const Turn& turn);
    void reopen(std::vector<Cause> causes, const InstanceId& id, int conflicts);
    void undecide(const Turn& turn);
    void forget_instance(const Turn& turn);
    bool was_applied(const Turn& turn);
    /// Takes what the store does not lease to this worker from the tasks that the turn keeps.
    void keep_only_own(Turn& turn);
    void set_aside(Turn& turn, const std::exception& error);
    void drop(Work& work, const Error& why);
    void observe(const LiveInstance& live, std::span<const HistoryEvent> events);

    // What comes next: review.cpp
    void review_touched(const Moment& now);
    void review(const InstanceId& id, const Moment& now);
    void review_attempt(Held& held, const LiveInstance& live);
    /// Lets go of what the store does not lease to this worker. After `live_of`: whoever takes a
    /// task later changes the instance, so the next commit meets a conflict.
    void check_doubtful(const InstanceId& id);
    std::vector<TokenId> leased_here(const InstanceId& id);
    void review_idle(Held& held, LiveInstance& live, const Moment& now);
    void start_attempt(Held& held, LiveInstance& live, Invocation call);
    void let_go(const TaskRef& task, Attempt::StopReason reason);
    /// Gives the lease back, as lost when the handler may have been called and its outcome is not
    /// kept: whoever claims the task must not call the same attempt again unawares.
    void hand_back(const TaskRef& task);
    void flush_releases();

    /// A task that was to be given back as lost, without an answer.
    struct Doubt {
        TaskRef task;
        std::uint64_t since = 0;  ///< the number of the last heartbeat sent before
    };

    Held& hold(const TaskRef& task, std::string slot = {});
    Work& work_of(const InstanceId& id);
    LivePtr live_of(const InstanceId& id);
    /// What was read of an instance becomes what is known of it, unless more is known already.
    LivePtr keep_newer(LivePtr live);
    /// Somebody else may have changed the instance, and with it the rows that are held here: put a
    /// stop or a park into them, or taken them away.
    void distrust_rows(const InstanceId& id);

    /// kSteadyNever: nothing was left to wait for more.
    SteadyPoint gathering_until() const { return SteadyPoint(Duration(gathering_until_.load())); }

    Environment& environment() const { return parts_.environment; }

    const Parts parts_;
    const int commits_at_once_;  // of a worker that is alone
    Inbox inbox_;
    std::atomic<int> acquiring_{0};
    std::atomic<std::uint64_t> heartbeats_{0};
    std::atomic<bool> is_idle_{true};
    Alarm idle_;
    std::atomic<bool> has_own_thread_{false};
    std::atomic<Duration::rep> gathering_until_{kNotGathering};
    std::atomic<Duration::rep> next_look_{kSteadyNever.time_since_epoch().count()};

    // All of the following belongs to whoever is the committer.
    InstanceCache cache_;
    HeldTable held_;
    std::vector<Work> open_;  // to be decided, in order
    std::unordered_map<InstanceId, std::size_t> open_index_;
    std::deque<Batch> batches_;               // decided, to be written
    std::unordered_set<InstanceId> pending_;  // decided, not settled
    int flights_ = 0;                         // under way
    int flights_max_ = commits_at_once_;
    std::vector<Item> held_back_;      // until what they concern is settled
    bool wants_quiet_ = false;         // one of them concerns everything: nothing is decided before
    bool has_settled_ = false;         // something, since held_back_ was looked at
    std::vector<InstanceId> touched_;  // to be reviewed
    std::vector<AttemptPtr> started_;  // to be handed out
    std::vector<TaskRef> releases_;    // to be given back
    std::vector<TaskRef> abandoned_;   // to be given back as lost
    std::vector<Doubt> doubts_;        // were they given back as lost?
    std::vector<TaskRef> unknown_;     // held says the store, but not here, at the last heartbeat
    bool has_adopted_ = false;         // what a predecessor of the same name held
    SteadyPoint predecessor_gone_at_{};  // whoever had this name before
    bool is_predecessor_gone_ = false;   // and what it claimed has been seen
    SteadyPoint look_again_at_ = kSteadyNever;
    SteadyPoint retry_at_{};  // nothing is written before
    int failures_ = 0;
    std::exception_ptr last_error_;
};

}  // namespace ebb::engine
