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
#include <ebb/time.h>
#include <ebb/triage.h>

#include "store/hints.h"
#include "store/mail.h"
#include "store/retention.h"
#include "store/search.h"
#include "store/side_rows.h"
#include "store/store_rows.h"
#include "store/subscription.h"
#include "store/transaction.h"

// The durable state of every workflow instance. Not part of the public API: it may change with
// every version.

namespace ebb {

/// The durable verbs. Each member function is one atomic transition in one round trip: it happens
/// completely or not at all, and once it has returned it survives a crash
/// (StoreTraits::is_durable). If the answer of a verb was lost (StoreInDoubt), the verb may be
/// repeated: the second time it changes nothing and reports the current state.
///
/// No transaction is ever open between two calls. Thread-safe. Throws Error if the database cannot
/// answer; losing a race is an ordinary result. Times: a store stamps leases with its own clock
/// (`Clock` of the embedded stores, the server's of PostgreSQL), so clock skew between workers
/// cannot break them.
class Store {
 public:
    virtual ~Store() = default;

    virtual StoreTraits traits() const = 0;

    /// The present date by the store's clock: the server's on PostgreSQL, as far as this process
    /// has learned it; the `Clock` of the embedded stores. A date that is written and later
    /// compared by another process (`due`, deadlines) is counted from here, so that it means the
    /// same to all of them. Cheap: makes no round trip.
    virtual TimePoint now() const = 0;

    /// New notices since the last call. The same notice comes at most once a minute.
    virtual std::vector<StoreNotice> take_notices() { return {}; }

    /// Brings the schema to this program's version. Safe if several processes start at the same
    /// time. Throws StoreVersion if the database is newer.
    virtual void migrate() = 0;

    /// Throws Error if no worker can work here as this user until an administrator changes that:
    /// StoreDenied, which names every missing right, or StoreVersion. Changes nothing.
    virtual void check_rights() {}

    /// Stores a definition. The same name and version with the same checksum changes nothing; with
    /// a different checksum it throws WorkflowConflict.
    virtual void register_workflow(const WorkflowRow& row) = 0;
    /// The given version of the workflow, or the newest.
    virtual std::optional<WorkflowRow> find_workflow(
        std::string_view name, std::optional<int> version
    ) = 0;
    /// All workflows by name and version, without their definitions' text.
    virtual std::vector<WorkflowRow> list_workflows() = 0;

    /// Creates instances. An instance whose key already exists in its workflow changes nothing and
    /// yields the existing id. Repeating a start with the same id yields Created again.
    virtual std::vector<StartResult> start(std::span<const NewInstance> instances) = 0;

    /// Creates an instance in the caller's open transaction. Other sessions see it when the
    /// transaction commits; if it rolls back, the instance never existed. Leases nothing. Throws
    /// InvalidArgument if nothing can be written in that transaction (none open, failed, another
    /// database), and StoreVersion if the schema is not this program's; the transaction is then
    /// unchanged.
    virtual StartResult start_in(const Transaction& transaction, const NewInstance& instance);

    /// To read and write an instance in the caller's open transaction. Throws as start_in.
    virtual std::unique_ptr<BorrowedTransaction> borrow(const Transaction& transaction);

    /// False while begin_transaction would probably fail: a worker then leaves transactional steps
    /// to other workers. Occasionally tries to connect, to find out.
    virtual bool can_begin_transaction() { return true; }

    /// A transaction for a handler, on a connection of its own. The one exception to the rule that
    /// none is open between two calls.
    virtual std::unique_ptr<StoreTransaction> begin_transaction();

    /// Leases due tasks to the worker, the earliest rank first. Never returns a task of a handler
    /// or queue that was not requested, a task of one of `limited_queues`, or a task that is
    /// parked, not due or leased (maintain() frees what dead workers held). The worker must have
    /// sent a heartbeat before. After a lost answer the tasks stay leased: the next heartbeat names
    /// them; release those that you do not know.
    virtual std::vector<Claim> claim(const ClaimRequest& request) = 0;

    /// Leases due tasks of the queues named in `request.queues` (none = none), as far as their
    /// limits allow, the earliest rank first; skips tasks that may not start now. Each claimed task
    /// holds a slot as long as its lease lasts, and counts as a start of an attempt. Exact, no
    /// matter which workers claim at the same time: the limits in the store apply to all workers
    /// together. With `instance`: only tasks of that instance, no matter which tasks wait before
    /// them. A queue without limits yields nothing; engine tasks and `stops_only` are ignored.
    /// Repeated after a lost answer as claim().
    virtual LimitedClaims claim_limited(const ClaimRequest& request) = 0;

    /// Replaces the limits of a queue; without any limits the queue is unlimited again. Held tasks
    /// continue. Throws LimitExceeded for more than QueueLimits::kQueuesMax queues.
    virtual void set_queue(const QueueRow& row) = 0;

    /// By name.
    virtual std::vector<QueueUse> queues(const QueueQuery& query) = 0;

