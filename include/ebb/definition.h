#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ebb/error.h>
#include <ebb/json.h>
#include <ebb/label.h>
#include <ebb/print.h>
#include <ebb/rules.h>
#include <ebb/time.h>

// A workflow as plain data: the builder builds it, YAML and JSON describe it, and the store keeps
// it. Every struct is a value with `==` and has no behavior. JSON inside it is canonical text
// (sorted keys, no spaces). `validate` finds all problems, and the kernel compiles it once.

namespace ebb {

/// How long to wait before the next attempt.
struct Backoff {
    enum class Strategy { Fixed, Linear, Exponential };

    Strategy strategy = Strategy::Exponential;
    Duration initial = std::chrono::seconds(1);
    double factor = 2.0;  ///< of exponential growth
    Duration max = std::chrono::minutes(5);
    double jitter = 0.2;  ///< 0..1: the delay is spread by up to this fraction

    bool operator==(const Backoff&) const = default;
};

/// The attempts of a handler, and their time limits.
struct AttemptPolicy {
    int max_attempts = 3;  ///< counts the first call; 1 = no retry
    Backoff backoff{};
    Duration timeout{0};       ///< of one attempt; 0 = none. See StepBuilder::timeout.
    Duration step_timeout{0};  ///< of all attempts and the delays between them; 0 = none

    bool operator==(const AttemptPolicy&) const = default;
};

/// What undoes a step.
struct Compensation {
    std::string handler{};
    AttemptPolicy attempts{};

    bool operator==(const Compensation&) const = default;
};

struct Node;
/// Nodes that run one after another.
using Block = std::vector<Node>;

/// Runs a handler.
struct Step {
    std::string handler{};  ///< empty = the node's name
    Payload input{};        ///< a template, as JSON text; empty = the output of the node before it
    std::optional<Compensation> compensate{};
    AttemptPolicy attempts{};
    bool non_idempotent = false;  ///< exactly one call; a lost one fails as `in_doubt`
    std::string queue{};          ///< empty = `default`
    /// An expression, such as `input.customer`: the queue's `concurrency_per_key` counts the tasks
    /// with the same value. Empty = none.
    std::string concurrency_key{};
    std::string next{};  ///< of a node of a graph: an expression over `output` that yields the
                         ///< handle to leave by; empty = what the handler names, if it does

    bool operator==(const Step&) const;
};

/// Runs one of two blocks. Both sides merge afterward.
struct Condition {
    std::string when{};  ///< an expression that yields a bool
    Block then;
    Block otherwise;

    bool operator==(const Condition&) const;
};

/// Runs the block of the first case whose expression is true. All sides merge afterward.
struct Switch {
    struct Case {
        std::string when{};
        Block steps;

        bool operator==(const Case&) const;
    };

    std::vector<Case> cases;
    Block otherwise;  ///< runs if no case is true; empty = continue

    bool operator==(const Switch&) const;
};

/// Runs named branches side by side.
struct Parallel {
    struct Branch {
        std::string name{};
        Block steps;

        bool operator==(const Branch&) const;
    };

    enum class Losers { Compensate, Keep };

    std::vector<Branch> branches;
    int join = 0;  ///< how many branches must complete; 0 = all, 1 = any
    Losers losers =
        Losers::Compensate;  ///< what happens to branches that a join of any/n does not need

    bool operator==(const Parallel&) const;
};

/// Repeats a block. `while` is evaluated before each turn, `until` after it; exactly one of them is
/// set.
struct Loop {
    std::string while_expression{};
    std::string until_expression{};
    Block steps;
    std::int64_t max_iterations = 1'000;  ///< one more turn fails the loop as `max_iterations`

    bool operator==(const Loop&) const;
};

/// Waits for a time. Exactly one of the two is set.
struct Delay {
    std::string duration{};  ///< `90s`, `2d`, or `${expression}` that yields a number of seconds or
                             ///< such a text
    std::string until{};     ///< an RFC 3339 time or `${expression}` that yields one

