#include <ebb/builder.h>

#include "core/model/workflow_draft.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb {

using model::canonical;

namespace {

AttemptPolicy with_defaults(const AttemptOptions& given, const AttemptPolicy& defaults) {
    const Backoff& backoff = defaults.backoff;
    return {
        .max_attempts = given.max_attempts.value_or(defaults.max_attempts),
        .backoff =
            {
                .strategy = given.backoff.strategy.value_or(backoff.strategy),
                .initial = given.backoff.initial.value_or(backoff.initial),
                .factor = given.backoff.factor.value_or(backoff.factor),
                .max = given.backoff.max.value_or(backoff.max),
                .jitter = given.backoff.jitter.value_or(backoff.jitter),
            },
        .timeout = given.timeout.value_or(defaults.timeout),
        .step_timeout = given.step_timeout.value_or(defaults.step_timeout),
    };
}

}  // namespace

AttemptOptions AttemptOptions::of(const AttemptPolicy& policy) {
    const Backoff& backoff = policy.backoff;
    return {
        .max_attempts = policy.max_attempts,
        .backoff =
            {
                .strategy = backoff.strategy,
                .initial = backoff.initial,
                .factor = backoff.factor,
                .max = backoff.max,
                .jitter = backoff.jitter,
            },
        .timeout = policy.timeout,
        .step_timeout = policy.step_timeout,
    };
}

Block BlockBuilder::make_block(const BlockFunction& function) const {
    BlockBuilder inner(draft_, std::make_shared<Block>());
    if (function) function(inner);
    return std::move(*inner.block_);
}

std::size_t BlockBuilder::append(std::string name, Node::Kind kind) {
    block_->push_back({.name = std::move(name), .description = {}, .kind = std::move(kind)});
    return block_->size() - 1;
}

StepBuilder BlockBuilder::step(std::string name, StepOptions options) {
    Step step{
        .handler = std::move(options.handler),
        .input = canonical(std::move(options.input)),
        .compensate = std::nullopt,
        .attempts = with_defaults(options.attempts, draft_->defaults.attempts),
        .non_idempotent = options.non_idempotent,
        .queue = options.queue.empty() ? draft_->defaults.queue : std::move(options.queue),
        .concurrency_key = std::move(options.concurrency_key),
    };
    if (!options.compensate.empty()) {
        step.compensate = Compensation{
            .handler = std::move(options.compensate), .attempts = draft_->defaults.attempts
        };
    }
    if (step.non_idempotent && !options.attempts.max_attempts) step.attempts.max_attempts = 1;
    const std::size_t index = append(std::move(name), std::move(step));
    (*block_)[index].description = std::move(options.description);
    (*block_)[index].metadata = canonical(std::move(options.metadata));
    return StepBuilder(draft_, block_, index);
}

NodeBuilder BlockBuilder::condition(
    std::string name, std::string when, const BlockFunction& then, const BlockFunction& otherwise
) {
    Condition condition{
        .when = std::move(when), .then = make_block(then), .otherwise = make_block(otherwise)
    };
    return NodeBuilder(draft_, block_, append(std::move(name), std::move(condition)));
}

NodeBuilder BlockBuilder::switch_on(
    std::string name, const std::vector<CaseOptions>& cases, const BlockFunction& otherwise
) {
    Switch choice;
    for (const CaseOptions& c : cases) choice.cases.push_back({c.when, make_block(c.steps)});
    choice.otherwise = make_block(otherwise);
    return NodeBuilder(draft_, block_, append(std::move(name), std::move(choice)));
}

ParallelBuilder BlockBuilder::parallel(
    std::string name, const std::vector<BranchOptions>& branches
) {
    Parallel parallel;
    for (const BranchOptions& branch : branches) {
        parallel.branches.push_back({branch.name, make_block(branch.steps)});
    }
    return ParallelBuilder(draft_, block_, append(std::move(name), std::move(parallel)));
}

LoopBuilder BlockBuilder::loop_while(
    std::string name, std::string expression, const BlockFunction& body
) {
    Loop loop{
        .while_expression = std::move(expression),
        .until_expression = {},
        .steps = make_block(body),
    };
    return LoopBuilder(draft_, block_, append(std::move(name), std::move(loop)));
}

LoopBuilder BlockBuilder::loop_until(
    std::string name, std::string expression, const BlockFunction& body
) {
    Loop loop{
        .while_expression = {},
        .until_expression = std::move(expression),
        .steps = make_block(body),
    };
    return LoopBuilder(draft_, block_, append(std::move(name), std::move(loop)));
}

NodeBuilder BlockBuilder::delay(std::string name, Duration duration) {
    return delay(std::move(name), format_duration(duration));
}

