#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/json.h>
#include <ebb/label.h>
#include <ebb/print.h>
#include <ebb/status.h>
#include <ebb/time.h>

// The views of an instance and the requests to it, for the durable engine and the stateless engine.

namespace ebb {

/// How a list is sorted: by the time at which the instances were created.
enum class InstanceOrder { NewestFirst, OldestFirst };

/// One instance as people see it.
struct InstanceSummary {
    InstanceId id;
    std::string workflow;
    int version = 1;
    std::string key;
    InstanceStatus status = InstanceStatus::Running;
    int priority = 0;
    std::int64_t revision = 0;
    TimePoint created_at{};
    TimePoint updated_at{};
    TimePoint finished_at{};  ///< zero until it has ended
    Labels labels{};
};

/// What one live token waits for, as data and as a sentence.
struct WaitingFor {
    std::string kind;  ///< `handler`, `worker`, `queue`, `retry`, `timer`, `decision`, `signal`,
                       ///< `operator`, `branches`, `snapshot` (it was moved), `write` (of its
                       ///< attributes, from outside)
    std::string node;
    std::string what;  ///< the handler's, queue's, signal's ... name
    TimePoint until = kNever;
    std::string sentence;
};

/// One row of the history, as JSON-friendly data.
struct HistoryEntry {
    std::int64_t seq = 0;
    std::string type;
    std::string node;
    std::string path;
    std::int64_t visit = 0;
    int attempt = 0;
    std::int64_t ref = 0;
    Payload payload;
    std::string worker;
    TimePoint started_at{};
    TimePoint at{};
};

/// The author, the reason and the condition of a request to change an instance.
struct RequestOptions {
    std::string by{};
    std::string reason{};      ///< of cancel, abort and pause, for the history
    std::string request_id{};  ///< of a signal: repeating it with the same id changes nothing
    /// The act is done only if the instance still has this revision (InstanceSummary::revision).
    /// The commit itself compares it, so that of several callers with one revision only one acts.
    /// Otherwise nothing changes, and RevisionChanged is thrown.
    std::optional<std::int64_t> expected_revision{};
};

/// One change of the attributes of an instance with rules.
struct TraceEntry {
    enum class Kind {
        Start,       ///< the instance's input
        Transition,  ///< the output of a transition
        ByHandler,   ///< the output of the handler of exceptions
        Outside,     ///< an application
        Repair,      ///< an operator
        Failed,      ///< a transition has failed for good and led to an exception; no write
        Restore,     ///< a rollback gave attributes back what they were
        Resume,      ///< a rollback has ended, and all conditions were checked again; no write
        Fired,       ///< a condition has been true for long enough; no write
        Migrated,    ///< continues on another version of its rules; no write
    };

    /// What one write changed an attribute to.
    struct Change {
        std::string attribute;
        Payload before;
        Payload after;
        bool has_overwritten = false;  ///< another write changed it after the transition had fired
    };

    /// A condition that the write made true, or that it made false or unknown.
    struct Turn {
        std::string kind;  ///< `trigger`, `final`, `exception`, `invariant` or `savepoint`
        std::string name;
        bool is_true = false;

        bool operator==(const Turn&) const = default;
    };

    std::int64_t seq = 0;  ///< of the event
    Kind kind = Kind::Start;
    std::string transition{};  ///< of a transition, or of the one that a rollback undoes
    std::string by{};          ///< of a write from outside: who wrote, if it is known
    std::vector<Change> changes{};
    std::vector<Turn> turns{};
    std::vector<std::string> fired{};  ///< triggers
    std::vector<std::string> armed{};  ///< those that fire if their condition stays true
    std::string final_condition{};     ///< that holds
    std::string exception{};           ///< the code of the exception that the write led to
    Payload attributes;                ///< all, after the write
    TimePoint at{};
};

/// `start`, `transition`, `handler`, `outside`, `repair`, `failure`, `restore`, `resume`, `fired`,
/// `migrated`.
std::string_view to_string(TraceEntry::Kind kind);

struct PersonalDecision {
    enum class Verdict { Confirm, Reject };

    Verdict verdict = Verdict::Confirm;
    std::string node{};  ///< empty = the only open decision
    std::string by{};
    std::string role{};
    std::string comment{};
    std::string request_id{};  ///< repeating a request with the same id changes nothing
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions; durable engine only
};

/// `confirm`, `reject`.
std::string_view to_string(PersonalDecision::Verdict verdict);

/// How a decision ended: the member `decision` of what the next steps get as their input. Give a
/// handler's input type a member of this type to read it:
///
///     struct Approved {
///         std::int64_t amount = 0;  // a member of the decision's own input
///         ebb::DecisionResult decision;
///     };
///     EBB_FIELDS(Approved, amount, decision)
///
/// An input of the decision that is not a JSON object is the member `input`.
struct DecisionResult {
    enum class Verdict { Confirmed, Rejected };

    Verdict verdict = Verdict::Confirmed;
    /// Everyone who confirmed, in order, or the one who rejected. Empty if no one gave a name, and
    /// if the deadline rejected.
    std::vector<std::string> by{};
    std::string comment{};  ///< of the last one who decided; of the engine at a deadline
    TimePoint at{};

    bool operator==(const DecisionResult&) const = default;
};

/// `confirmed`, `rejected`, as in JSON.
std::string_view to_string(DecisionResult::Verdict verdict);

void ebb_read(const ValueReader& json, DecisionResult& decision);
void ebb_write(ValueWriter& json, const DecisionResult& decision);

struct WriteOptions {
    /// By an operator: any attribute, not only those that may be written from outside, and all
    /// conditions are checked.
    bool is_repair = false;
    std::string by{};
    std::string request_id{};  ///< repeating a request with the same id changes nothing
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions; durable engine only
};

struct RequeueOptions {
    std::optional<Payload> new_input{};  ///< of the failed step
    bool skip_compensation = false;      ///< skip an exhausted compensation
    std::string by{};
    std::optional<std::int64_t> expected_revision{};  ///< see RequestOptions; durable engine only
};

}  // namespace ebb
