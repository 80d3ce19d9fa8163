#pragma once

#include <exception>
#include <optional>
#include <variant>
#include <vector>

#include "engine/attempt.h"
#include "engine/committer_role.h"
#include "engine/letters.h"
#include "engine/live_instance.h"
#include "store/store.h"
#include "support/sync.h"

// The items that are posted to the committer, and the inbox that holds them.

namespace ebb::engine {

struct Turn;

/// The answer to a request, given by the committer to the thread that waits for it.
class Reply {
 public:
    struct Answer {
        Decision::Verdict verdict = Decision::Verdict::Changed;
        Decision::Refusal refusal;
        std::exception_ptr error;         ///< set: it is unknown whether anything was written
        bool has_stopping_token = false;  ///< of the instance, after the commit
    };

    void give(Answer answer);
    Answer wait();
    bool is_given() const;

 private:
    mutable Mutex mutex_;
    CondVar given_;
    std::optional<Answer> answer_ EBB_GUARDED_BY(mutex_);
};

using ReplyPtr = std::shared_ptr<Reply>;

namespace item {

/// An attempt ended, or was given up.
struct Outcome {
    AttemptPtr attempt;
    Event event;
};

/// A handler worked in a transaction, which is over.
struct Transacted {
    enum class Kind {
        Committed,  ///< with `turn`
        Stale,      ///< rolled back: the instance no longer waits for the attempt
        Unknown,    ///< rolled back or unknown: the outcome must be looked up
    };

    AttemptPtr attempt;
    Kind kind = Kind::Unknown;
    std::shared_ptr<Turn> turn;
};

/// An attempt could not begin now: its input is unreachable, or the leases may be lost.
struct Unstarted {
    AttemptPtr attempt;
};

/// One claimed task with its instance.
struct ClaimedTask {
    TaskRef task;
    bool is_engine_task = false;
    bool is_stop = false;
    bool was_lost = false;
    std::string lost_by;
    std::string slot;
    bool has_thread = true;            ///< while its handler is called
    std::optional<Event> outcome{};    ///< what was handed in for it
    std::optional<Letters> letters{};  ///< of kMailTask
    LivePtr live;
};

struct Claimed {
    std::vector<ClaimedTask> tasks;
};

/// An instance that this process has just put into the store.
struct Begun {
    LivePtr live;
    std::vector<TokenId> held;  ///< tasks that were leased to this worker in the start
};

/// A request to an instance.
struct Request {
    Event event;
    LivePtr live;  ///< as it was read a moment ago
    ReplyPtr reply;
    std::optional<std::int64_t> expected_revision{};  ///< it is refused on any other
};

/// The store's answer to a heartbeat.
struct Heartbeat {
    std::uint64_t number = 0;
    SteadyPoint valid_until{};  ///< for the leases that it has found
    HeartbeatResult result;
};

/// Another process has sent the ids of instances whose running work is no longer needed.
struct Told {
    std::vector<InstanceId> stops;
};

/// The worker takes nothing new: release what has not begun.
struct Withdrawal {};

/// The worker ends: ask running handlers to stop.
struct Shutdown {};

}  // namespace item

using Item = std::variant<
    item::Outcome,
    item::Transacted,
    item::Unstarted,
    item::Claimed,
    item::Begun,
    item::Request,
    item::Heartbeat,
    item::Told,
    item::Withdrawal,
    item::Shutdown>;

struct Flight;
using FlightPtr = std::shared_ptr<Flight>;

/// All threads post the committer's work here. It also holds the right to be the committer: a
/// thread that finds the right free takes it and works for all threads (flat combining). So a lone
/// step needs no other thread, and many steps share a commit. Thread-safe.
class Inbox {
 public:
    void post(Item item);
    /// Puts items back in front, in their order.
    void put_back(std::vector<Item> items) EBB_REQUIRES(kCommitter);

    /// True: the caller is the committer now, until it calls leave.
    bool try_enter() EBB_TRY_ACQUIRE(true, kCommitter);
    /// At most `max` items in the order of their posting.
    std::vector<Item> take(std::size_t max) EBB_REQUIRES(kCommitter);
    /// Gives up the right. False if items came in the meantime: the caller keeps the right and
    /// continues.
    bool leave_if_empty() EBB_RELEASE(kCommitter) EBB_TRY_ACQUIRE(false, kCommitter);
    /// Gives up the right, unless a flight has landed in the meantime and was not taken.
    bool leave_unless_landed() EBB_RELEASE(kCommitter) EBB_TRY_ACQUIRE(false, kCommitter);
    /// Gives up the right in any case. Returns whether the inbox is empty.
    bool leave() EBB_RELEASE(kCommitter);
    bool has_request() const;
    bool has_items() const;

    /// A flight has ended. The caller then tries to enter; if another thread is the committer, that
    /// thread takes the flight before it leaves.
    void land(FlightPtr flight);
    std::vector<FlightPtr> take_landed() EBB_REQUIRES(kCommitter);

 private:
    mutable Mutex mutex_;
    std::vector<Item> items_ EBB_GUARDED_BY(mutex_);
    std::vector<FlightPtr> landed_ EBB_GUARDED_BY(mutex_);
    bool is_taken_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::engine
