#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/diagram.h>
#include <ebb/handler.h>
#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/observer.h>
#include <ebb/queue.h>
#include <ebb/retention.h>
#include <ebb/store.h>
#include <ebb/time.h>

namespace ebb {

class Clock;
class LogSink;

/// Everything that can be set on an engine. Durations of zero or less are errors unless it says
/// otherwise.
struct EngineOptions {
    static constexpr Duration kLeaseMin = std::chrono::milliseconds(100);
    static constexpr Duration kLeaseMax = std::chrono::hours(24);

    /// Of no other living engine; empty = made from host, process and a random number. A worker
    /// that comes back under its old name takes over at once what it held when it died; one that
    /// still lives is displaced (Engine::is_displaced).
    std::string worker_id{};
    int threads = 0;  ///< handler threads; 0 = one per core, at least 2
    /// Tasks held at once, running and queued in this process. Of slow handlers no more are held
    /// than there are threads, of quick ones as many as are worked off within 50 ms.
    int in_flight_max = 4'096;
    int claim_batch_max = 256;  ///< tasks taken with one claim
    std::size_t claim_bytes_max =
        std::size_t{16} << 20;   ///< of their states and inputs; one task alone may need more
    int commit_batch_max = 512;  ///< instances written in one transaction
    std::size_t commit_bytes_max =
        std::size_t{16} << 20;  ///< of state and payloads in one; an instance alone may need more
    std::vector<std::string> queues{};  ///< which queues to serve; empty = all
    /// A dead worker's tasks are taken over this long after its last heartbeat; kLeaseMin to
    /// kLeaseMax.
    Duration lease = std::chrono::seconds(10);
    Duration poll_min =
        std::chrono::milliseconds(5);             ///< between claims that found something to do
    Duration poll_max = std::chrono::seconds(1);  ///< between claims when idle
    /// The same where other processes tell at once what they put (PostgreSQL, by LISTEN); at least
    /// poll_max.
    Duration poll_max_told = std::chrono::seconds(20);
    /// How long a handler that was asked to stop may go on before it is given up; longer if it
    /// needs longer (HandlerRegistry::set_grace).
    Duration stop_grace = std::chrono::seconds(5);
    std::size_t payload_bytes_max = std::size_t{1} << 20;
    int json_depth_max = 64;
    std::size_t error_bytes_max = 8 << 10;  ///< of a failure's message; the rest is cut off
    /// <ebb/clock.h>; null = the store's. Any other than the store's is refused (InvalidArgument),
    /// since then nothing would become due when it should. Must outlive the engine.
    const Clock* clock = nullptr;
    LogSink* log = nullptr;  ///< <ebb/log.h>; null = silent; must outlive the engine
    /// Notified of what happens to instances, in this order (<ebb/observer.h>).
    std::vector<std::shared_ptr<Observer>> observers{};
};

struct StartOptions {
    std::optional<int> version{};  ///< absent = the newest
    std::string key{};  ///< starting twice with one key (per workflow) yields the same instance
    std::optional<int> priority{};  ///< -100..100; absent = the definition's
    std::string by{};               ///< who starts it, for the history
};

struct StartedInstance {
    InstanceId id;
    bool is_new = true;  ///< false: the key existed
};

/// How far an instance has come at one node; `to_string` gives the name.
using StepStatus = StepMark::State;

/// One visit of a node, derived from state and history.
struct StepView {
    std::string node;
    std::string kind;  ///< `step`, `decision`, ...
    std::string path;  ///< the branches around it: `prepare:pay/ship:pack`
    std::int64_t visit = 0;
    StepStatus status = StepStatus::Pending;
    int attempts = 0;
    Payload input;
    Payload output;
    Payload error;  ///< of its own last failed attempt, not of its compensation; empty if none
    std::string worker;
    TimePoint started_at{};
    TimePoint finished_at{};
    Payload progress{};  ///< the last that a handler has said of it (StepContext::progress)
};

/// Everything about one instance that `ebb show` prints.
struct InstanceView {
    InstanceSummary summary;
    Payload input;
    Payload output;               ///< empty until completed
    Payload error;                ///< why it compensates, failed, is dead-lettered; empty otherwise
    std::vector<StepView> steps;  ///< in order of their first event
    std::vector<WaitingFor> waiting_for;
};

/// How far the instance has come, as the pictures of `<ebb/diagram.h>` show it. A node that was
/// visited several times shows its last visit; the note says why it failed or what it waits for.
StepMarks marks_of(const InstanceView& view);

/// How a finished instance ended.
struct Result {
    InstanceStatus status = InstanceStatus::Running;  ///< the present one on timeout
    bool is_finished = false;
    Payload output;  ///< of a completed instance; read it with `output.as<T>()`
    Payload error;
};

/// Thrown by Engine::wait<Output> for an instance that has no output: it failed, was cancelled or
/// aborted, or is not finished within the timeout.
class NotCompleted : public Error {
 public:
    NotCompleted(const InstanceId& id, Result result);

