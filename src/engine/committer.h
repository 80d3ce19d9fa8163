#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "engine/acquisitions.h"
#include "engine/agenda.h"
#include "engine/claim_signals.h"
#include "engine/committer_role.h"
#include "engine/decider.h"
#include "engine/environment.h"
#include "engine/flights.h"
#include "engine/hint_box.h"
#include "engine/holdings.h"
#include "engine/inbox.h"
#include "engine/intake.h"
#include "engine/lease_audit.h"
#include "engine/open_work.h"
#include "engine/pace.h"
#include "engine/ready_queue.h"
#include "engine/returns.h"
#include "engine/review.h"
#include "engine/room.h"
#include "engine/service.h"
#include "engine/settle.h"
#include "engine/store_trouble.h"
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
///
/// This class says which thread works, and for how long. What it works on are the parts below it:
/// what came in (Intake), what is open (OpenWork), what is written (Flights) and what is held
/// (Holdings). All of it belongs to the role kCommitter.
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

    explicit Committer(const Parts& parts);

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
        explicit Acquiring(Committer& committer) : acquisitions_(committer.acquisitions_) {
            acquisitions_.begin();
        }

        ~Acquiring() { acquisitions_.end(); }

        Acquiring(const Acquiring&) = delete;
        Acquiring& operator=(const Acquiring&) = delete;

     private:
        Acquisitions& acquisitions_;
    };

    /// Heartbeats get rising numbers when they are sent.
    std::uint64_t next_heartbeat() { return acquisitions_.next_heartbeat(); }

    /// How many more tasks this worker should take.
    int free_capacity() const { return room_.free_capacity(); }

    /// Has something been posted that the committer has not taken yet?
    bool has_posted() const { return inbox_.has_items(); }

    /// Is there enough room to make a claim worthwhile?
    bool has_room() const { return room_.is_worth_a_claim(); }

    /// True if this worker holds no task and everything decided is written.
    bool is_idle() const { return is_idle_; }

    /// Rings while draining, when it has become idle.
    Alarm& idle_alarm() { return idle_; }

    /// Whether there is a thread that calls tick: guests then hand over to it.
    void set_has_own_thread(bool has) { has_own_thread_ = has; }

 private:
    static constexpr Duration::rep kNotGathering = kSteadyNever.time_since_epoch().count();

    AttemptPtr run_rounds(Role role, bool& is_inside) EBB_RELEASE(kCommitter);
    void take_part(const Moment& now, void (Committer::*part)(const Moment&))
        EBB_REQUIRES(kCommitter);
    void begin_round(const Moment& now) EBB_REQUIRES(kCommitter);
    void end_round(const Moment& now) EBB_REQUIRES(kCommitter);
    void settle_landed(SteadyPoint now) EBB_REQUIRES(kCommitter);
    bool may_decide() const EBB_REQUIRES(kCommitter);
    bool has_more(SteadyPoint now) const EBB_REQUIRES(kCommitter);
    void refuse_requests() EBB_REQUIRES(kCommitter);

    // Leaving the role. If the result is false, this thread remains the committer.
    bool leave_after(Role role, int rounds, SteadyPoint now) EBB_RELEASE(kCommitter)
        EBB_TRY_ACQUIRE(false, kCommitter);
    bool leave_blocked() EBB_RELEASE(kCommitter) EBB_TRY_ACQUIRE(false, kCommitter);
    /// Runs before this thread is away with a commit.
    void leave_to_others(SteadyPoint now) EBB_RELEASE(kCommitter);
    bool has_done_its_share(Role role, int rounds) const;
    /// Says whether the worker is idle, and when it needs to look again.
    void announce(SteadyPoint now) EBB_REQUIRES(kCommitter);
    void announce_next_look(SteadyPoint look);

    /// Asserts what must hold between the parts of a round: books.cpp.
    void check_books(const Moment& now) EBB_REQUIRES(kCommitter);
    void check_held(const Moment& now) EBB_REQUIRES(kCommitter);

    /// kSteadyNever: no gathered work is waiting.
    SteadyPoint gathering_until() const { return SteadyPoint(Duration(gathering_until_.load())); }

    Environment& environment() const { return parts_.environment; }

    const Parts parts_;
    const Room room_;
    Inbox inbox_;
    Acquisitions acquisitions_;
    std::atomic<bool> is_idle_{true};
    Alarm idle_;
    std::atomic<bool> has_own_thread_{false};
    std::atomic<Duration::rep> gathering_until_{kNotGathering};
    std::atomic<Duration::rep> next_look_{kSteadyNever.time_since_epoch().count()};
    /// A test simulates the death of a process by throwing something other than a std::exception.
    std::atomic<bool> has_died_{false};

    // In the order of their dependencies: each part knows those above it.
    StoreTrouble trouble_;
    Agenda agenda_;
    OpenWork open_;
    Returns returns_;
    Holdings holdings_;
    Settler settler_;
    Flights flights_;
    LeaseAudit audit_;
    Intake intake_;
    Decider decider_;
    Reviewer reviewer_;
};

}  // namespace ebb::engine
