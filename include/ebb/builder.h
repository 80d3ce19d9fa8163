#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ebb/definition.h>

namespace ebb {

class BlockBuilder;
class StepBuilder;
class ParallelBuilder;
class LoopBuilder;
class DecisionBuilder;
class SignalBuilder;
class SavepointBuilder;
class GraphBuilder;
class NodeBuilder;

/// Adds the nodes of an inner block. Called immediately, once.
using BlockFunction = std::function<void(BlockBuilder&)>;

/// One branch of a parallel block.
struct BranchOptions {
    std::string name;
    BlockFunction steps;
};

/// One case of a switch.
struct CaseOptions {
    std::string when;
    BlockFunction steps;
};

/// The attempts of a step or a compensation, as an AttemptPolicy. What is left out is the
/// workflow's default; what is given counts, even if it is the same as Ebb's own default.
struct AttemptOptions {
    struct BackoffOptions {
        std::optional<Backoff::Strategy> strategy{};
        std::optional<Duration> initial{};
        std::optional<double> factor{};
        std::optional<Duration> max{};
        std::optional<double> jitter{};
    };

    std::optional<int> max_attempts{};
    BackoffOptions backoff{};
    std::optional<Duration> timeout{};
    std::optional<Duration> step_timeout{};

    /// Everything as in `policy`.
    static AttemptOptions of(const AttemptPolicy& policy);
};

/// Options of a step besides its name; StepBuilder has the same options as functions.
struct StepOptions {
    std::string handler{};     ///< empty = the node's name
    std::string compensate{};  ///< the handler that undoes it; empty = none
    Payload input{};           ///< a template as JSON text; empty = the output before it
    AttemptOptions attempts{};
    bool non_idempotent = false;  ///< exactly one call: max_attempts is then 1 by default
    std::string queue{};
    std::string concurrency_key{};  ///< an expression
    std::string description{};
    Payload metadata{};  ///< a JSON object, for handlers and templates to read; empty = none
};

/// Defaults for steps that do not set these options.
struct StepDefaults {
    /// Also for compensations. `max_attempts` does not apply to a non_idempotent step.
    AttemptPolicy attempts{};
    std::string queue{};
};

namespace detail {
struct WorkflowDraft;
}

/// Builds a sequence of nodes. Every function appends one node and returns a builder that can set
/// options of this node or append the next one. Options that a kind of node does not have do not
/// compile.
class BlockBuilder {
 public:
    BlockBuilder(const BlockBuilder&) = delete;
    BlockBuilder& operator=(const BlockBuilder&) = delete;

    StepBuilder step(std::string name, StepOptions options = {});

    /// Runs `then` if the expression `when` is true, and `otherwise` if not.
    NodeBuilder condition(
        std::string name,
        std::string when,
        const BlockFunction& then,
        const BlockFunction& otherwise = {}
    );

    /// Runs the first case whose expression is true, or `otherwise`.
    NodeBuilder switch_on(
        std::string name, const std::vector<CaseOptions>& cases, const BlockFunction& otherwise = {}
    );

    /// Runs all branches side by side and waits for all of them, unless a join is set.
    ParallelBuilder parallel(std::string name, const std::vector<BranchOptions>& branches);

    /// Repeats `body` while the expression is true; it is evaluated before each turn.
    LoopBuilder loop_while(std::string name, std::string expression, const BlockFunction& body);

    /// Repeats `body` until the expression is true; it is evaluated after each turn.
    LoopBuilder loop_until(std::string name, std::string expression, const BlockFunction& body);

    NodeBuilder delay(std::string name, Duration duration);
    /// `duration` is a text such as `90s`, or `${expression}`.
    NodeBuilder delay(std::string name, std::string duration);
    NodeBuilder delay_until(std::string name, TimePoint time);
    /// `time` is an RFC 3339 time, or `${expression}`.
    NodeBuilder delay_until(std::string name, std::string time);

    /// Waits for people to confirm or reject.
    DecisionBuilder decision(std::string name);

    /// Waits for the signal of this name.
    SignalBuilder signal(std::string name);

    SavepointBuilder savepoint(std::string name);

