#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/queue.h>
#include <ebb/time.h>

#include "core/kernel/decision.h"
#include "core/kernel/history.h"
#include "core/kernel/state.h"
#include "store/hints.h"
#include "store/retention.h"
#include "store/transaction.h"

// The durable state of every workflow instance. Not part of the public API: it may change with
// every version.

namespace ebb {

/// How much earlier one point of priority lets a task start: a waiting task overtakes one that is a
/// point more urgent after this time. The order never changes while tasks wait, so ageing costs
/// nothing.
inline constexpr Duration kHeadStartPerPriority = std::chrono::seconds(2);

/// The place of a task in the queue; the smallest is claimed first, equal ones by (instance,
/// token).
std::int64_t rank_of(TimePoint due, int priority);

struct WorkflowRow {
    std::string name;
    int version = 1;
    std::string definition;  ///< JSON text
    std::string checksum;
    TimePoint created_at{};

    bool operator==(const WorkflowRow&) const = default;
};

struct InstanceRow {
    InstanceId id;
    std::string workflow;
    int version = 1;
    std::string key;  ///< unique per workflow when not empty
    InstanceStatus status = InstanceStatus::Running;
    std::int64_t revision = 1;
    std::string state;  ///< encode_state
    int priority = 0;
    TimePoint created_at{};
    TimePoint updated_at{};
    TimePoint finished_at{};  ///< zero until terminal

    bool operator==(const InstanceRow&) const = default;
};

/// A new instance with its first decision.
struct NewInstance {
    InstanceRow row;
    std::vector<HistoryEvent> history;
    std::vector<TaskChange> tasks;  ///< only Put
    std::string lease_owner;  ///< not empty: this worker owns all tasks with `is_continued` set at
                              ///< once, without a claim
};

struct StartResult {
    enum class Kind { Created, Existing } kind = Kind::Created;
    InstanceId id;  ///< of the instance that now has the key

    bool operator==(const StartResult&) const = default;
};

/// Identity of one task.
struct TaskRef {
    InstanceId instance;
    TokenId token = 0;

    auto operator<=>(const TaskRef&) const = default;
};

struct ClaimRequest {
    std::string worker;
    std::vector<std::string> handlers;  ///< what it can run; kEngineHandler is always added
    std::vector<std::string> queues;    ///< empty = all; engine tasks are claimed in any queue
    /// Those that have limits: claim_limited's business, except for engine tasks.
    std::vector<std::string> limited_queues{};
    int limit = 64;
    /// Of states and inputs, in all claims together; the first is taken whatever its size. For
    /// claim() only.
    std::int64_t bytes_max = std::int64_t{16} << 20;
    std::optional<InstanceId> instance;  ///< only tasks of this one
    /// Something is said to be there: it must be found, also by a look that is dear.
    bool is_told = false;
    bool stops_only = false;  ///< only tasks that a TaskChange::Stop made: lets an operator's
                              ///< process finish a cancel alone
};

/// One task that this worker now holds, with what it needs to run it.
struct Claim {
    TaskRef task;
    std::string handler;  ///< as the row says; the state is the truth
    bool is_stop = false;
    /// Another worker held it, for its handler and not only to finish a stop, and died or let its
    /// lease run out. Stays true over claims and releases until a Put replaces the row, so the loss
    /// is not forgotten when its finder dies as well. After a conflict the loss concerns the
    /// attempt of the reloaded state: the loser may have gone on.
    bool was_lost = false;
    std::string lost_by;
    /// The queue with limits in which this holds a slot, until the lease ends or a Put replaces the
    /// row; empty = none.
    std::string slot{};
    InstanceRow instance;
    /// The instance's first event while nothing else has happened to it: nearly always the input of
    /// the task. None when the store would have to look for it.
    std::optional<HistoryEvent> input;

    /// What ClaimRequest::bytes_max counts.
    std::int64_t bytes() const {
        return std::ssize(instance.state) + (input ? std::ssize(input->payload) : 0);
    }

    bool operator==(const Claim&) const = default;
};

/// One instance's change: compare-and-swap on the revision, with its history and tasks.
struct Commit {
    InstanceId instance;
    std::int64_t expected_revision = 0;
    InstanceStatus status = InstanceStatus::Running;
    std::string state;
    std::span<const HistoryEvent> history;
    std::span<const TaskChange> tasks;
    /// The worker whose leases on the tasks put with `is_continued` are kept (a Put then writes the
    /// row leased to it); empty = put tasks are free for any claimer.
    std::string lease_owner;
    TimePoint now{};  ///< becomes updated_at and, when the status is terminal, finished_at
};

/// What claim_limited took, and when it is worth another look.
struct LimitedClaims {
    std::vector<Claim> claims;
    /// When the rate of a queue in which tasks wait admits the next; kNever: no rate is in the way.
    TimePoint next_start = kNever;
};

enum class CommitResult {
    Committed,
    Conflict,
    NotFound,
    /// Not written, and nothing is known to be wrong with it: something else is in the way of this
    /// instance alone, for example a lock that a person holds. Try it again later, by itself.
    Busy,
};

/// What an operator should know although no call has failed for it.
struct StoreNotice {
    std::string name;     ///< of the event in the log, for example `commit_blocked`
    std::string message;  ///< a whole sentence