    const Result& result() const { return result_; }

 private:
    Result result_;
};

/// What register_workflow has found.
struct Registration {
    /// The handlers that the workflow names and that neither this engine's registry nor any living
    /// worker has, sorted: its steps would wait. Usually a misspelled name.
    std::vector<std::string> unserved_handlers{};
};

/// A workflow that the store knows.
struct WorkflowView {
    std::string name;
    int version = 1;
    TimePoint created_at{};

    bool operator==(const WorkflowView&) const = default;
};

/// How many instances of a workflow have a status.
struct InstanceCount {
    std::string workflow;
    InstanceStatus status = InstanceStatus::Running;
    std::int64_t count = 0;

    bool operator==(const InstanceCount&) const = default;
};

struct ListOptions {
    std::vector<InstanceStatus> statuses{};  ///< empty = all
    std::string workflow{};
    std::optional<int> version{};
    std::string key{};
    std::optional<InstanceId> before{};
    int limit = 100;  ///< 1..1000
};

struct ExportOptions {
    /// How long handlers that run may take to finish; then it is refused. Zero = they must not run.
    Duration wait{0};
    std::string by{};
};

struct ImportOptions {
    std::string by{};
};

struct ImportedInstance {
    InstanceId id;
    bool is_new = true;  ///< false: this very snapshot had been imported before
};

/// What a worker has done so far. Monotonic counters since the engine was made.
struct EngineCounters {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t steps = 0;
    std::uint64_t attempts_failed = 0;
    std::uint64_t commits = 0;  ///< transactions
    std::uint64_t conflicts = 0;
    std::uint64_t claims = 0;
    std::uint64_t tasks_claimed = 0;
    std::uint64_t leases_lost = 0;
    std::uint64_t store_errors = 0;  ///< calls of the store that failed and were tried again
    int in_flight = 0;
    int stuck_handlers = 0;  ///< calls given up after a timeout that have not returned yet
};

/// Starts, runs and steers instances in one store. Thread-safe. Makes no thread unless `run` is
/// called.
///
/// Three ways to drive it: `run()` (threads of its own, until drained or destroyed),
/// `poll()`/`run_one()` (the caller's thread does the work: servers with their own loops, tests),
/// or not at all (a client that only starts and steers; workers elsewhere do the rest).
///
/// Every change is durable when the function returns. Throws Error; losing a race against another
/// process is handled inside.
class Engine {
 public:
    /// Its parts, for the tests of Ebb itself.
    class Core;

    /// `store` and `handlers` must outlive the engine.
    Engine(Store& store, const HandlerRegistry& handlers, EngineOptions options = {});
    /// Ends the worker as `drain(0s)` does and then waits for its threads, also for a handler that
    /// ignores its stop token: it may use what is about to be destroyed. A process that must end
    /// nevertheless calls `drain` and then leaves without destroying the engine.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Validates and keeps a definition. Repeating it is free; other content under the same name
    /// and version throws WorkflowConflict. If this engine has handlers, but not all that the
    /// workflow names, and no living worker has the others, it says so: in what it returns, and in
    /// the log as `workflow_unserved`.
    Registration register_workflow(const Definition& definition);

    /// The workflows that the store knows, by name and version.
    std::vector<WorkflowView> workflows();

    /// Starts an instance. The input is a value of your own type, a Json or a Payload; none = null.
    /// A string is refused by the compiler: Payload::text(json) is JSON text, Payload::of(string) a
    /// JSON string.
    StartedInstance start(
        std::string_view workflow, const Payload& input = {}, const StartOptions& options = {}
    );