    bool operator==(const Delay&) const = default;
};

/// Waits for people to confirm or reject.
struct HumanDecision {
    enum class OnDeadline { Fail, Confirm, Reject };

    int quorum = 1;  ///< how many different people must confirm; one rejection rejects
    std::vector<std::string> roles{};  ///< the roles that may decide; empty = everyone
    Duration deadline{0};              ///< 0 = none
    OnDeadline on_deadline = OnDeadline::Fail;
    std::optional<Block> on_reject;  ///< absent: a rejection fails the node for good, as `rejected`

    bool operator==(const HumanDecision&) const;
};

/// Waits for a named message from outside. Its payload becomes the output.
struct Signal {
    enum class OnDeadline { Fail, Continue };

    std::string signal{};  ///< empty = the node's name
    Duration deadline{0};
    OnDeadline on_deadline = OnDeadline::Fail;
    /// JSON Schema (draft 7) of the payload, as JSON text; empty = any payload. It belongs to the
    /// signal: nodes that wait for the same signal have the same one, or none.
    Payload schema{};

    bool operator==(const Signal&) const = default;
};

/// Bounds a rollback: steps that completed before it stay completed. Not allowed inside a parallel
/// branch, because other branches could not go back with it.
struct Savepoint {
    enum class OnRollback { Fail, Resume };

    OnRollback on_rollback = OnRollback::Fail;
    int max_resumes = 3;  ///< how many times `resume` tries again from here

    bool operator==(const Savepoint&) const = default;
};

/// Fails the instance on purpose, for good.
struct Fail {
    std::string message{};  ///< may contain `${expression}`

    bool operator==(const Fail&) const = default;
};

/// Nodes joined by edges instead of by their order; cycles are allowed. A node's result leaves by
/// the handle that it names, or otherwise by the edge without a handle. If there is no such edge,
/// the graph ends.
struct NodeGraph {
    struct Edge {
        std::string from{};
        std::string handle{};  ///< empty = the default edge
        std::string to{};      ///< empty = the graph's end
        Payload metadata{};    ///< as of a node

        bool operator==(const Edge&) const = default;
    };

    /// What happens to a named handle without an edge.
    enum class Unmatched { Fail, Complete };

    std::string entry{};  ///< empty = the first node
    Block nodes;
    std::vector<Edge> edges{};
    Unmatched unmatched = Unmatched::Fail;

    bool operator==(const NodeGraph&) const;
};

/// Runs nodes in their order as one transition of a workflow with rules. Only triggers have it.
struct Sequence {
    Block steps;

    bool operator==(const Sequence&) const;
};

/// One named place of a workflow. Names are unique within the definition.
struct Node {
    using Kind = std::variant<
        Step,
        Condition,
        Switch,
        Parallel,
        Loop,
        Delay,
        HumanDecision,
        Signal,
        Savepoint,
        Fail,
        NodeGraph,
        Sequence>;

    std::string name{};
    std::string description{};
    Kind kind{};
    Payload metadata{};  ///< a JSON object that Ebb stores but does not read, such as where an
                         ///< editor draws the node; empty = none

    bool operator==(const Node&) const;
};

/// `step`, `condition`, `switch`, `parallel`, `loop`, `delay`, `decision`, `signal`, `savepoint`,
/// `fail`, `graph`, `sequence`.
std::string_view kind_name(const Node& node);

/// Describes a named handler of a YAML workflow. Stored unchanged; the handlers component
/// interprets it (`exec:` or `http:`), each as JSON text. Handlers registered in C++ need no entry.
using HandlerSpecs = std::map<std::string, Payload>;

/// Makes a label of every instance that is started.
struct LabelSource {
    LabelType type = LabelType::Text;
    /// A template as JSON text, over `workflow`, `instance` and `now`: `"${ workflow.input.id }"`.
    /// Null makes no label.
    Payload value{};

    bool operator==(const LabelSource&) const = default;
};

/// A workflow: a name, a version and nodes. Immutable after it is registered in a store.
struct Definition {
    /// What a step that fails for good does.
    enum class OnError {
        Compensate,
        DeadLetter,
        Exception,  ///< only with rules: its trigger is held back, and the others go on
    };