    bool operator==(const StoreNotice&) const = default;
};

struct HistoryQuery {
    enum class Order { Forward, Backward };

    InstanceId instance;
    Seq after = 0;   ///< events with seq > after
    Seq before = 0;  ///< and seq < before; 0 = no bound
    int limit = 1'000;
    Order order = Order::Forward;
    std::vector<HistoryType> types;  ///< empty = all
    std::string node;                ///< empty = all
};

struct WorkerRow {
    std::string id;
    std::string host;
    std::int64_t pid = 0;
    std::vector<std::string> handlers;
    std::vector<std::string> queues;
    int capacity = 1;  ///< handlers at once; 0 = it drains, and takes nothing new
    TimePoint started_at{};
    TimePoint expires_at{};   ///< set by the store: its now + lease
    bool takes_name = false;  ///< with a heartbeat: from any other process; not kept

    bool operator==(const WorkerRow&) const = default;
};

/// One of the processes that may have had a worker's name.
struct WorkerProcess {
    std::string_view id;
    TimePoint started_at{};
};

struct HeldTask {
    TaskRef task;
    bool is_stop = false;
    /// A handler may have been called under this lease or under one that was lost before.
    bool may_have_been_called = true;

    bool operator==(const HeldTask&) const = default;
};

struct HeartbeatResult {
    bool is_known = true;  ///< false: the worker was declared dead and its leases are gone; it is
                           ///< registered anew
    std::vector<HeldTask> held;  ///< all tasks that it holds now
    /// Until the first of the other workers is dead, if that sends no more heartbeats; zero or less
    /// when one is. max: there are no others.
    Duration others_live_for = Duration::max();
    int others = 0;  ///< how many other workers live
    /// Another process has taken this worker's name, and has all that is leased to it: nothing was
    /// written, and nothing else here says anything.
    bool is_displaced = false;
    /// The names of all queues that have limits, sorted.
    std::vector<std::string> limited_queues{};

    bool operator==(const HeartbeatResult&) const = default;
};

struct InstanceQuery {
    std::vector<InstanceStatus> statuses;  ///< empty = all
    std::string workflow;                  ///< empty = all
    std::optional<int> version;
    std::string key;
    std::optional<InstanceId> before;  ///< page: only ids below this one
    int limit = 100;
};

struct TaskRow {
    TaskRef task;
    std::string handler;
    std::string queue;
    TimePoint due{};
    bool is_parked = false;
    bool is_stop = false;
    bool was_lost = false;
    bool has_slot = false;  ///< held, and counted by its queue's limits
    std::string concurrency_key{};
    std::string lease_owner;

    bool operator==(const TaskRow&) const = default;
};

/// The limits of a queue as they are kept; without any it is not kept.
struct QueueRow {
    std::string name;
    QueueLimits limits;
    TimePoint updated_at{};

    bool operator==(const QueueRow&) const = default;
};

/// Which queues, and how much is to be counted.
struct QueueQuery {
    std::string name{};             ///< empty = all that have limits or tasks
    std::string concurrency_key{};  ///< counted by QueueUse::key_slots
    bool counts_tasks = true;       ///< all tasks of all queues are counted: dear
};

struct QueueUse {
    QueueView view;
    std::int64_t key_slots = 0;  ///< slots in use under the key that was asked for

    bool operator==(const QueueUse&) const = default;
};

struct MaintenanceResult {
    std::int64_t leases_expired = 0;  ///< tasks taken from dead workers
    std::vector<std::string> workers_expired;
    TimePoint next_due = kNever;  ///< when the earliest unleased task that is not due becomes due

    bool operator==(const MaintenanceResult&) const = default;
};

/// What a store can do beyond the verbs.
struct StoreTraits {
    std::string_view name;
    bool is_durable = false;
    bool is_shared_between_processes = false;
    int commits_at_once = 1;        ///< of one worker; more would wait for one another
    bool has_transactions = false;  ///< start_in and begin_transaction work
    /// What it stamps leases by and compares due times with; its engines go by it, too. Null =
    /// unknown.
    const Clock* clock = nullptr;
};

/// The durable verbs. Each member function is one atomic transition in one round trip: it happens
/// wholly or not at all, and once it has returned it survives a crash (StoreTraits::is_durable).
/// Every verb may be repeated when its answer was lost (StoreInDoubt): the second time it changes
/// nothing and says what is so.
///
/// No transaction is ever open between two calls. Safe to call from any thread. Throws Error when
/// the database cannot answer; losing a race is an ordinary result. Times: a store stamps leases
/// with its own clock (`Clock` of the embedded ones, the server's of PostgreSQL), so clock skew
/// between workers cannot break them.
class Store {
 public:
    virtual ~Store() = default;

