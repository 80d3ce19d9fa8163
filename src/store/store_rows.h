#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/queue.h>
#include <ebb/time.h>

#include "core/kernel/decision.h"
#include "core/kernel/event.h"
#include "core/kernel/history.h"
#include "core/kernel/state.h"
#include "store/mail.h"
#include "store/side_rows.h"

// What the verbs of a store take and return.

namespace ebb {

/// How much earlier one point of priority lets a task start. After this time, a waiting task
/// overtakes a task that is one point more urgent. The order never changes while tasks wait, so
/// ageing costs nothing.
inline constexpr Duration kHeadStartPerPriority = std::chrono::seconds(2);

/// The place of a task in the queue. The smallest is claimed first, equal ones by (instance,
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
    std::string key;  ///< unique per workflow if not empty
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
    Effects effects;
    std::string lease_owner;  ///< not empty: this worker immediately owns all tasks with
                              ///< `is_continued` set, without a claim
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
    std::vector<std::string> handlers;  ///< those that it can run; kEngineHandler is always added
    std::vector<std::string> queues;    ///< empty = all; engine tasks are claimed in any queue
    /// The queues that have limits. Only claim_limited claims in them, except for engine tasks.
    std::vector<std::string> limited_queues{};
    int limit = 64;
    /// The maximum size of states and inputs in all claims together. The first claim is taken
    /// whatever its size. For claim() only.
    std::int64_t bytes_max = std::int64_t{16} << 20;
    std::optional<InstanceId> instance;  ///< only tasks of this instance
    /// There should be a task: find it, even if the search is expensive.
    bool is_told = false;
    bool stops_only = false;  ///< only tasks that a TaskChange::Stop made, so that an operator's
                              ///< process can finish a cancel alone
};

/// One task that this worker now holds, with the data that it needs to run the task.
struct Claim {
    TaskRef task;
    std::string handler;  ///< from the row; the state is authoritative
    bool is_stop = false;
    /// Another worker held the task, for its handler and not only to finish a stop, and died or let
    /// its lease expire. Stays true over claims and releases until a Put replaces the row, so the
    /// loss is not forgotten if the worker that found it dies as well. After a conflict, the loss
    /// concerns the attempt of the reloaded state: the worker that lost it may have continued.
    bool was_lost = false;
    std::string lost_by;
    /// The queue with limits in which this task holds a slot, until the lease ends or a Put
    /// replaces the row; empty = none.
    std::string slot{};
    InstanceRow instance;
    /// The outcome of the task's attempt that hand_in has put into the row: JSON text, to be
    /// decided before anything else; empty = none. Stale if the token has gone on since.
    std::string outcome{};
    /// Of kMailTask: the oldest unread mail of the instance, at most kMailReadMax of it. No
    /// commit has decided any of it as long as the instance has the revision of this row, or one
    /// that only commits of the claimer itself have led to.
    std::vector<Mail> mail{};
    bool has_more_mail = false;  ///< there is more than that
    /// While nothing has happened to the instance since its start: its first event, or the second
    /// one if that has written attributes. It nearly always has the input of the task. None if the
    /// store would have to search for it.
    std::optional<HistoryEvent> input;

    /// The size that ClaimRequest::bytes_max counts.
    std::int64_t bytes() const {
        std::int64_t bytes = std::ssize(instance.state) + std::ssize(outcome) +
                             (input ? std::ssize(input->payload) : 0);
        for (const Mail& each : mail) bytes += std::ssize(each.body);
        return bytes;
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
    /// The mail that it has decided. If there is any, kMailTask is removed, or stays for the rest,
    /// claimable by any worker.
    std::span<const MailKey> received{};
    const Effects* effects = nullptr;  ///< null = none
    int version = 0;                   ///< of the workflow, if it changes; else 0
    /// This worker keeps its leases on the tasks that are put with `is_continued` (a Put then
    /// writes the row leased to it); empty = any worker can claim the put tasks.
    std::string lease_owner;
    TimePoint now{};  ///< becomes updated_at and, if the status is terminal, finished_at
};

/// The tasks that claim_limited took, and when to look again.
struct LimitedClaims {
    std::vector<Claim> claims;
    /// When the rate of a queue with waiting tasks admits the next one; kNever: no task waits for a
    /// rate.
    TimePoint next_start = kNever;
};

enum class CommitResult {
    Committed,
    Conflict,
    NotFound,
    /// Not written, although the commit seems to be in order: something else, for example a lock
    /// that a person holds, blocks this instance only. Try it again later, on its own.
    Busy,
};

/// The outcome of an attempt, from a worker that cannot decide what it means.
struct HandedIn {
    InstanceId instance;
    AttemptRef attempt;
    std::string outcome;  ///< encode_outcome