    /// Makes decisions durable, each atomically; the batch is one transaction if the store supports
    /// it. At most one per instance: simultaneous events of an instance are decided in sequence and
    /// written once. One result each, in order; a conflict does not touch the others. If it throws,
    /// nothing of the batch was written (StoreInDoubt: all or nothing). A repeated commit is a
    /// Conflict. Terminal statuses remove all tasks of the instance but kMailTask. Remove, Park,
    /// Unpark and Stop of a task that does not exist do nothing; a Stop ends a Park.
    virtual std::vector<CommitResult> commit(std::span<const Commit> commits) = 0;

    /// For use after a commit whose answer was lost. Says of each commit whether the instance's row
    /// and history match what it would have written. In one round trip if the store can.
    virtual std::vector<bool> were_committed(std::span<const Commit> commits);

    /// Releases tasks, free for any worker to claim and not counted as lost. Only those that
    /// `worker` still holds: none if another process has its name now. The same applies to the next
    /// two.
    virtual void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) = 0;
    /// Releases tasks whose handler was, or may have been, called, and whose outcome is not kept:
    /// the next claim finds them lost by this worker, as if it had died. Only those that `worker`
    /// still holds.
    virtual void abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) = 0;
    /// Releases a task that no worker may claim before `due`. The rest of its row (a stop, a loss)
    /// stays. Does nothing if `worker` does not hold it.
    virtual void postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) = 0;

    virtual std::optional<InstanceRow> load(const InstanceId& id) = 0;
    virtual std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) = 0;
    virtual std::vector<HistoryEvent> history(const HistoryQuery& query) = 0;
    /// The events of an instance with these numbers, by rising number; what does not exist is left
    /// out. In one round trip.
    virtual std::vector<HistoryEvent> events(
        const InstanceId& id, const std::vector<Seq>& seqs
    ) = 0;
    virtual std::vector<TaskRow> tasks(const InstanceId& id) = 0;
    /// The tasks of the instances that are leased to the worker. In one round trip if the store
    /// can.
    virtual std::vector<TaskRef> leased_tasks(
        std::string_view worker, std::span<const InstanceId> instances
    );
    /// In the order of the query.
    virtual std::vector<InstanceRow> list(const InstanceQuery& query) = 0;
    /// Those that a filter holds for, in the order of the search, of at most `scan_max` that are
    /// read.
    virtual InstanceHits search(const InstanceSearch& search) = 0;
    /// How many they are, whatever the limit.
    virtual InstanceTally tally(const InstanceSearch& search) = 0;
    virtual std::vector<StatusCount> count() = 0;
    virtual std::vector<VersionCount> count_versions() = 0;

    /// The number of due, unclaimed tasks that no live worker can run, by handler and queue.
    struct Unserved {
        std::string handler;
        std::string queue;
        std::int64_t count = 0;

        bool operator==(const Unserved&) const = default;
    };

    virtual std::vector<Unserved> unserved() = 0;

    /// Registers the worker or extends its life by `lease`. Writes one narrow row, no matter how
    /// many tasks the worker holds. A worker whose time has run out but that no maintain() has
    /// found yet continues to live with its leases. If two processes (distinguished by
    /// `started_at`) have the same name, the one that took it last keeps it; the answer to the
    /// other says that it is displaced.
    virtual HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) = 0;
    virtual std::vector<WorkerRow> workers() = 0;
    /// The number of tasks that each worker holds, by worker name, for workers that hold any.
    virtual std::map<std::string, std::int64_t> count_leases() = 0;
    /// Removes the worker and frees the tasks that it still holds (as release does): the end of a
    /// graceful drain. Does nothing if another process has its name.
    virtual void sign_off(const WorkerProcess& worker) = 0;

    /// Periodic work that any worker can do: removes dead workers, takes the leases of all
    /// unregistered workers away (their tasks become claimable, with `was_lost`), and makes due
    /// what has become due. Writes nothing if there is nothing to do.
    virtual MaintenanceResult maintain() = 0;

    /// The waits for a decision or a signal, the longest wait first.
    virtual std::vector<WaitRow> list_waits(const WaitQuery& query) = 0;
    /// The stored failures by group, ordered by the name of the group. Each group's count is
    /// bounded, so the cost depends on the number of groups, not on the number of failures.
    virtual FailureGroups failure_groups(const FailureGroupQuery& query) = 0;
    /// The newest first.
    virtual std::vector<FailedInstance> list_failures(const FailureQuery& query) = 0;

    /// Reads at most `limit` instances after `after`, and returns those whose side rows may differ
    /// from their state, with their present rows. At the end, it removes side rows of instances
    /// that have ended in another way or no longer exist.
    virtual SideRowPage check_side_rows(const InstanceId& after, int limit) = 0;
    /// Replaces the side rows of each instance that still has the given revision, and skips the
    /// other instances.
    virtual void put_side_rows(std::span<const SideRowRepair> repairs) = 0;
    /// As take_sweep and put_sweep, but for the repair of side rows, which is due whenever the
    /// pause is over. Never due if no other process can have written.
    virtual std::optional<SweepTurn> take_repair(Duration hold) = 0;
    virtual bool put_repair(const SweepTurn& turn, Duration pause) = 0;

    /// Adds the subscription, or replaces the one of this name. Throws LimitExceeded for more than
    /// Subscription::kCountMax of them.
    virtual void put_subscription(const Subscription& subscription) = 0;
    /// By name.
    virtual std::vector<Subscription> subscriptions() = 0;
    virtual std::optional<Subscription> find_subscription(std::string_view name) = 0;
    /// Removes it and its rows in the outbox. Returns whether there was one.
    virtual bool remove_subscription(std::string_view name) = 0;
    /// Counts a failed delivery, or forgets the failures and a suspension after one that has
    /// succeeded. At Subscription::kFailuresMax failures in a row the subscription is suspended.
    /// Returns the number of failures in a row; 0 if there is no such subscription.
    virtual std::int64_t note_delivery(const DeliveryNote& note) = 0;

    /// Adds rows for what no commit has caused. Rows that are already there stay as they are.
    virtual void add_outbox(std::span<const OutboxRow> rows) = 0;
    /// At most `limit` rows of these subscriptions, the oldest first.
    virtual std::vector<OutboxRow> outbox(
        const std::vector<std::string>& subscriptions, int limit
    ) = 0;
    /// Removes rows that were relayed. Rows that are missing are skipped.
    virtual void remove_outbox(std::span<const OutboxRow> rows) = 0;
    /// Removes rows from before `before`, and those of subscriptions that are not named. Returns
    /// how many they were.
    virtual std::int64_t clear_outbox(
        const std::vector<std::string>& subscriptions, TimePoint before
    ) = 0;

    /// The stored retention rules, by workflow.
    virtual std::vector<RetentionRule> retention() = 0;
    /// Stores the rule in place of its workflow's present one. The next sweep begins immediately,
    /// with the lowest id.
    virtual void set_retention(const RetentionRule& rule) = 0;
    /// Removes the workflow's own rule. Returns whether there was one.
    virtual bool clear_retention(std::string_view workflow) = 0;

    /// Deletes instances that ended longer ago than their rule allows, each with its history and
    /// its key, which becomes free again. Never deletes an instance that has not ended. The check
    /// is in the same transaction. Throws InvalidArgument for a limit that is not allowed.
    virtual PurgeResult purge(const PurgeRequest& request) = 0;

    /// Maintains the tables themselves, if there is anything to do and the database allows this
    /// user to do it: creates partitions for the future, and drops those in which everything ended
    /// longer ago than `rules` say. Never waits for working sessions, and hardly makes them wait.
    virtual HousekeepingResult housekeep(std::span<const RetentionRule> /*rules*/) { return {}; }

    /// Frees the space of rows that are gone, if it is worth it and the database would do it too
    /// late. May take seconds, during which all other verbs work. Returns when to call it again.
    virtual Duration reclaim() { return Duration::max(); }

    /// How the tables are partitioned; none if they are not. Instances of partitioned tables are
    /// deleted by whole periods.
    virtual std::optional<PartitionView> partitions() { return std::nullopt; }

    /// Takes the turn to sweep and to housekeep for at most `hold`, if no worker has it, it is
    /// time, and there is anything to do: a rule exists, or the tables have partitions.
    virtual std::optional<SweepTurn> take_sweep(Duration hold) = 0;
    /// Records the progress of the sweep if the turn is still the caller's. Any worker may take the
    /// turn after `pause`. False if the turn was lost: another worker has taken it or has changed
    /// the retention.
    virtual bool put_sweep(const SweepTurn& turn, Duration pause) = 0;

    /// A channel to notify other processes of changes; null if there is none, so that they find
    /// changes by polling. Does not connect to the database yet.
    virtual std::unique_ptr<Hints> open_hints() { return nullptr; }

    /// Puts outcomes on the rows of the tasks that `worker` holds, and ends their leases. A row
    /// with an outcome is an engine task that is due now, even if it was parked: any worker claims
    /// it and decides. One result each, in order. The lease, the visit, the attempt and the pauses
    /// are compared under the row's lock, so an outcome that is stale changes nothing. Repeated
    /// after a lost answer: Taken as long as it has not been decided, then Stale.
    virtual std::vector<HandInResult> hand_in(
        const WorkerProcess& worker, std::span<const HandedIn> outcomes
    ) = 0;

    /// Puts mail for instances, and makes each of them have its kMailTask, due now. One result
    /// each, in order. Repeated after a lost answer: Known as long as the mail is unread; who
    /// decides it must recognize a request that was already decided.
    virtual std::vector<SendResult> send(std::span<const Mail> mail) = 0;

    /// Removes the mail of an instance that has ended, and its kMailTask. Returns how much it was.
    /// Does nothing if the instance has not ended.
    virtual std::int64_t drop_mail(const InstanceId& ended) = 0;
};

}  // namespace ebb
