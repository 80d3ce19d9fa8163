#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/diagram.h>
#include <ebb/error.h>
#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/json.h>
#include <ebb/label.h>
#include <ebb/time.h>

// What the functions of an engine take and return.

namespace ebb {

struct StartOptions {
    std::optional<int> version{};  ///< absent = the newest
    std::string key{};  ///< starting twice with one key (per workflow) yields the same instance
    std::optional<int> priority{};  ///< -100..100; absent = the definition's
    std::string by{};               ///< who starts it, for the history
    Labels labels{};                ///< to find it by; they override the definition's
};

struct StartedInstance {
    InstanceId id;
    bool is_new = true;  ///< false: the key existed
    /// False if the key existed and its instance began with another input, compared as JSON values.
    /// The instance keeps its own. `start_in` does not compare.
    bool has_same_input = true;
    /// False if the key's instance has another version than this call would have started.
    bool has_same_version = true;
};

/// The progress of an instance at one node; `to_string` gives the name.
using StepStatus = StepMark::State;

struct RecoverOptions {
    enum class Then {
        Rematch,  ///< checks all conditions: what holds fires again
        Stop,     ///< the instance is in the exception `recovered`, for an operator
    };

    Then then = Then::Rematch;
    std::string by{};          ///< for the history
    std::string request_id{};  ///< repeating a request with the same id changes nothing
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions
};

/// What Engine::recover would do.
struct RecoveryPlan {
    /// A transition, or a step inside one, that would be undone.
    struct Undo {
        std::int64_t seq = 0;  ///< the event of its end
        std::string node;
        std::string handler;  ///< that compensates it; empty = none
        Payload restored;     ///< the attributes that get their old values back; empty = none
    };

    std::vector<std::string> stopped{};  ///< what is pending and would be stopped
    std::vector<Undo> undone{};          ///< in this order
    std::vector<std::int64_t> kept{};    ///< the writes from outside since then, which stay
    Payload attributes{};                ///< all, after that
    std::vector<std::string> fired{};    ///< what would be fired then
    std::string status{};                ///< of the instance then
};

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
    Payload progress{};  ///< the last progress that its handler reported (StepContext::progress)
};

/// Everything about one instance that `ebb show` prints.
struct InstanceView {
    InstanceSummary summary;
    Payload input;
    Payload output;               ///< empty until completed
    Payload error;                ///< why it compensates, failed, is dead-lettered; empty otherwise
    Payload attributes;           ///< of a workflow with rules: all, as one object; else empty
    std::vector<StepView> steps;  ///< in order of their first event
    std::vector<WaitingFor> waiting_for;
};

/// The progress of the instance, for the pictures of `<ebb/diagram.h>`. A node that was visited
/// several times has the mark of its last visit. The note says why it failed or what it waits for.
StepMarks marks_of(const InstanceView& view);

/// How a finished instance ended.
struct Result {
    InstanceStatus status = InstanceStatus::Running;  ///< the current one on timeout
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

/// The findings of register_workflow.
struct Registration {
    /// The handlers that the workflow names and that neither this engine's registry nor any live
    /// worker has, sorted. Their steps would wait. The usual cause is a misspelled name. Empty if
    /// the registry is empty: then the engine is a client, and workers serve its workflows.
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
    std::optional<InstanceId> before{};  ///< only ids below this one
    int limit = 100;                     ///< 1..1000
    /// A filter such as `labels.customer == "acme" && created > now - duration("7d")`
    /// (docs/reference/filters.md); empty = all.
    std::string where{};
    InstanceOrder order = InstanceOrder::NewestFirst;
    std::optional<InstanceId> after{};  ///< only ids above this one

    /// From now on only what follows `last` in this order: the next page.
    void go_on_after(const InstanceId& last) {
        (order == InstanceOrder::NewestFirst ? before : after) = last;
    }
};

/// A part of the instances that a ListOptions names, in its order. One page reads at most
/// kScanMax instances, however few of them are wanted.
struct InstancePage {
    static constexpr int kScanMax = 20'000;

    std::vector<InstanceSummary> instances;
    /// The next page begins after it (ListOptions::go_on_after); none at the end.
    std::optional<InstanceId> next{};
};

/// What a verb did to the instances of one page.
struct BulkPage {
    struct Skipped {
        InstanceId id;
        ErrorCode code = ErrorCode::InvalidState;
        std::string message;
    };

    std::int64_t done = 0;
    std::int64_t unchanged = 0;    ///< there was nothing to do
    std::vector<Skipped> skipped;  ///< those that could not do it
    std::optional<InstanceId> next{};
};

struct ExportOptions {
    /// How long running handlers may take to finish before the export is refused. Zero = no handler
    /// may run.
    Duration wait{0};
    std::string by{};
};

struct ImportOptions {
    std::string by{};
};

struct ImportedInstance {
    InstanceId id;
    bool is_new = true;  ///< false: this snapshot had been imported before
};

}  // namespace ebb