    bool operator==(const HandedIn&) const = default;
};

enum class HandInResult {
    Taken,  ///< a worker that claims engine tasks decides it
    Stale,  ///< the lease is lost, or the token is not at this attempt: nothing was written
};

/// Something that an operator should know although no call has failed because of it.
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
    int capacity = 1;  ///< handlers at the same time; 0 = it drains and takes nothing new
    TimePoint started_at{};
    TimePoint expires_at{};   ///< set by the store: its now + lease
    bool takes_name = false;  ///< in a heartbeat: takes the name from any other process; not stored
    bool is_keeper = true;    ///< decides timers, failures and mail; false: a worker in SQL

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
    /// A handler may have been called under this lease or under one that was lost earlier.
    bool may_have_been_called = true;

    bool operator==(const HeldTask&) const = default;
};

struct HeartbeatResult {
    bool is_known = true;  ///< false: the worker was declared dead and its leases are gone; it was
                           ///< registered again
    std::vector<HeldTask> held;  ///< all tasks that it holds now
    /// The time until the first of the other workers is dead if it sends no more heartbeats, or the
    /// time of an attempt is up that a worker in SQL holds; zero or less if one is. max: there is
    /// neither.
    Duration others_live_for = Duration::max();
    int others = 0;  ///< the number of other live workers
    /// Another process has taken this worker's name and all of its leases. Nothing was written, and
    /// the other fields have no meaning.
    bool is_displaced = false;
    /// The names of all queues that have limits, sorted.
    std::vector<std::string> limited_queues{};
    /// Changes whenever a subscription does; empty if there are none.
    std::string subscriptions_mark{};

    bool operator==(const HeartbeatResult&) const = default;
};

/// Of Ebb's own workflows, which lists leave out unless they are asked for.
inline constexpr std::string_view kSystemPrefix = "ebb:";

inline bool is_system_workflow(std::string_view name) {
    return name.starts_with(kSystemPrefix);
}

struct InstanceQuery {
    /// As `workflow` in the statements of the stores: also system workflows. No name is like it.
    static constexpr std::string_view kAllWorkflows = "*";

    std::vector<InstanceStatus> statuses;  ///< empty = all
    std::string workflow;                  ///< empty = all
    std::optional<int> version;
    std::string key;
    std::optional<InstanceId> before;  ///< only ids below this one
    int limit = 100;
    /// Without a workflow: also instances of system workflows, whose names begin with `ebb:`.
    bool has_system = false;
    std::optional<InstanceId> from{};  ///< only ids from this one on
    InstanceOrder order = InstanceOrder::NewestFirst;

    std::string_view asked_workflow() const {
        return workflow.empty() && has_system ? kAllWorkflows : std::string_view(workflow);
    }
};

struct TaskRow {
    TaskRef task;
    std::string handler;
    std::string queue;
    TimePoint due{};
    bool is_parked = false;
    bool is_stop = false;
    bool was_lost = false;
    bool has_slot = false;  ///< the task is held, and its queue's limits count it
    std::string concurrency_key{};
    std::string lease_owner;

    bool operator==(const TaskRow&) const = default;
};

/// The limits of a queue. A queue without limits is not stored.
struct QueueRow {
    std::string name;
    QueueLimits limits;
    TimePoint updated_at{};

    bool operator==(const QueueRow&) const = default;
};

/// The queues to list, and how much to count.
struct QueueQuery {
    std::string name{};             ///< empty = all queues that have limits or tasks
    std::string concurrency_key{};  ///< counted by QueueUse::key_slots
    bool counts_tasks = true;       ///< counts all tasks of all queues, which is expensive
};

struct QueueUse {
    QueueView view;
    std::int64_t key_slots = 0;  ///< slots in use under the requested key

    bool operator==(const QueueUse&) const = default;
};

struct MaintenanceResult {
    /// Tasks taken from dead workers, and attempts of workers in SQL whose time was up.
    std::int64_t leases_expired = 0;
    std::vector<std::string> workers_expired;
    TimePoint next_due = kNever;  ///< when the earliest unleased task that is not due becomes due

    bool operator==(const MaintenanceResult&) const = default;
};

/// What a store can do beyond the verbs.
struct StoreTraits {
    std::string_view name;
    bool is_durable = false;
    bool is_shared_between_processes = false;
    int commits_at_once = 1;        ///< of one worker; more would wait for each other
    bool has_transactions = false;  ///< start_in, borrow and begin_transaction work
    /// The clock by which it stamps leases and compares due times; its engines use it, too. Null =
    /// unknown.
    const Clock* clock = nullptr;
};

}  // namespace ebb