    template <PayloadValue Input>
    StartedInstance start(
        std::string_view workflow, const Input& input, const StartOptions& options = {}
    ) {
        return start(workflow, detail::payload_of(input), options);
    }

    /// Starts an instance inside the caller's own open transaction (<ebb/transaction.h>): it begins
    /// when that commits, and has never existed if that rolls back. Workers find it by looking, up
    /// to `poll_max` (`poll_max_told`) later, or at once after `wake_workers`. Throws Error; then
    /// nothing was written, and only an error of the database itself leaves the transaction
    /// unusable.
    StartedInstance start_in(
        const Transaction& transaction,
        std::string_view workflow,
        const Payload& input = {},
        const StartOptions& options = {}
    );

    template <PayloadValue Input>
    StartedInstance start_in(
        const Transaction& transaction,
        std::string_view workflow,
        const Input& input,
        const StartOptions& options = {}
    ) {
        return start_in(transaction, workflow, detail::payload_of(input), options);
    }

    /// Lets all workers look for work now: those of this process, and of others where they hear of
    /// one another (PostgreSQL). To be called after the commit of a transaction in which something
    /// was started; without it they only find that later. A hint: nothing depends on it, and it
    /// throws nothing.
    void wake_workers();
    /// Several instances in one transaction; one input each, one result each, in order. At most
    /// 10,000, whose inputs have at most 64 MiB together (LimitExceeded).
    std::vector<StartedInstance> start_all(
        std::string_view workflow, std::span<const Payload> inputs, const StartOptions& options = {}
    );

    template <PayloadValue Input>
    std::vector<StartedInstance> start_all(
        std::string_view workflow,
        const std::vector<Input>& inputs,
        const StartOptions& options = {}
    ) {
        std::vector<Payload> payloads;
        for (const Input& input : inputs) payloads.push_back(detail::payload_of(input));
        return start_all(workflow, std::span<const Payload>(payloads), options);
    }

    /// Waits until the instance has ended or `timeout` is over (kNever-like: Duration::max() = for
    /// ever). Where this engine has no threads, the caller's thread does its work meanwhile (poll);
    /// in another process it asks the store now and then.
    Result wait(const InstanceId& id, Duration timeout = Duration::max());

    /// The output of an instance that completes: `wait<Receipt>(id)`. Throws NotCompleted if it
    /// does not, and InvalidPayload if the output is of another type.
    template <typename Output>
    Output wait(const InstanceId& id, Duration timeout = Duration::max()) {
        return completed(id, timeout).template as<Output>();
    }

