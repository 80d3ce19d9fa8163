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
#include <ebb/time.h>

// Workflows without a store and without a thread, for functions, request handlers and tests: the
// application holds the whole state of an instance as one value (a JSON text when it travels),
// hands it in, gets the next one back and keeps it where it likes. See docs/reference/snapshot.md.

namespace ebb {

class Clock;
class LogSink;

}  // namespace ebb

namespace ebb::stateless {

/// How an instance stands, as whoever drives it needs to know it.
enum class SnapshotStatus {
    Active,     ///< something can be done now: execute it
    Paused,     ///< it waits for a person, a signal, time or an operator
    Error,      ///< an attempt failed and the next one has its time: see retry_state
    Completed,  ///< ended well
    Failed,     ///< ended otherwise: failed, cancelled or aborted (see instance_status)
};

/// `active`, `paused`, `error`, `completed`, `failed`.
std::string_view to_string(SnapshotStatus status);

/// What the context keeps of what nodes have done. Whatever the policy, everything stays that the
/// workflow itself may still need: the data that flows, outputs that expressions read, and what
/// compensations will be called with.
struct HistoryPolicy {
    enum class Keep {
        All,         ///< every result and every failed attempt: grows with what has happened
        Last,        ///< the newest `last` of each node
        ErrorsOnly,  ///< failed attempts
    };

    Keep keep = Keep::All;
    int last = 1;  ///< 1..1,000,000
};

/// One entry of the context.
struct NodeResult {
    Payload output;       ///< `null` when the attempt failed
    std::string error{};  ///< the failure's message; empty when it succeeded
    TimePoint at{};       ///< millisecond resolution
    int attempt = 1;
    bool is_compensation = false;
};

struct RetryState {
    std::string node;
    int attempts = 0;  ///< failed ones so far
    TimePoint next_retry_at{};
};

/// The whole state of one instance. A value: copy it, move it, keep it, turn it into text. It knows
/// its workflow's definition and outlives the engine that made it. A snapshot that was moved from
/// can only be assigned to or destroyed.
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
    const std::string& workflow() const;
    int workflow_version() const;
    const std::string& key() const;

    SnapshotStatus status() const;
    /// How the instance stands in the terms of the durable engine.
    InstanceStatus instance_status() const;
    bool is_finished() const;

    /// The node that is about to run, that is waited at, or that failed the instance; empty when it
    /// has completed. Where several tokens live, the one that decides the status.
    std::string current_node() const;

    /// Rises by one with every committed transition: what an optimistic lock compares.
    std::int64_t version() const;

    /// When there is something to do next: zero = now, kNever = not before something comes from
    /// outside.
    TimePoint next_due() const;

    std::optional<RetryState> retry_state() const;
    std::vector<WaitingFor> waiting_for() const;

    Payload input() const;
    Payload output() const;  ///< empty until completed
    Payload error() const;   ///< why it compensates, failed or is dead-lettered; empty otherwise

    /// What the policy has kept of a node, oldest first. Empty for an unknown name.
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
    /// Throws on `add` unless every handler is registered. False for functions that run some of the
    /// handlers only: `execute` then stops before a step that it cannot run.
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
    std::string key{};             ///< the application's own name, seen by expressions
    Payload metadata = "{}";
    std::string by{};
    std::optional<TimePoint> now{};  ///< absent = the clock's
};

struct ExecuteOptions {
    /// Handed to the signal that the snapshot waits for, when it waits for exactly one.
    std::optional<Payload> payload{};
    std::int64_t step_limit = 1'000;  ///< calls of handlers and timers; 1 or more
    bool retry_now = false;           ///< do not wait until next_retry_at
    std::optional<TimePoint> now{};   ///< stands still during the call; absent = the clock's
    std::stop_token stop{};           ///< seen by handlers; ends the call before the next step
};

/// Runs workflows of one registry of handlers. It holds definitions and nothing about any instance:
/// any number of threads may use it at once, once it is filled.
///
/// Every function that takes a snapshot and returns one is a pure step but for the handlers that it
/// calls. What throws (Error) has changed nothing but what handlers did; what handlers throw never
/// comes out, it becomes part of the snapshot.
class Engine {
 public:
    /// `handlers` must outlive the engine.
    explicit Engine(const HandlerRegistry& handlers, EngineOptions options = {});
    ~Engine();
    Engine(Engine&&) noexcept;
    Engine& operator=(Engine&&) noexcept;

    /// Makes a workflow known. Repeating it is free; other content under the same name and version
    /// throws WorkflowConflict, a missing handler HandlerNotFound.
    void add(const Definition& definition);
    /// Before the first snapshot.
    void add_observer(std::shared_ptr<Observer> observer);

    /// A new instance, standing before its first step: version 0.
    /// The input is a value, as of ebb::Engine::start.
    Snapshot start(
        std::string_view workflow, const Payload& input = {}, const StartOptions& options = {}
    ) const;

    template <PayloadValue Input>
    Snapshot start(std::string_view workflow, const Input& input, const StartOptions& options = {})
        const {
        return start(workflow, detail::payload_of(input), options);
    }

    /// Reads the text form. Throws InvalidPayload (no JSON), CorruptState (not a snapshot, or one
    /// that does not fit together any more), WorkflowNotFound, WorkflowConflict (the definition has
    /// changed) or PayloadTooLarge; the message names the field.
    Snapshot parse(std::string_view json) const;

    /// Does the next thing that is due: one call of a handler, or one timer. Nothing is due: the
    /// snapshot comes back as it was, its version unchanged.
    Snapshot step(Snapshot snapshot, const ExecuteOptions& options = {}) const;

    /// Goes on until the instance waits, ends, or `step_limit` is reached: then it is still Active,
    /// and executing it again goes on.
    Snapshot execute(Snapshot snapshot, const ExecuteOptions& options = {}) const;

    // All of these only decide; execute() then goes on. They throw InvalidState, NotWaiting or
    // NotAllowed, and repeating one changes nothing.
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

    /// Lets go of an instance that is to be imported into a store (ebb::Engine::import_snapshot):
    /// save what comes back, and nobody who loads it can execute it any more. Its instance_status
    /// is `moved`, its status Paused.
    Snapshot release(Snapshot snapshot, std::string_view by = {}) const;
    /// Takes it back, if it was not imported anywhere.
    Snapshot reclaim(Snapshot snapshot, std::string_view by = {}) const;

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb::stateless