    /// Fails the instance for good. `message` can contain `${expression}`.
    NodeBuilder fail(std::string name, std::string message = {});

    /// Nodes joined by the edges that you add to the returned builder. Begins with the first node.
    GraphBuilder graph(std::string name, const BlockFunction& nodes);

    /// Adds any node unchanged.
    NodeBuilder add(Node node);

    /// The workflow as built so far; you can call it several times. Throws DefinitionError with all
    /// problems, or Error with InvalidArgument inside the function of an inner block, whose nodes
    /// are not part of the workflow yet.
    Definition build() const;

 protected:
    BlockBuilder(std::shared_ptr<detail::WorkflowDraft> draft, std::shared_ptr<Block> block)
        : draft_(std::move(draft)), block_(std::move(block)) {}

    const std::shared_ptr<detail::WorkflowDraft>& draft() const { return draft_; }

    const std::shared_ptr<Block>& block() const { return block_; }

    Block make_block(const BlockFunction& function) const;

 private:
    // Shared by all builders of a workflow, so that none can outlive what it refers to.
    std::shared_ptr<detail::WorkflowDraft> draft_;
    std::shared_ptr<Block> block_;

    /// Returns the new node's place in the block.
    std::size_t append(std::string name, Node::Kind kind);
};

/// Sets options of the node that was added last when this builder was returned, and appends other
/// nodes.
class NodeBuilder : public BlockBuilder {
 public:
    NodeBuilder& description(std::string text);
    /// A JSON object that Ebb stores but does not read. A step's handler finds it in
    /// StepContext::metadata, and its templates under `metadata`.
    NodeBuilder& metadata(Payload object);

 protected:
    friend class BlockBuilder;

    NodeBuilder(
        std::shared_ptr<detail::WorkflowDraft> draft,
        std::shared_ptr<Block> block,
        std::size_t index
    )
        : BlockBuilder(std::move(draft), std::move(block)), index_(index) {}

    template <typename Kind>
    Kind& kind() {
        return std::get<Kind>(node().kind);
    }

    Node& node() { return (*block())[index_]; }