NodeBuilder BlockBuilder::delay(std::string name, std::string duration) {
    Delay delay{.duration = std::move(duration), .until = {}};
    return NodeBuilder(draft_, block_, append(std::move(name), std::move(delay)));
}

NodeBuilder BlockBuilder::delay_until(std::string name, TimePoint time) {
    return delay_until(std::move(name), format_time(time));
}

NodeBuilder BlockBuilder::delay_until(std::string name, std::string time) {
    Delay delay{.duration = {}, .until = std::move(time)};
    return NodeBuilder(draft_, block_, append(std::move(name), std::move(delay)));
}

DecisionBuilder BlockBuilder::decision(std::string name) {
    return DecisionBuilder(draft_, block_, append(std::move(name), HumanDecision{}));
}

SignalBuilder BlockBuilder::signal(std::string name) {
    return SignalBuilder(draft_, block_, append(std::move(name), Signal{}));
}

SavepointBuilder BlockBuilder::savepoint(std::string name) {
    return SavepointBuilder(draft_, block_, append(std::move(name), Savepoint{}));
}

NodeBuilder BlockBuilder::fail(std::string name, std::string message) {
    Fail fail{.message = std::move(message)};
    return NodeBuilder(draft_, block_, append(std::move(name), std::move(fail)));
}

NodeBuilder BlockBuilder::add(Node node) {
    block_->push_back(std::move(node));
    return NodeBuilder(draft_, block_, block_->size() - 1);
}

Definition BlockBuilder::build() const {
    if (block_ != draft_->steps) {
        throw Error(
            ErrorCode::InvalidArgument,
            "build() was called in the function of an inner block: call it once on the workflow's "
            "builder, after its last node."
        );
    }
    Definition definition = draft_->definition;
    definition.steps = *draft_->steps;
    std::vector<Diagnostic> diagnostics = validate(definition);
    if (!diagnostics.empty()) throw DefinitionError(std::move(diagnostics));
    return definition;
}

NodeBuilder& NodeBuilder::description(std::string text) {
    node().description = std::move(text);
    return *this;
}

StepBuilder& StepBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

StepBuilder& StepBuilder::metadata(Payload object) {
    NodeBuilder::metadata(std::move(object));
    return *this;
}

StepBuilder& StepBuilder::handler(std::string name) {
    kind<Step>().handler = std::move(name);
    return *this;
}

StepBuilder& StepBuilder::input(Payload text) {
    kind<Step>().input = canonical(std::move(text));
    return *this;
}

StepBuilder& StepBuilder::compensate(std::string handler, AttemptOptions attempts) {
    kind<Step>().compensate = Compensation{
        .handler = std::move(handler),
        .attempts = with_defaults(attempts, draft()->defaults.attempts)
    };
    return *this;
}

StepBuilder& StepBuilder::max_attempts(int count) {
    kind<Step>().attempts.max_attempts = count;
    return *this;
}

StepBuilder& StepBuilder::backoff(Backoff backoff) {
    kind<Step>().attempts.backoff = backoff;
    return *this;
}

StepBuilder& StepBuilder::timeout(Duration duration) {
    kind<Step>().attempts.timeout = duration;
    return *this;
}

StepBuilder& StepBuilder::step_timeout(Duration duration) {
    kind<Step>().attempts.step_timeout = duration;
    return *this;
}

StepBuilder& StepBuilder::attempts(AttemptPolicy policy) {
    kind<Step>().attempts = policy;
    return *this;
}

StepBuilder& StepBuilder::non_idempotent() {
    kind<Step>().non_idempotent = true;
    return max_attempts(1);
}

StepBuilder& StepBuilder::queue(std::string name) {
    kind<Step>().queue = std::move(name);
    return *this;
}

ParallelBuilder& ParallelBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

ParallelBuilder& ParallelBuilder::join_any() {
    return join(1);
}

ParallelBuilder& ParallelBuilder::join(int count) {
    // 0 means all in the model; as a number of branches it is a mistake that `validate` must see.
    kind<Parallel>().join = count == 0 ? -1 : count;
    return *this;
}

ParallelBuilder& ParallelBuilder::keep_losers() {
    kind<Parallel>().losers = Parallel::Losers::Keep;
    return *this;
}

LoopBuilder& LoopBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

LoopBuilder& LoopBuilder::max_iterations(std::int64_t count) {
    kind<Loop>().max_iterations = count;
    return *this;
}

DecisionBuilder& DecisionBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

DecisionBuilder& DecisionBuilder::quorum(int people) {
    kind<HumanDecision>().quorum = people;
    return *this;
}

DecisionBuilder& DecisionBuilder::roles(std::vector<std::string> roles) {
    kind<HumanDecision>().roles = std::move(roles);
    return *this;
}

DecisionBuilder& DecisionBuilder::deadline(Duration duration, HumanDecision::OnDeadline outcome) {
    kind<HumanDecision>().deadline = duration;
    kind<HumanDecision>().on_deadline = outcome;
    return *this;
}