    virtual StoreTraits traits() const = 0;

    /// The present date by the store's clock: the server's on PostgreSQL, as far as this process
    /// has learned it; the `Clock` of the embedded stores. A date that is written and later
    /// compared by another process (`due`, deadlines) is counted from here, so that it means the
    /// same to all of them. Cheap: asks nobody.
    virtual TimePoint now() const = 0;

    /// What has come up since the last call. The same thing is named at most once a minute.
    virtual std::vector<StoreNotice> take_notices() { return {}; }

    /// Brings the schema to this program's version. Safe when several processes start at once.
    /// Throws StoreVersion when the database is newer.
    virtual void migrate() = 0;

    /// Throws Error when no worker can work here as this user until somebody changes that:
    /// StoreDenied, which names every right that is missing, or StoreVersion. Changes nothing.
    virtual void check_rights() {}

    /// Keeps a definition. The same name and version with the same checksum changes nothing; with
    /// another one throws WorkflowConflict.
    virtual void register_workflow(const WorkflowRow& row) = 0;
    /// The workflow of that version, or the newest.
    virtual std::optional<WorkflowRow> find_workflow(
        std::string_view name, std::optional<int> version
    ) = 0;
    /// All workflows by name and version, without their definitions' text.
    virtual std::vector<WorkflowRow> list_workflows() = 0;

    /// Creates instances. One whose key (with its workflow) exists already changes nothing and
    /// yields the existing id; repeating a start with the same id yields Created again.
    virtual std::vector<StartResult> start(std::span<const NewInstance> instances) = 0;

    /// Creates an instance in the caller's open transaction: it is there for others when that
    /// commits, and was never there when it rolls back. Leases nothing. Throws InvalidArgument
    /// where nothing can be written in that transaction (none open, failed, another database), and
    /// StoreVersion where the schema is not this program's; the transaction is then as it was.
    virtual StartResult start_in(const Transaction& transaction, const NewInstance& instance);

    /// False while begin_transaction would fail, as far as is known: a worker then leaves
    /// transactional steps to others. Now and then it tries to connect, to find out.
    virtual bool can_begin_transaction() { return true; }

    /// A transaction for a handler, on a connection of its own. The one exception to the rule that
    /// none is open between two calls.
    virtual std::unique_ptr<StoreTransaction> begin_transaction();

    /// Leases due tasks to the worker, the earliest rank first. Never returns a task of a handler
    /// or queue that was not asked for, nor of one of `limited_queues`, nor one that is parked, not
    /// due or leased (maintain() frees what dead workers held). The worker must have sent a
    /// heartbeat before. After a lost answer the tasks stay leased: the next heartbeat names them,
    /// release what you do not know.
    virtual std::vector<Claim> claim(const ClaimRequest& request) = 0;

    /// Leases due tasks of the queues named in `request.queues` (none = none), as far as their
    /// limits allow, the earliest rank first: what may not start now is passed over. Each task
    /// that is taken holds a slot as long as its lease lasts, and counts as a start of an attempt.
    /// Exact whoever else claims: the limits as they are in the store hold over all workers.
    /// A queue without limits yields nothing; engine tasks, `instance` and `stops_only` are not
    /// looked at. Repeated after a lost answer as claim().
    virtual LimitedClaims claim_limited(const ClaimRequest& request) = 0;

    /// Keeps the limits of a queue, instead of those it had; without any it is unlimited again.
    /// What is held goes on. Throws LimitExceeded for one more than QueueLimits::kQueuesMax.
    virtual void set_queue(const QueueRow& row) = 0;

    /// By name.
    virtual std::vector<QueueUse> queues(const QueueQuery& query) = 0;

    /// Makes decisions durable, each atomically; the batch is one transaction where the store can.
    /// At most one per instance: what happens to one at a time is decided in sequence, written
    /// once. One result each, in order; a conflict does not touch the others. When it throws,
    /// nothing of the batch was written (StoreInDoubt: all or nothing). A repeated commit is a
    /// Conflict. Terminal statuses remove all tasks of the instance. Remove, Park, Unpark and Stop
    /// of a task that does not exist do nothing; a Stop ends a Park.
    virtual std::vector<CommitResult> commit(std::span<const Commit> commits) = 0;

