#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/engine_calls.h>
#include <ebb/engine_options.h>
#include <ebb/handler.h>
#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/observer.h>
#include <ebb/queue.h>
#include <ebb/retention.h>
#include <ebb/store.h>
#include <ebb/time.h>
#include <ebb/triage.h>

namespace ebb {

/// Starts, runs and controls instances in one store. Thread-safe. Creates no threads unless `run`
/// is called.
///
/// There are three ways to drive it: `run()` (its own threads, until it is drained or destroyed),
/// `poll()`/`run_one()` (the caller's thread does the work, for servers with their own loops and
/// for tests), or not at all (a client that only starts and controls instances while workers run
/// elsewhere).
///
/// Every change is durable when the function returns. Throws Error. The engine handles lost races
/// against other processes itself.
class Engine {
 public:
    /// Its parts, for the tests of Ebb itself.
    class Core;

    /// `store` and `handlers` must outlive the engine.
    Engine(Store& store, const HandlerRegistry& handlers, EngineOptions options = {});
    /// A temporary registry would not outlive the engine.
    Engine(Store& store, const HandlerRegistry&& handlers, EngineOptions options = {}) = delete;
    /// Ends the worker as `drain(0s)` does and then waits for its threads, including a handler that
    /// ignores its stop token, because that handler may use objects that are about to be destroyed.
    /// A process that must end nevertheless calls `drain` and then exits without destroying the
    /// engine.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Validates and stores a definition. Repeating it is free; different content under the same
    /// name and version throws WorkflowConflict. If neither this engine nor any live worker has
    /// some of the handlers that the workflow names, the result reports them, and the log has
    /// `workflow_unserved`. An engine with an empty registry is a client, and reports nothing.
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

    /// Starts an instance inside the caller's own open transaction (<ebb/transaction.h>). The
    /// instance begins when the transaction commits, and never exists if it rolls back. Workers
    /// find it by polling, up to `poll_max` (`poll_max_told`) later, or immediately after
    /// `wake_workers`. Throws Error; then nothing was written, and only an error of the database
    /// itself makes the transaction unusable.
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

    /// Makes all workers look for work now: those of this process, and those of other processes if
    /// the store can notify them (PostgreSQL). Call it after the commit of a transaction that
    /// started an instance; without it, workers find the instance later. This is a hint: nothing
    /// depends on it, and it throws nothing.
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

    /// Waits until the instance has ended or `timeout` is over (Duration::max() = forever). If this
    /// engine has no threads, the caller's thread does its work while it waits (poll). If the
    /// instance runs in another process, the call polls the store.
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
    /// In the order of `options`. With ListOptions::where it reads on until `limit` are found or
    /// there are no more. Throws InvalidArgument for a filter that cannot be used.
    std::vector<InstanceSummary> list(const ListOptions& options = {});
    /// The same, but reads at most InstancePage::kScanMax instances.
    InstancePage list_page(const ListOptions& options = {});
    /// How many instances `options` names, by workflow and status, whatever its `limit`. Reads all
    /// of them, page by page.
    std::vector<InstanceCount> count(const ListOptions& options);
    /// Calls `verb` for each instance of one page. It returns whether it has changed anything. An
    /// Error that concerns the instance (InvalidState, NotWaiting, ...) is noted in the result, and
    /// any other ends the call. Every verb of an engine may be repeated, so a loop over pages that
    /// broke off may begin again:
    ///
    ///     ebb::ListOptions which{.where = "labels.customer == \"acme\""};
    ///     do {
    ///         const ebb::BulkPage page = engine.for_page(which, [&](const ebb::InstanceId& id) {
    ///             engine.cancel(id);
    ///             return true;
    ///         });
    ///         which.before = page.next;
    ///     } while (which.before);
    BulkPage for_page(
        const ListOptions& options, const std::function<bool(const InstanceId&)>& verb
    );
    /// The number of instances by workflow and status; counts of zero are left out.
    std::vector<InstanceCount> stats();
    std::vector<HistoryEntry> history(
        const InstanceId& id, std::int64_t after = 0, int limit = 1'000
    );
    /// What each write of an instance with rules changed and fired, and which conditions became
    /// true or false, oldest first. `after` and `limit` choose events by their number, as of
    /// `history`. Throws InstanceNotFound, and InvalidState for an instance without rules.
    std::vector<TraceEntry> trace(const InstanceId& id, std::int64_t after = 0, int limit = 1'000);
    /// One sentence or a few: what it waits for, or why it compensates or ended.
    std::string why(const InstanceId& id);
    std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version = {}
    );

