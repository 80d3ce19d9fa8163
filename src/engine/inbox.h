#pragma once

#include <exception>
#include <optional>
#include <variant>
#include <vector>

#include "engine/attempt.h"
#include "engine/live_instance.h"
#include "store/store.h"
#include "support/sync.h"

// What the committer is told, and by whom.

namespace ebb::engine {

struct Turn;

/// The answer to a request, given by the committer to the thread that waits for it.
class Reply {
 public:
    struct Answer {
        Decision::Verdict verdict = Decision::Verdict::Changed;
        Decision::Refusal refusal;
        std::exception_ptr error;         ///< set: nothing is known to have been written
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

/// The handler of an attempt worked in a transaction, which is over.
struct Transacted {
    enum class Kind {
        Committed,  ///< with `turn`
        Stale,      ///< rolled back: the attempt is not what the instance waits for any more
        Unknown,    ///< rolled back, or nobody knows: what is so must be looked up
    };

    AttemptPtr attempt;
    Kind kind = Kind::Unknown;
    std::shared_ptr<Turn> turn;
};

/// An attempt could not be begun now: its input is out of reach, or the leases may be lost.
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
    LivePtr live;
};

struct Claimed {
    std::vector<ClaimedTask> tasks;
};

/// An instance that this process has just put into the store.
struct Begun {
    LivePtr live;
    std::vector<TokenId> held;  ///< tasks that were leased to this worker with it
};

/// Somebody wants something of an instance.
struct Request {
    Event event;
    LivePtr live;  ///< as it was read a moment ago
    ReplyPtr reply;
    std::optional<std::int64_t> expected_revision;  ///< refused where it has another one
};

/// The store's answer to a heartbeat.
struct Heartbeat {
    std::uint64_t number = 0;
    SteadyPoint valid_until{};  ///< of the leases that it has found
    HeartbeatResult result;
};

/// Another process tells of instances for which nobody should go on.
struct Told {
    std::vector<InstanceId> stops;
};

/// The worker takes nothing new: hand back what has not begun.
struct Withdrawal {};

/// The worker ends: ask what is running to stop.
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

/// Where everybody leaves what the committer is to do, with the right to be the committer: whoever
/// finds it free takes it and works for all (flat combining), so that a lone step needs no other
/// thread and many steps share a commit. Thread-safe.
class Inbox {
 public:
    void post(Item item);
    /// Puts items back in front, in their order.
    void put_back(std::vector<Item> items);

    /// True: the caller is the committer now, until it calls leave.
    bool try_enter();
    /// At most `max` items in the order of their posting.
    std::vector<Item> take(std::size_t max);
    /// Gives the right back; false when items came meanwhile and it was not: the caller goes on.
    bool leave_if_empty();
    /// Gives the right back, unless a flight has landed meanwhile that nobody has seen.
    bool leave_unless_landed();
    /// Gives the right back whatever is there, and tells whether nothing is.
    bool leave();
    bool has_request() const;

    /// A flight has come to its end. Whoever brings it then tries to enter; where somebody else is
    /// the committer, that one takes it before leaving.
    void land(FlightPtr flight);
    std::vector<FlightPtr> take_landed();

 private:
    mutable Mutex mutex_;
    std::vector<Item> items_ EBB_GUARDED_BY(mutex_);
    std::vector<FlightPtr> landed_ EBB_GUARDED_BY(mutex_);
    bool is_taken_ EBB_GUARDED_BY(mutex_) = false;
};

}  // namespace ebb::engine