DecisionBuilder& DecisionBuilder::on_reject(const BlockFunction& steps) {
    kind<HumanDecision>().on_reject = make_block(steps);
    return *this;
}

SignalBuilder& SignalBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

SignalBuilder& SignalBuilder::signal_name(std::string name) {
    kind<Signal>().signal = std::move(name);
    return *this;
}

SignalBuilder& SignalBuilder::deadline(Duration duration, Signal::OnDeadline outcome) {
    kind<Signal>().deadline = duration;
    kind<Signal>().on_deadline = outcome;
    return *this;
}

SignalBuilder& SignalBuilder::schema(Payload schema) {
    kind<Signal>().schema = canonical(std::move(schema));
    return *this;
}

SavepointBuilder& SavepointBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

SavepointBuilder& SavepointBuilder::resume(int times) {
    kind<Savepoint>().on_rollback = Savepoint::OnRollback::Resume;
    kind<Savepoint>().max_resumes = times;
    return *this;
}

NodeBuilder& NodeBuilder::metadata(Payload object) {
    node().metadata = canonical(std::move(object));
    return *this;
}

StepBuilder& StepBuilder::concurrency_key(std::string expression) {
    kind<Step>().concurrency_key = std::move(expression);
    return *this;
}

StepBuilder& StepBuilder::next(std::string expression) {
    kind<Step>().next = std::move(expression);
    return *this;
}

GraphBuilder BlockBuilder::graph(std::string name, const BlockFunction& nodes) {
    NodeGraph graph{.entry = {}, .nodes = make_block(nodes)};
    return GraphBuilder(draft_, block_, append(std::move(name), std::move(graph)));
}

GraphBuilder& GraphBuilder::description(std::string text) {
    NodeBuilder::description(std::move(text));
    return *this;
}

GraphBuilder& GraphBuilder::entry(std::string node) {
    kind<NodeGraph>().entry = std::move(node);
    return *this;
}

GraphBuilder& GraphBuilder::edge(std::string from, std::string to) {
    return edge(std::move(from), {}, std::move(to));
}

GraphBuilder& GraphBuilder::edge(std::string from, std::string handle, std::string to) {
    kind<NodeGraph>().edges.push_back(
        {.from = std::move(from), .handle = std::move(handle), .to = std::move(to), .metadata = {}}
    );
    return *this;
}

GraphBuilder& GraphBuilder::complete_unmatched() {
    kind<NodeGraph>().unmatched = NodeGraph::Unmatched::Complete;
    return *this;
}

WorkflowBuilder::WorkflowBuilder(const std::shared_ptr<detail::WorkflowDraft>& draft)
    : BlockBuilder(draft, draft->steps) {}

WorkflowBuilder::WorkflowBuilder(std::string name, int version)
    : WorkflowBuilder(std::make_shared<detail::WorkflowDraft>()) {
    draft()->definition.name = std::move(name);
    draft()->definition.version = version;
}

WorkflowBuilder& WorkflowBuilder::defaults(StepDefaults defaults) {
    draft()->defaults = std::move(defaults);
    return *this;
}

WorkflowBuilder& WorkflowBuilder::description(std::string text) {
    draft()->definition.description = std::move(text);
    return *this;
}

WorkflowBuilder& WorkflowBuilder::on_error(Definition::OnError reaction) {
    draft()->definition.on_error = reaction;
    return *this;
}

WorkflowBuilder& WorkflowBuilder::deadline(Duration duration) {
    draft()->definition.deadline = duration;
    return *this;
}

WorkflowBuilder& WorkflowBuilder::priority(int priority) {
    draft()->definition.priority = priority;
    return *this;
}

WorkflowBuilder& WorkflowBuilder::step_budget(std::int64_t visits) {
    draft()->definition.step_budget = visits;
    return *this;
}

WorkflowBuilder& WorkflowBuilder::input_schema(Payload schema) {
    draft()->definition.input_schema = canonical(std::move(schema));
    return *this;
}

WorkflowBuilder& WorkflowBuilder::output(Payload text) {
    draft()->definition.output = canonical(std::move(text));
    return *this;
}

WorkflowBuilder& WorkflowBuilder::label(std::string name, LabelType type, Payload value) {
    draft()->definition.labels[std::move(name)] = {type, canonical(std::move(value))};
    return *this;
}

WorkflowBuilder& WorkflowBuilder::sensitive(std::vector<std::string> pointers) {
    draft()->definition.sensitive = std::move(pointers);
    return *this;
}

WorkflowBuilder& WorkflowBuilder::handler_spec(std::string name, Payload spec) {
    draft()->definition.handlers[std::move(name)] = canonical(std::move(spec));
    return *this;
}

}  // namespace ebb
