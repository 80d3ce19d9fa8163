#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/definition.h>
#include <ebb/handler.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/observer.h>
#include <ebb/print.h>
#include <ebb/time.h>

// Workflows without a store and without threads, for serverless functions, request handlers and
// tests. The application holds the whole state of an instance as one value (as JSON text for
// transport), passes it in, gets the next one back, and keeps it wherever it likes. See
// docs/reference/snapshot.md.

namespace ebb {

class Clock;
class LogSink;

}  // namespace ebb

namespace ebb::stateless {

/// Of <ebb/print.h>, for the enums of this namespace.
using ebb::operator<<;

/// The status of an instance, for the program that runs it.
enum class SnapshotStatus {
    Active,     ///< something is due now: execute it
    Paused,     ///< it waits for a person, a signal, time or an operator
    Error,      ///< an attempt failed and the next one has its time: see retry_state
    Completed,  ///< ended well
    Failed,     ///< ended otherwise: failed, cancelled or aborted (see instance_status)
};

/// `active`, `paused`, `error`, `completed`, `failed`.
std::string_view to_string(SnapshotStatus status);

/// Which results of nodes the context keeps. With every policy it keeps everything that the
/// workflow itself may still need: the data that flows, outputs that expressions read, and the
/// arguments of compensations.
struct HistoryPolicy {
    enum class Keep {
        All,         ///< every result and every failed attempt: grows with each step
        Last,        ///< the newest `last` of each node
        ErrorsOnly,  ///< failed attempts
    };

    Keep keep = Keep::All;
    int last = 1;  ///< 1..1,000,000
};

/// One entry of the context.
struct NodeResult {
    Payload output;       ///< `null` if the attempt failed
    std::string error{};  ///< the failure's message; empty if it succeeded
    TimePoint at{};       ///< millisecond resolution
    int attempt = 1;
    bool is_compensation = false;
};

struct RetryState {
    std::string node;
    int attempts = 0;  ///< failed ones so far
    TimePoint next_retry_at{};
};

/// The whole state of one instance. A value: you can copy it, move it, keep it, and convert it to
/// text. It contains its workflow's definition and can outlive the engine that made it. You can
/// only assign to or destroy a moved-from snapshot.
class Snapshot {
 public:
    static constexpr std::size_t kMetadataBytesMax = std::size_t{1} << 20;

    Snapshot(const Snapshot& other);
    Snapshot(Snapshot&& other) noexcept;
    Snapshot& operator=(const Snapshot& other);
    Snapshot& operator=(Snapshot&& other) noexcept;
    ~Snapshot();

    /// The JSON form (docs/reference/snapshot.md, schema/snapshot.schema.json), without spaces;
    /// equal snapshots have equal texts. Engine::parse is the reverse.
    std::string to_json() const;

    const std::string& workflow_id() const;  ///< names the instance, not the definition
    const InstanceId& instance() const;      ///< the same as a UUID
    /// A UUID that tells this run from earlier and later ones with the same workflow_id: its
    /// idempotency keys begin with it. Empty for snapshots of earlier versions of Ebb and for
    /// exports of a durable store, whose ids are used only once.
    std::string run_id() const;
    const std::string& workflow() const;
    int workflow_version() const;
    const std::string& key() const;
    /// The node of the graph that this run began at, if StartOptions named one; otherwise empty.
    std::string start_node() const;

    SnapshotStatus status() const;
    /// The status of the instance in the durable engine.
    InstanceStatus instance_status() const;
    bool is_finished() const;

    /// The node that runs next, at which the instance waits, or that failed the instance; empty
    /// after completion. If several tokens live, the node of the token that decides the status.
    std::string current_node() const;

    /// Increases by one with every committed transition. Use it for optimistic locking.
    std::int64_t version() const;

    /// When something is due next: zero = now, kNever = not before an input from outside.
    TimePoint next_due() const;

    std::optional<RetryState> retry_state() const;
    std::vector<WaitingFor> waiting_for() const;

    Payload input() const;
    Payload output() const;  ///< empty until completed
    Payload error() const;   ///< why it compensates, failed or is dead-lettered; empty otherwise

    /// The results of a node that the policy has kept, oldest first. Empty for an unknown name.
    std::vector<NodeResult> results(std::string_view node) const;

    TimePoint started_at() const;
    TimePoint last_started_at() const;
    Duration total_execution_time() const;  ///< inside handlers

    /// The application's own data: a JSON object. Changing it is a transition as well.
    const Payload& metadata() const;
    /// Throws Error: InvalidPayload unless it is an object, PayloadTooLarge above
    /// kMetadataBytesMax.
    void set_metadata(Payload object);

    struct Data;
    explicit Snapshot(std::unique_ptr<Data> data);

    const Data& data() const { return *data_; }

    Data& data() { return *data_; }