    /// After a commit whose answer was lost: for each, whether the instance's row and history say
    /// what it would have written. In one round trip where the store can.
    virtual std::vector<bool> were_committed(std::span<const Commit> commits);

    /// Hands tasks back, free for any claimer and not counted as lost. Only those that `worker`
    /// still holds: none, when another process has its name now. So also the next two.
    virtual void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) = 0;
    /// Hands tasks back whose handler was called, or may have been, and whose outcome is not kept:
    /// the next claim finds them lost by this worker, as if it had died. Only those that `worker`
    /// still holds.
    virtual void abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) = 0;
    /// Hands a task back that nobody may claim before `due`. All else that its row says (a stop, a
    /// loss) stays. Nothing happens when `worker` does not hold it.
    virtual void postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) = 0;

    virtual std::optional<InstanceRow> load(const InstanceId& id) = 0;
    virtual std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) = 0;
    virtual std::vector<HistoryEvent> history(const HistoryQuery& query) = 0;
    virtual std::vector<TaskRow> tasks(const InstanceId& id) = 0;
    /// Which tasks of the instances are leased to the worker. In one round trip where the store
    /// can.
    virtual std::vector<TaskRef> leased_tasks(
        std::string_view worker, std::span<const InstanceId> instances
    );
    /// Newest first.
    virtual std::vector<InstanceRow> list(const InstanceQuery& query) = 0;
    virtual std::vector<StatusCount> count() = 0;
    virtual std::vector<VersionCount> count_versions() = 0;

    /// How many due, unclaimed tasks no living worker can run, by handler and queue.
    struct Unserved {
        std::string handler;
        std::string queue;
        std::int64_t count = 0;

        bool operator==(const Unserved&) const = default;
    };

    virtual std::vector<Unserved> unserved() = 0;

    /// Registers the worker or prolongs its life by `lease`; one narrow row is written however many
    /// tasks it holds. A worker whose time ran out but whom no maintain() has met yet lives on with
    /// its leases. Of two processes with one name (told apart by `started_at`) the one that took it
    /// last has it; the other is told that it is displaced.
    virtual HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) = 0;
    virtual std::vector<WorkerRow> workers() = 0;
    /// How many tasks each worker holds that holds any, by its name.
    virtual std::map<std::string, std::int64_t> count_leases() = 0;
    /// Forgets the worker and frees what it still holds (as release does): the end of a graceful
    /// drain. Does nothing when another process has its name.
    virtual void sign_off(const WorkerProcess& worker) = 0;

    /// What must be done now and then by anybody: forget dead workers and take the leases of all
    /// who are not registered away (their tasks become claimable, with `was_lost`), make due what
    /// has become due. Writes nothing when there is nothing to do.
    virtual MaintenanceResult maintain() = 0;

    /// The retention that is kept, by workflow.
    virtual std::vector<RetentionRule> retention() = 0;
    /// Keeps the rule in place of the one that its workflow has. The next sweep begins at once,
    /// with the lowest id.
    virtual void set_retention(const RetentionRule& rule) = 0;
    /// The workflow has no rule of its own any more. Returns whether it had one.
    virtual bool clear_retention(std::string_view workflow) = 0;

    /// Deletes instances that have ended longer ago than their rule allows, each with its history
    /// and its key, which is free again; nothing that has not ended. What an instance is like is
    /// looked at in the same transaction. Throws InvalidArgument for a limit that is not allowed.
    virtual PurgeResult purge(const PurgeRequest& request) = 0;

    /// Looks after the tables themselves, where there is anything to look after and the database
    /// allows this user to: makes partitions for the time to come, and drops those in which all has
    /// ended longer ago than `rules` say. Never waits for those who work, and hardly lets them
    /// wait.
    virtual HousekeepingResult housekeep(std::span<const RetentionRule> /*rules*/) { return {}; }

    /// How the tables are divided; none where they are not. Instances of such tables go by whole
    /// periods.
    virtual std::optional<PartitionView> partitions() { return std::nullopt; }

    /// Takes the turn to sweep and to housekeep for at most `hold`, if nobody has it, it is time
    /// and there is anything to do: a retention is kept, or the tables have partitions.
    virtual std::optional<SweepTurn> take_sweep(Duration hold) = 0;
    /// Says how far the sweep has come: the turn is still the caller's, and may be taken again by
    /// anybody after `pause`. False when it was lost: somebody has taken it, or changed the
    /// retention.
    virtual bool put_sweep(const SweepTurn& turn, Duration pause) = 0;

    /// A way to tell other processes what has changed; null where there is none, so that they find
    /// it by looking. Does not talk to the database yet.
    virtual std::unique_ptr<Hints> open_hints() { return nullptr; }
};

}  // namespace ebb
