#include "core/model/writer.h"

#include <string>
#include <utility>
#include <variant>

#include "core/model/words.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::model {

namespace {

using Ordered = nlohmann::ordered_json;

// Everything here leaves out what has its default value.

template <typename T>
void put(Ordered& out, const char* key, const T& value, const T& otherwise = {}) {
    if (value != otherwise) out[key] = value;
}

void put(Ordered& out, const char* key, Duration value, Duration otherwise = Duration(0)) {
    if (value != otherwise) out[key] = format_duration(value);
}

void put_payload(Ordered& out, const char* key, const Payload& payload) {
    if (!payload.empty()) {
        out[key] = Ordered(parse_json(
            payload,
            std::string("\"") + key + "\" of a definition",
            {.payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
             .json_depth_max = DefinitionLimits::kPayloadDepthMax}
        ));
    }
}

template <typename Enum, std::size_t N>
void put_word(
    Ordered& out,
    const char* key,
    const std::array<Word<Enum>, N>& words,
    Enum value,
    Enum otherwise
) {
    if (value != otherwise) out[key] = word_of(words, value);
}

Ordered write_block(const Block& block);

void put_block(Ordered& out, const char* key, const Block& block) {
    if (!block.empty()) out[key] = write_block(block);
}

void put_backoff(Ordered& out, const Backoff& backoff) {
    const Backoff otherwise;
    if (backoff == otherwise) return;
    Ordered& object = out["backoff"] = Ordered::object();
    put_word(object, "strategy", kStrategyWords, backoff.strategy, otherwise.strategy);
    put(object, "initial", backoff.initial, otherwise.initial);
    put(object, "factor", backoff.factor, otherwise.factor);
    put(object, "max", backoff.max, otherwise.max);
    put(object, "jitter", backoff.jitter, otherwise.jitter);
}

void put_attempts(Ordered& out, const AttemptPolicy& attempts, int attempts_otherwise) {
    put(out, "max_attempts", attempts.max_attempts, attempts_otherwise);
    put_backoff(out, attempts.backoff);
    put(out, "timeout", attempts.timeout);
    put(out, "step_timeout", attempts.step_timeout);
}

Ordered write_compensation(const Compensation& compensation) {
    if (compensation.attempts == AttemptPolicy{}) return compensation.handler;
    Ordered out = {{"handler", compensation.handler}};
    put_attempts(out, compensation.attempts, AttemptPolicy{}.max_attempts);
    return out;
}

void write_kind(Ordered& out, const Step& step) {
    put(out, "handler", step.handler);
    put_payload(out, "input", step.input);
    if (step.compensate) out["compensate"] = write_compensation(*step.compensate);
    put(out, "non_idempotent", step.non_idempotent);
    put_attempts(out, step.attempts, step.non_idempotent ? 1 : AttemptPolicy{}.max_attempts);
    put(out, "queue", step.queue);
    put(out, "concurrency_key", step.concurrency_key);
    put(out, "next", step.next);
}

void write_kind(Ordered& out, const Condition& condition) {
    out["when"] = condition.when;
    put_block(out, "then", condition.then);
    put_block(out, "else", condition.otherwise);
}

void write_kind(Ordered& out, const Switch& choice) {
    Ordered& cases = out["cases"] = Ordered::array();
    for (const Switch::Case& c : choice.cases) {
        cases.push_back({{"when", c.when}, {"do", write_block(c.steps)}});
    }
    put_block(out, "default", choice.otherwise);
}

void write_kind(Ordered& out, const Parallel& parallel) {
    Ordered& branches = out["branches"] = Ordered::array();
    for (const Parallel::Branch& branch : parallel.branches) {
        branches.push_back({{"branch", branch.name}, {"do", write_block(branch.steps)}});
    }
    if (parallel.join == 1) {
        out["join"] = "any";
    } else {
        put(out, "join", parallel.join);
    }
    put_word(out, "losers", kLosersWords, parallel.losers, Parallel{}.losers);
}

void write_kind(Ordered& out, const Loop& loop) {
    put(out, "while", loop.while_expression);
    put(out, "until", loop.until_expression);
    out["do"] = write_block(loop.steps);
    put(out, "max_iterations", loop.max_iterations, Loop{}.max_iterations);
}

void write_kind(Ordered& out, const Delay& delay) {
    put(out, "for", delay.duration);
    put(out, "until", delay.until);
}

void write_kind(Ordered& out, const HumanDecision& decision) {
    put(out, "quorum", decision.quorum, HumanDecision{}.quorum);
    put(out, "roles", decision.roles);
    put(out, "deadline", decision.deadline);
    put_word(
        out,
        "on_deadline",
        kDecisionDeadlineWords,
        decision.on_deadline,
        HumanDecision{}.on_deadline
    );
    if (decision.on_reject) out["on_reject"] = write_block(*decision.on_reject);
}

void write_kind(Ordered& out, const Signal& signal) {
    put(out, "name", signal.signal);
    put(out, "deadline", signal.deadline);
    put_word(out, "on_deadline", kSignalDeadlineWords, signal.on_deadline, Signal{}.on_deadline);
    put_payload(out, "schema", signal.schema);
}

void write_kind(Ordered& out, const Savepoint& savepoint) {
    put_word(out, "on_rollback", kRollbackWords, savepoint.on_rollback, Savepoint{}.on_rollback);
    put(out, "max_resumes", savepoint.max_resumes, Savepoint{}.max_resumes);
}

void write_kind(Ordered& out, const Fail& fail) {
    put(out, "message", fail.message);
}

Ordered write_edges(const std::vector<NodeGraph::Edge>& edges) {
    Ordered out = Ordered::array();
    for (const NodeGraph::Edge& edge : edges) {
        Ordered object = {{"from", edge.from}};
        put(object, "handle", edge.handle);
        put(object, "to", edge.to);
        put_payload(object, "metadata", edge.metadata);
        out.push_back(std::move(object));
    }
    return out;
}

void write_kind(Ordered& out, const NodeGraph& graph) {
    put(out, "entry", graph.entry);
    out["nodes"] = write_block(graph.nodes);
    if (!graph.edges.empty()) out["edges"] = write_edges(graph.edges);
    put_word(out, "unmatched", kUnmatchedWords, graph.unmatched, NodeGraph{}.unmatched);
}

void write_kind(Ordered& out, const Sequence& sequence) {
    out["steps"] = write_block(sequence.steps);
}

Ordered write_savepoints(const std::vector<SavepointCondition>& savepoints) {
    Ordered out = Ordered::array();
    for (const SavepointCondition& savepoint : savepoints) {
        Ordered object = {{"savepoint", savepoint.name}, {"when", savepoint.when}};
        if (savepoint.resumes) object["on_rollback"] = "resume";
        put(object, "max_resumes", savepoint.max_resumes, SavepointCondition{}.max_resumes);
        out.push_back(std::move(object));
    }
    return out;
}

Ordered write_conditions(const char* kind, const std::vector<NamedCondition>& conditions) {
    Ordered out = Ordered::array();
    for (const NamedCondition& condition : conditions) {
        out.push_back({{kind, condition.name}, {"when", condition.when}});
    }
    return out;
}

Ordered write_attribute(const Attribute& attribute) {
    const Attribute otherwise;
    Ordered out = {{"attribute", attribute.name}};
    put_word(out, "type", kAttributeTypeWords, attribute.type, otherwise.type);
    if (attribute.initial != otherwise.initial) put_payload(out, "default", attribute.initial);
    put(out, "external", attribute.is_external);
    put(out, "enabled", attribute.is_enabled, true);
    if (!attribute.renamed_from.empty()) out["renamed_from"] = attribute.renamed_from;
    return out;
}

Ordered write_writes(const std::vector<DeclaredWrite>& writes) {
    Ordered out = Ordered::array();
    for (const DeclaredWrite& write : writes) {
        if (write.values.empty()) {
            out.push_back(write.attribute);
            continue;
        }
        Ordered values = Ordered::array();
        for (const Payload& value : write.values) values.push_back(Ordered::parse(value));
        out.push_back({{"attribute", write.attribute}, {"values", std::move(values)}});
    }
    return out;
}

void write_call(Ordered& out, const Node& node) {
    put(out, "description", node.description);
    put_payload(out, "metadata", node.metadata);
    if (const auto* step = std::get_if<Step>(&node.kind)) {
        Step fields = *step;
        put(out, "do", std::exchange(fields.handler, {}));
        write_kind(out, fields);
    } else if (const auto* sequence = std::get_if<Sequence>(&node.kind)) {
        write_kind(out, *sequence);
    }
}

Ordered write_handler(const Node& node) {
    Ordered out = Ordered::object();
    write_call(out, node);
    return out;
}

Ordered write_trigger(const Trigger& trigger, const Node& node) {
    const Trigger otherwise;
    Ordered out = {{"trigger", node.name}, {"when", trigger.when}};
    write_call(out, node);
    put_payload(out, "set", trigger.set);
    if (trigger.writes) out["writes"] = write_writes(*trigger.writes);
    put_word(out, "mode", kTriggerModeWords, trigger.mode, otherwise.mode);
    put(out, "after", trigger.after);
    put(out, "max_fires", trigger.max_fires);
    put(out, "enabled", trigger.is_enabled, true);
    return out;
}

Ordered write_rules(const Rules& rules, const Block& steps) {
    const Rules otherwise;
    Ordered out = Ordered::object();
    Ordered& attributes = out["attributes"] = Ordered::array();
    for (const Attribute& attribute : rules.attributes) {
        attributes.push_back(write_attribute(attribute));
    }
    Ordered& triggers = out["triggers"] = Ordered::array();
    for (std::size_t i = 0; i < rules.triggers.size() && i < steps.size(); ++i) {
        triggers.push_back(write_trigger(rules.triggers[i], steps[i]));
    }
    if (!rules.finals.empty()) out["final"] = write_conditions("final", rules.finals);
    if (!rules.exceptions.empty()) {
        out["exceptions"] = write_conditions("exception", rules.exceptions);
    }
    if (!rules.invariants.empty()) {
        out["invariants"] = write_conditions("invariant", rules.invariants);
    }
    if (!rules.savepoints.empty()) out["savepoints"] = write_savepoints(rules.savepoints);
    if (rules.on_exception == Rules::OnException::Handle) {
        if (!steps.empty()) out["on_exception"] = write_handler(steps.back());
    } else {
        put_word(
            out, "on_exception", kOnExceptionWords, rules.on_exception, otherwise.on_exception
        );
    }
    put_word(out, "on_idle", kOnIdleWords, rules.on_idle, otherwise.on_idle);
    put_word(
        out,
        "final_while_pending",
        kFinalWhilePendingWords,
        rules.final_while_pending,
        otherwise.final_while_pending
    );
    put_word(
        out,
        "external_writes",
        kExternalWritesWords,
        rules.external_writes,
        otherwise.external_writes
    );
    put_word(out, "evolution", kEvolutionWords, rules.evolution, otherwise.evolution);
    return out;
}

Ordered write_labels(const std::map<std::string, LabelSource>& labels) {
    Ordered out = Ordered::object();
    for (const auto& [name, source] : labels) {
        Ordered label = {{"type", to_string(source.type)}};
        put_payload(label, "value", source.value);
        out[name] = std::move(label);
    }
    return out;
}

Ordered write_block(const Block& block) {
    Ordered out = Ordered::array();
    for (const Node& node : block) {
        Ordered object = Ordered::object();
        object[std::string(kind_name(node))] = node.name;
        put(object, "description", node.description);
        put_payload(object, "metadata", node.metadata);
        std::visit([&object](const auto& kind) { write_kind(object, kind); }, node.kind);
        out.push_back(std::move(object));
    }
    return out;
}

}  // namespace

Ordered write_definition(const Definition& definition) {
    const Definition otherwise;
    Ordered out = {{"workflow", definition.name}};
    put(out, "version", definition.version, otherwise.version);
    put(out, "description", definition.description);
    put_word(out, "on_error", kOnErrorWords, definition.on_error, otherwise.on_error);
    put(out, "deadline", definition.deadline);
    put(out, "priority", definition.priority);
    put(out, "step_budget", definition.step_budget, otherwise.step_budget);
    put_payload(out, "input_schema", definition.input_schema);
    if (!definition.labels.empty()) out["labels"] = write_labels(definition.labels);
    if (!definition.sensitive.empty()) out["sensitive"] = definition.sensitive;
    if (!definition.handlers.empty()) {
        Ordered& handlers = out["handlers"] = Ordered::object();
        for (const auto& [name, spec] : definition.handlers) {
            put_payload(handlers, name.c_str(), spec);
        }
    }
    if (definition.rules) {
        out["rules"] = write_rules(*definition.rules, definition.steps);
    } else {
        out["steps"] = write_block(definition.steps);
    }
    put_payload(out, "output", definition.output);
    return out;
}

}  // namespace ebb::model