 private:
    std::size_t index_;
};

class StepBuilder : public NodeBuilder {
 public:
    StepBuilder& description(std::string text);
    StepBuilder& metadata(Payload object);
    StepBuilder& handler(std::string name);
    /// A template as JSON text: `{"id": "${ input.id }"}`.
    StepBuilder& input(Payload text);
    /// The handler that undoes the step, and its attempts.
    StepBuilder& compensate(std::string handler, AttemptOptions attempts = {});
    StepBuilder& max_attempts(int count);
    StepBuilder& backoff(Backoff backoff);
    /// For one attempt. When it is over, the handler is asked to stop (Context::stop). The attempt
    /// fails when the handler has returned or, if it does not, after the engine's `stop_grace`
    /// (5 seconds unless EngineOptions says otherwise).
    StepBuilder& timeout(Duration duration);
    /// For all attempts and the delays between them.
    StepBuilder& step_timeout(Duration duration);
    /// Sets all four options.
    StepBuilder& attempts(AttemptPolicy policy);
    /// Exactly one call: sets max_attempts to 1.
    StepBuilder& non_idempotent();
    StepBuilder& queue(std::string name);
    /// An expression. The queue's `concurrency_per_key` counts the tasks with the same value.
    StepBuilder& concurrency_key(std::string expression);
    /// For a node of a graph: an expression over `output` that yields the handle to leave by.
    StepBuilder& next(std::string expression);

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class ParallelBuilder : public NodeBuilder {
 public:
    ParallelBuilder& description(std::string text);
    /// Continues when one branch has completed.
    ParallelBuilder& join_any();
    /// Continues when `count` branches have completed.
    ParallelBuilder& join(int count);
    /// Keeps the completed steps of the branches that the join does not need.
    ParallelBuilder& keep_losers();

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class LoopBuilder : public NodeBuilder {
 public:
    LoopBuilder& description(std::string text);
    LoopBuilder& max_iterations(std::int64_t count);

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class DecisionBuilder : public NodeBuilder {
 public:
    DecisionBuilder& description(std::string text);
    DecisionBuilder& quorum(int people);
    DecisionBuilder& roles(std::vector<std::string> roles);
    DecisionBuilder& deadline(
        Duration duration, HumanDecision::OnDeadline outcome = HumanDecision::OnDeadline::Fail
    );
    /// Runs after a rejection, instead of a failure. The block can be empty.
    DecisionBuilder& on_reject(const BlockFunction& steps);

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class SignalBuilder : public NodeBuilder {
 public:
    SignalBuilder& description(std::string text);
    /// The signal to wait for, if its name differs from the node's name.
    SignalBuilder& signal_name(std::string name);
    SignalBuilder& deadline(
        Duration duration, Signal::OnDeadline outcome = Signal::OnDeadline::Fail
    );
    /// The JSON Schema (draft 7) of the payload. A signal that does not conform is refused, with
    /// the place in the payload, and the instance keeps waiting.
    SignalBuilder& schema(Payload schema);

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class SavepointBuilder : public NodeBuilder {
 public:
    SavepointBuilder& description(std::string text);
    /// A rollback that reaches this savepoint runs forward again, `times` times.
    SavepointBuilder& resume(int times = Savepoint{}.max_resumes);

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

class GraphBuilder : public NodeBuilder {
 public:
    GraphBuilder& description(std::string text);
    /// The node where the graph begins, if it is not the first one.
    GraphBuilder& entry(std::string node);
    /// The default edge: for results that name no handle.
    GraphBuilder& edge(std::string from, std::string to);
    /// For results that name `handle`. An empty `to` ends the graph.
    GraphBuilder& edge(std::string from, std::string handle, std::string to);
    /// A named handle without an edge ends the graph instead of failing the step.
    GraphBuilder& complete_unmatched();

 private:
    friend class BlockBuilder;
    using NodeBuilder::NodeBuilder;
};

/// Builds a workflow in C++:
///
///     const ebb::Definition order =
///         ebb::WorkflowBuilder("order", 1)
///             .deadline(1h)
///             .step("reserve", {.compensate = "release"})
///             .step("charge").compensate("refund").max_attempts(5)
///             .condition("big", "input.amount > 100", [](ebb::BlockBuilder& then) {
///                 then.decision("approve").roles({"boss"}).deadline(48h);
///             })
///             .parallel("ship", {
///                 {"parcel", [](ebb::BlockBuilder& branch) { branch.step("pack"); }},
///                 {"letter", [](ebb::BlockBuilder& branch) { branch.step("print").step("post");
///                 }},
///             })
///             .build();
///
/// Set the options of the workflow (deadline, output, ...) before the first node, because options
/// that follow a node apply to that node. Two WorkflowBuilders share nothing. Not thread-safe.
class WorkflowBuilder : public BlockBuilder {
 public:
    explicit WorkflowBuilder(std::string name, int version = 1);

    WorkflowBuilder& description(std::string text);
    WorkflowBuilder& on_error(Definition::OnError reaction);
    WorkflowBuilder& deadline(Duration duration);
    WorkflowBuilder& priority(int priority);
    /// Defaults for all steps that are added after this call. A step's own options take precedence,
    /// field by field. The definition has the values in each step.
    WorkflowBuilder& defaults(StepDefaults defaults);
    WorkflowBuilder& step_budget(std::int64_t visits);
    /// JSON text.
    WorkflowBuilder& input_schema(Payload schema);
    /// A template as JSON text.
    WorkflowBuilder& output(Payload text);
    /// A label of every instance. `value` is a template as JSON text:
    /// `"\"${ workflow.input.customer }\""`.
    WorkflowBuilder& label(std::string name, LabelType type, Payload value);
    /// JSON pointers into every payload: a server shows what they name only to those who may see
    /// it.
    WorkflowBuilder& sensitive(std::vector<std::string> pointers);
    /// Describes the handler `name`, as JSON text: see docs/reference/handlers.md.
    WorkflowBuilder& handler_spec(std::string name, Payload spec);

 private:
    explicit WorkflowBuilder(const std::shared_ptr<detail::WorkflowDraft>& draft);
};

}  // namespace ebb