 private:
    std::unique_ptr<Data> data_;
};

struct EngineOptions {
    HistoryPolicy history{};
    /// `add` throws unless every handler is registered. Set it to false for programs that run only
    /// some of the handlers: `execute` then stops before a step that it cannot run.
    bool require_handlers = true;
    std::size_t payload_bytes_max = std::size_t{1} << 20;
    int json_depth_max = 64;
    std::size_t error_bytes_max = 8 << 10;
    std::size_t snapshot_bytes_max = std::size_t{64} << 20;  ///< of a text to parse
    const Clock* clock = nullptr;  ///< <ebb/clock.h>; null = the system's; must outlive the engine
    LogSink* log = nullptr;        ///< <ebb/log.h>; null = silent; must outlive the engine
    std::vector<std::shared_ptr<Observer>> observers{};  ///< notified in this order
};

struct StartOptions {
    std::optional<int> version{};  ///< absent = the newest
    std::string workflow_id{};     ///< at most 255 bytes; empty = a new UUID
    /// Absent = a new random one. Only set it to repeat a start whose result was lost before it was
    /// saved, or for a test that compares texts. No two runs may have the same.
    std::optional<InstanceId> run_id{};
    /// The node of the workflow's graph to begin at; empty = the graph's entry. The workflow must
    /// begin with a graph.
    std::string start_node{};
    std::string key{};  ///< the application's own name, seen by expressions
    Payload metadata = "{}";
    std::string by{};
    std::optional<TimePoint> now{};  ///< absent = the clock's
};

struct ExecuteOptions {
    /// The payload for the signal that the snapshot waits for, if it waits for exactly one.
    std::optional<Payload> payload{};
    std::int64_t step_limit = 1'000;  ///< calls of handlers and timers; 1 or more
    bool retry_now = false;           ///< do not wait until next_retry_at
    std::optional<TimePoint> now{};   ///< stands still during the call; absent = the clock's
    std::stop_token stop{};           ///< seen by handlers; ends the call before the next step
};

/// Runs workflows with the handlers of one registry. It holds definitions and nothing about
/// instances: after you have added the workflows, any number of threads can use it at the same
/// time.
///
/// Every function that takes a snapshot and returns one is pure except for the handlers that it
/// calls. A call that throws Error has changed nothing except the effects of handlers. Exceptions
/// of handlers are not thrown to the caller: they become part of the snapshot.
class Engine {
 public:
    /// `handlers` must outlive the engine.
    explicit Engine(const HandlerRegistry& handlers, EngineOptions options = {});
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Adds a workflow. Repeating it is free. Different content under the same name and version
    /// throws WorkflowConflict; a missing handler throws HandlerNotFound.
    void add(const Definition& definition);
    /// Call it before the first snapshot.
    void add_observer(std::shared_ptr<Observer> observer);

    /// Creates an instance before its first step: version 0. The input is a value, as of
    /// ebb::Engine::start.
    Snapshot start(
        std::string_view workflow, const Payload& input = {}, const StartOptions& options = {}
    ) const;

    template <PayloadValue Input>
    Snapshot start(std::string_view workflow, const Input& input, const StartOptions& options = {})
        const {
        return start(workflow, detail::payload_of(input), options);
    }

    /// Reads the text form. Throws InvalidPayload (not JSON), CorruptState (not a snapshot, or an
    /// inconsistent one), WorkflowNotFound, WorkflowConflict (the definition has changed) or
    /// PayloadTooLarge; the message names the field.
    Snapshot parse(std::string_view json) const;

    /// Runs the next due action: one call of a handler, or one timer. If nothing is due, returns
    /// the snapshot unchanged, with the same version.
    Snapshot step(Snapshot snapshot, const ExecuteOptions& options = {}) const;

    /// Continues until the instance waits, ends, or `step_limit` is reached. In the last case it is
    /// still Active: execute it again to continue.
    Snapshot execute(Snapshot snapshot, const ExecuteOptions& options = {}) const;

    // All of these only decide; execute() then continues. They throw InvalidState, NotWaiting or
    // NotAllowed. Repeating one changes nothing.
    Snapshot decide(Snapshot snapshot, const PersonalDecision& decision) const;
    Snapshot signal(
        Snapshot snapshot,
        std::string_view name,
        const Payload& payload = {},
        std::string_view request_id = {}
    ) const;

    template <PayloadValue Value>
    Snapshot signal(
        Snapshot snapshot,
        std::string_view name,
        const Value& payload,
        std::string_view request_id = {}
    ) const {
        return signal(std::move(snapshot), name, detail::payload_of(payload), request_id);
    }

    Snapshot cancel(Snapshot snapshot, std::string_view by = {}, std::string_view reason = {})
        const;
    Snapshot abort(Snapshot snapshot, std::string_view by = {}, std::string_view reason = {}) const;
    Snapshot pause(Snapshot snapshot, std::string_view by = {}, std::string_view reason = {}) const;
    Snapshot resume(Snapshot snapshot, std::string_view by = {}) const;
    Snapshot requeue(Snapshot snapshot, const RequeueOptions& options = {}) const;

    /// Releases an instance for an import into a store (ebb::Engine::import_snapshot). Save the
    /// result: a process that loads it can no longer execute it. Its instance_status is `moved`,
    /// its status Paused.
    Snapshot release(Snapshot snapshot, std::string_view by = {}) const;
    /// Takes a released instance back. Only use it if the instance was not imported.
    Snapshot reclaim(Snapshot snapshot, std::string_view by = {}) const;

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb::stateless