    std::string name{};
    int version = 1;
    std::string description{};
    OnError on_error = OnError::Compensate;
    Duration deadline{0};  ///< of the whole instance; 0 = none
    std::int64_t step_budget =
        1'000'000;           ///< nodes that one instance may visit; guards against endless loops
    int priority = 0;        ///< -100..100, of instances that are started without one
    Payload input_schema{};  ///< JSON Schema (draft 7) of the instance's input, as JSON text; empty
                             ///< = none
    Payload output{};  ///< a template of the instance's output, as JSON text; empty = the last
                       ///< node's output
    std::map<std::string, LabelSource> labels{};  ///< by name
    /// JSON pointers into every payload of an instance: `/card/number`, `/items/*/iban`. A server
    /// shows what they name only to those who may see it.
    std::vector<std::string> sensitive{};
    HandlerSpecs handlers{};
    Block steps{
    };  ///< of rules: what the trigger of the same index runs, a step or a sequence each
    std::optional<Rules> rules{};  ///< absent: the steps run in their order

    bool operator==(const Definition&) const;
};

// The words of the JSON form: `exponential`, `dead_letter`, ...
std::string_view to_string(Backoff::Strategy strategy);
std::string_view to_string(Parallel::Losers losers);
std::string_view to_string(HumanDecision::OnDeadline on_deadline);
std::string_view to_string(Signal::OnDeadline on_deadline);
std::string_view to_string(Savepoint::OnRollback on_rollback);
std::string_view to_string(NodeGraph::Unmatched unmatched);
std::string_view to_string(Definition::OnError on_error);

/// The named limits of a definition.
struct DefinitionLimits {
    static constexpr std::size_t kNodesMax = 10'000;
    static constexpr std::size_t kBranchesMax = 256;
    static constexpr int kNestingMax = 32;
    static constexpr std::size_t kNameBytesMax = 128;
    static constexpr int kAttemptsMax = 1'000;
    static constexpr int kQuorumMax = 64;
    static constexpr std::size_t kEdgesMax = 40'000;  ///< of one graph
    static constexpr std::size_t kDefinitionBytesMax = std::size_t{1} << 20;
    static constexpr int kDocumentDepthMax = 200;  ///< of lists and maps in a JSON or YAML text
    static constexpr int kPayloadDepthMax = 64;    ///< of `input`, `output`, a schema, a handler
    static constexpr std::size_t kDescriptionBytesMax = 4'096;
    static constexpr std::size_t kRolesMax = 64;
    static constexpr std::size_t kHandlersMax = 1'000;
    static constexpr int kResumesMax = 1'000;
    static constexpr std::size_t kSensitiveMax = 64;
    static constexpr std::size_t kPointerBytesMax = 256;  ///< of one of `sensitive`
    static constexpr int kVersionMax = 1'000'000'000;
    static constexpr int kPriorityMax = 100;
    static constexpr std::int64_t kIterationsMax = 1'000'000'000;
    static constexpr std::int64_t kStepBudgetMax = 1'000'000'000;
    static constexpr double kFactorMax = 1'000.0;
    /// A hundred years: longer waits are mistakes, and sums of times must not overflow.
    static constexpr Duration kDurationMax = std::chrono::hours(24) * 36'525;
};

/// All problems of `definition`, in document order; empty if it is valid. Pure.
std::vector<Diagnostic> validate(const Definition& definition);

/// The JSON form, as docs/reference/definition.md and schema/workflow.schema.json describe it.
/// Fields with default values are left out; `from_json(to_json(d)) == d`.
Json definition_to_json(const Definition& definition);

/// Reads the JSON form and validates it. Throws DefinitionError with all problems.
Definition definition_from_json(const Json& json);

/// The same from text; line and column are known only for syntax errors.
Definition parse_definition_json(std::string_view text);

/// A fingerprint of the definition's content (hex), equal for definitions that are equal.
std::string definition_checksum(const Definition& definition);

}  // namespace ebb