    std::optional<InstanceSummary> find(const InstanceId& id);
    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key);
    /// Throws InstanceNotFound.
    InstanceView show(const InstanceId& id);
    std::vector<InstanceSummary> list(const ListOptions& options = {});
    /// How many instances there are, by workflow and status; what there is none of is left out.
    std::vector<InstanceCount> stats();
    std::vector<HistoryEntry> history(
        const InstanceId& id, std::int64_t after = 0, int limit = 1'000
    );
    /// One sentence or a few: what it waits for, or why it compensates or ended.
    std::string why(const InstanceId& id);
    std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version = {}
    );

    // All of these are idempotent, and throw InstanceNotFound, InvalidState, NotWaiting,
    // NotAllowed, or RevisionChanged if they were given a revision.
    void decide(const InstanceId& id, const PersonalDecision& decision);
    /// The payload is a value, as of `start`.
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload = {},
        std::string_view request_id = {}
    );

    template <PayloadValue Value>
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Value& payload,
        std::string_view request_id = {}
    ) {
        signal(id, name, detail::payload_of(payload), request_id);
    }

    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload,
        const RequestOptions& options
    );
    void cancel(const InstanceId& id, const RequestOptions& options);
    void abort(const InstanceId& id, const RequestOptions& options);
    void pause(const InstanceId& id, const RequestOptions& options);
    bool resume(const InstanceId& id, const RequestOptions& options);
    void cancel(const InstanceId& id, std::string_view by = {}, std::string_view reason = {});
    void abort(const InstanceId& id, std::string_view by = {}, std::string_view reason = {});
    void pause(const InstanceId& id, std::string_view by = {}, std::string_view reason = {});
    /// Returns whether it was paused; else nothing has changed.
    bool resume(const InstanceId& id, std::string_view by = {});
    /// Returns whether it was dead-lettered; else nothing has changed.
    bool requeue(const InstanceId& id, const RequeueOptions& options = {});

    /// Moves an instance out of the store: returns its snapshot (<ebb/stateless.h>) as JSON text,
    /// and the instance is `moved` from then on. It has exactly one owner: nothing happens to it
    /// here until it is imported again. Repeating it yields the same text, so a text that got lost
    /// on its way is written anew. Throws InvalidState, having changed nothing, when the instance
    /// has ended, or when a handler of it still runs after `wait`.
    std::string export_instance(const InstanceId& id, const ExportOptions& options = {});
    /// Lets a snapshot go on in this store, where its workflow must be registered: under its own
    /// id, as new, or where it was moved out. Repeating it changes nothing. Throws InvalidState
    /// when the instance has ended, is here and did not come from this snapshot, has gone on since,
    /// or when its key is another's; and what stateless::Engine::parse throws.
    ImportedInstance import_snapshot(std::string_view json, const ImportOptions& options = {});
    /// Sets all limits of a queue, for every process that shares the store; without any the queue
    /// is unlimited again. Numbers that change are in force with the next claim of every worker, a
    /// queue's first limits within a second, when all workers have sent a heartbeat. What runs goes
    /// on. Throws InvalidArgument or LimitExceeded for limits that cannot be.
    void set_queue(std::string_view name, const QueueLimits& limits);
    /// The queues that have limits or tasks, by name. Counts all tasks.
    std::vector<QueueView> queues();
    /// By id.
    std::vector<WorkerView> workers();
    /// What waits for a worker that does not exist: due tasks by handler and queue.
    std::vector<UnservedTasks> unserved();
    /// How long instances are kept, for every process that shares the store; see
    /// <ebb/retention.h>. `workflow` need not be registered yet; `*` is for all that have no rule
    /// of their own. Workers delete what is older, with its history; its key is free again.
    /// Throws InvalidArgument for a time that is not allowed.
    void set_retention(std::string_view workflow, const Retention& keep);
    /// The workflow's own rule ends, so that of `*` holds. Returns whether there was one.
    bool clear_retention(std::string_view workflow);
    /// The rules by workflow. Without any, everything is kept for ever.
    std::vector<RetentionRule> retention();
    /// Deletes at once, in the caller's thread and in many small transactions, what has ended long
    /// enough ago. Throws WorkflowNotFound, and InvalidArgument where nothing says how long that
    /// is.
    PurgeReport purge(const PurgeOptions& options = {});

    /// Starts the worker's threads: claimer, handlers, committer. Returns at once. Throws Error
    /// with StoreDenied when the database user lacks a right that every worker needs.
    void run();
    /// Takes nothing new, lets what runs finish within `limit`, asks the rest to stop, hands back
    /// every lease and signs the worker off. Returns true when everything finished in time.
    /// Idempotent. When `hurry` is requested meanwhile, the limit is over at once.
    bool drain(Duration limit, std::stop_token hurry = {});

    /// Does whatever is due now in the caller's thread: claim, run handlers, commit, timers,
    /// heartbeat, until nothing is due. Returns how many handlers it ran. Not while `run` is
    /// active.
    int poll();
    /// Claims and runs at most one handler and commits its outcome. Returns whether there was one.
    bool run_one();
    /// When `poll` has something to do next, as far as this engine knows.
    TimePoint next_due();

    EngineCounters counters() const;
    const std::string& worker_id() const;
    /// Whether another process has taken this worker's name (it began later with the same
    /// `worker_id`). This one then holds nothing any more, its handlers were asked to stop, and it
    /// will never run any again; starting and steering still work. Within a second.
    bool is_displaced() const;

    /// Adds one to EngineOptions::observers. Before `run` and before the first instance.
    void add_observer(std::shared_ptr<Observer> observer);

 private:
    Payload completed(const InstanceId& id, Duration timeout);

    std::unique_ptr<Core> core_;
};

}  // namespace ebb