    // All of these are idempotent, and throw InstanceNotFound, InvalidState, NotWaiting,
    // NotAllowed, or RevisionChanged if they were given a revision.
    /// Returns false if this was decided so before, by the same person or with the same request id:
    /// then nothing has changed.
    bool decide(const InstanceId& id, const PersonalDecision& decision);
    /// The payload is a value, as of `start`.
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload = {},
        const RequestOptions& options = {}
    );

    template <PayloadValue Value>
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Value& payload,
        const RequestOptions& options = {}
    ) {
        signal(id, name, detail::payload_of(payload), options);
    }

    template <detail::Text RequestId>
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload,
        const RequestId& request_id
    ) {
        signal(id, name, payload, RequestOptions{.request_id = std::string(request_id)});
    }

    template <PayloadValue Value, detail::Text RequestId>
    void signal(
        const InstanceId& id,
        std::string_view name,
        const Value& payload,
        const RequestId& request_id
    ) {
        signal(id, name, detail::payload_of(payload), request_id);
    }

    /// Writes attributes of an instance of a workflow with rules: an object, whose members are
    /// merged into the present attributes. All or nothing: the conditions are checked in the same
    /// commit, and what they fire begins with it. Returns whether anything has changed. Throws
    /// InvalidState if the instance has ended or is rolled back, or if an invariant or a condition
    /// forbids the write, NotAllowed for an attribute that may not be written from outside, and
    /// InvalidPayload for an unknown attribute or a value that is not of its type.
    bool write(const InstanceId& id, const Payload& attributes, const WriteOptions& options = {});

    template <PayloadValue Value>
    bool write(const InstanceId& id, const Value& attributes, const WriteOptions& options = {}) {
        return write(id, detail::payload_of(attributes), options);
    }

    /// Writes attributes inside the caller's own open transaction (<ebb/transaction.h>), as `write`
    /// does: the write and what it fires take effect when the transaction commits, and never happen
    /// if it rolls back. Until then, no other session can change the instance. Workers find what
    /// was fired by polling, or immediately after `wake_workers`. Throws Error as `write`; then
    /// nothing was written, and only an error of the database itself makes the transaction
    /// unusable.
    bool write_in(
        const Transaction& transaction,
        const InstanceId& id,
        const Payload& attributes,
        const WriteOptions& options = {}
    );

    template <PayloadValue Value>
    bool write_in(
        const Transaction& transaction,
        const InstanceId& id,
        const Value& attributes,
        const WriteOptions& options = {}
    ) {
        return write_in(transaction, id, detail::payload_of(attributes), options);
    }

    /// Leaves a signal for the instance inside the caller's own open transaction
    /// (<ebb/transaction.h>). It does not lock the instance: the signal waits in the instance's
    /// inbox, and a worker delivers it after the commit, in the order of sending. If the
    /// transaction rolls back, there was no signal. A request id makes it safe to repeat. Workers
    /// find it by polling, or immediately after `wake_workers`. Throws InstanceNotFound, and
    /// InvalidState if the instance has ended; then nothing was written. If the instance ends
    /// first, or cannot take the signal, the worker that finds it logs this (`mail_dropped`,
    /// `mail_refused`), and counts it (EngineCounters).
    void signal_in(
        const Transaction& transaction,
        const InstanceId& id,
        std::string_view name,
        const Payload& payload = {},
        const RequestOptions& options = {}
    );

    template <PayloadValue Value>
    void signal_in(
        const Transaction& transaction,
        const InstanceId& id,
        std::string_view name,
        const Value& payload,
        const RequestOptions& options = {}
    ) {
        signal_in(transaction, id, name, detail::payload_of(payload), options);
    }

    /// The same with a person's decision. Whether the instance awaits it, and whether the role is
    /// allowed, is known only when a worker delivers it.
    void decide_in(
        const Transaction& transaction, const InstanceId& id, const PersonalDecision& decision
    );
    /// The same with a request to cancel.
    void cancel_in(
        const Transaction& transaction, const InstanceId& id, const RequestOptions& options = {}
    );

    /// Checks all conditions of an instance with rules again, as an operator: what holds fires. An
    /// instance whose rules say `evolution: follow` continues on the newest version of its
    /// workflow. Returns whether anything has changed. Throws as `write`.
    bool rematch(const InstanceId& id, const RequestOptions& options = {});

    /// Takes an instance of a workflow with rules back to one of its writes (Engine::trace): what
    /// is pending is stopped, the transitions since then are undone, newest first, and the
    /// conditions are checked again. Writes from outside stay. Throws InvalidState if the instance
    /// has ended or is rolled back, and InvalidArgument if `to` is not the event of a start or a
    /// write.
    void recover(const InstanceId& id, std::int64_t to, const RecoverOptions& options = {});
    /// What `recover` would do if every compensation succeeded and nothing else happened in the
    /// meantime. Changes nothing. Throws as `recover`.
    RecoveryPlan plan_recovery(
        const InstanceId& id, std::int64_t to, const RecoverOptions& options = {}
    );

    /// Each returns whether anything has changed: `false` if the instance was cancelled (or on the
    /// way there), aborted or paused before, or if `resume` finds that it is not paused. The author
    /// and the reason are for the history: `cancel(id, "ann", "no longer needed")`.
    bool cancel(const InstanceId& id, const RequestOptions& options = {});
    bool abort(const InstanceId& id, const RequestOptions& options = {});
    bool pause(const InstanceId& id, const RequestOptions& options = {});
    bool resume(const InstanceId& id, const RequestOptions& options = {});

    // Templates, so that `{}` means no options.
    template <detail::Text By>
    bool cancel(const InstanceId& id, const By& by, std::string_view reason = {}) {
        return cancel(id, RequestOptions{.by = std::string(by), .reason = std::string(reason)});
    }

    template <detail::Text By>
    bool abort(const InstanceId& id, const By& by, std::string_view reason = {}) {
        return abort(id, RequestOptions{.by = std::string(by), .reason = std::string(reason)});
    }

    template <detail::Text By>
    bool pause(const InstanceId& id, const By& by, std::string_view reason = {}) {
        return pause(id, RequestOptions{.by = std::string(by), .reason = std::string(reason)});
    }

    template <detail::Text By>
    bool resume(const InstanceId& id, const By& by) {
        return resume(id, RequestOptions{.by = std::string(by)});
    }

    /// Returns whether it was dead-lettered; if not, nothing has changed.
    bool requeue(const InstanceId& id, const RequeueOptions& options = {});

    /// Moves an instance out of the store: returns its snapshot (<ebb/stateless.h>) as JSON text,
    /// and the instance is `moved` from then on. It has exactly one owner: nothing happens to it
    /// here until it is imported again. Repeating the call returns the same text, so that a lost
    /// text can be written again. Throws InvalidState and changes nothing if the instance has
    /// ended, or if a handler of it still runs after `wait`.
    std::string export_instance(const InstanceId& id, const ExportOptions& options = {});
    /// Continues a snapshot in this store, where its workflow must be registered: under its own id,
    /// as a new instance, or as the instance that was moved out. Repeating it changes nothing.
    /// Throws InvalidState if the instance has ended, if it is in the store and did not come from
    /// this snapshot, if it has continued since, or if its key belongs to another instance; also
    /// throws what stateless::Engine::parse throws.
    ImportedInstance import_snapshot(std::string_view json, const ImportOptions& options = {});
    /// Sets all limits of a queue, for every process that shares the store; without any limit, the
    /// queue is unlimited again. Changed numbers apply from the next claim of every worker, and a
    /// queue's first limits within a second, when all workers have sent a heartbeat. Running tasks
    /// continue. Throws InvalidArgument or LimitExceeded for limits that are not allowed.
    void set_queue(std::string_view name, const QueueLimits& limits);
    /// The queues that have limits or tasks, by name. Counts all tasks.
    std::vector<QueueView> queues();
    /// By id.
    std::vector<WorkerView> workers();
    /// Due tasks that no live worker can run, by handler and queue.
    std::vector<UnservedTasks> unserved();
    /// The decisions that are awaited, the longest wait first; `after` gets the next page. One read
    /// by an index, however many instances there are. Throws InvalidArgument or LimitExceeded for a
    /// query beyond its limits.
    std::vector<AwaitedDecision> decisions(const DecisionQuery& query = {});
    /// Instances that have failed or are dead-lettered, by cause, the largest group first. The
    /// price depends on how many groups there are; see FailureGroup::kCountMax. Throws
    /// InvalidArgument for a query beyond its limits.
    FailureGroups failures(const FailureGroupQuery& query = {});
    /// The failures of one group, the newest first; `after` gets the next page. None if there is no
    /// such group.
    std::vector<FailedInstance> failed_instances(const FailureQuery& query);
    /// How long instances are kept, for every process that shares the store; see <ebb/retention.h>.
    /// `workflow` does not have to be registered yet; `*` is for all workflows without a rule of
    /// their own. Workers delete older instances with their history, and their keys become free.
    /// Throws InvalidArgument for a time that is not allowed.
    void set_retention(std::string_view workflow, const Retention& keep);
    /// Removes the workflow's own rule, so that the rule of `*` applies. Returns whether there was
    /// one.
    bool clear_retention(std::string_view workflow);
    /// The rules by workflow. Without any rule, everything is kept forever.
    std::vector<RetentionRule> retention();
    /// Deletes instances that ended long enough ago, now, in the caller's thread and in many small
    /// transactions. Throws WorkflowNotFound, and InvalidArgument if there is neither a rule nor an
    /// age.
    PurgeReport purge(const PurgeOptions& options = {});

    /// Starts the worker's threads: claimer, handlers, committer. Returns immediately. Throws Error
    /// with StoreDenied if the database user lacks a privilege that every worker needs.
    void run();
    /// From now on the engine takes no new task and starts no further step. Returns at once, and
    /// running handlers go on: `drain` then waits for them. Idempotent and thread-safe.
    void begin_drain();
    /// Takes no new tasks, lets running handlers finish within `limit`, asks the rest to stop,
    /// hands back every lease and signs the worker off. Returns true if everything finished in
    /// time. Idempotent. A request on `hurry` ends the limit immediately.
    bool drain(Duration limit, std::stop_token hurry = {});

    /// Does everything that is due now in the caller's thread (claim, run handlers, commit, timers,
    /// heartbeat) until nothing is due. Returns how many handlers it ran. Not allowed while `run`
    /// is active.
    int poll();
    /// Claims and runs at most one handler and commits its outcome. Returns whether there was one.
    bool run_one();
    /// The next time at which `poll` has something to do, as far as this engine knows.
    TimePoint next_due();

    EngineCounters counters() const;
    const std::string& worker_id() const;
    /// Whether another process has taken this worker's name (it started later with the same
    /// `worker_id`). This engine then holds no tasks, has asked its handlers to stop, and never
    /// runs handlers again; starting and controlling instances still work. Detected within a
    /// second.
    bool is_displaced() const;

    /// Adds an observer to EngineOptions::observers. Call it before `run` and before the first
    /// instance.
    void add_observer(std::shared_ptr<Observer> observer);

 private:
    Payload completed(const InstanceId& id, Duration timeout);

    std::unique_ptr<Core> core_;
};

}  // namespace ebb
