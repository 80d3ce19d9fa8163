#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/node_types.h>

#include "call/completion.h"
#include "call/contract.h"
#include "call/late_input.h"
#include "call/typed_handler.h"
#include "core/expression/expression.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "support/json.h"
#include "support/json_schema.h"
#include "support/redact.h"

namespace ebb {

namespace {

class SchemaValidator : public Validator {
 public:
    explicit SchemaValidator(const Json& schema) : schema_(schema) {}

    std::vector<std::string> violations(const Payload& value) const override {
        return schema_.violations(Json::parse(value));
    }

    Validation validate(const Payload& value) const override {
        Json whole = Json::parse(value);
        bool has_filled = false;
        try {
            has_filled = schema_.fill_defaults(whole);
        } catch (const Error& error) {
            return {.violations = {fmt::format("/: {}", error.what())}};
        }
        Validation validation{.violations = schema_.violations(whole)};
        if (has_filled) validation.value = to_text(whole);
        return validation;
    }

 private:
    JsonSchema schema_;
};

[[noreturn]] void fail_for_good(const char* code, const std::string& message) {
    throw HandlerFailure(
        message, {.code = code, .is_permanent = true, .retry_after = {}, .details = {}}
    );
}

/// Calls `visit` for every step in the block.
template <typename Visit>
void each_step(Block& block, const Visit& visit) {
    for (Node& node : block) {
        const auto inside = [&visit](Block& inner) { each_step(inner, visit); };
        if (auto* step = std::get_if<Step>(&node.kind)) {
            visit(node, *step);
        } else if (auto* condition = std::get_if<Condition>(&node.kind)) {
            inside(condition->then);
            inside(condition->otherwise);
        } else if (auto* choice = std::get_if<Switch>(&node.kind)) {
            for (Switch::Case& each : choice->cases) inside(each.steps);
            inside(choice->otherwise);
        } else if (auto* parallel = std::get_if<Parallel>(&node.kind)) {
            for (Parallel::Branch& branch : parallel->branches) inside(branch.steps);
        } else if (auto* loop = std::get_if<Loop>(&node.kind)) {
            inside(loop->steps);
        } else if (auto* decision = std::get_if<HumanDecision>(&node.kind)) {
            if (decision->on_reject) inside(*decision->on_reject);
        } else if (auto* graph = std::get_if<NodeGraph>(&node.kind)) {
            inside(graph->nodes);
        } else if (auto* sequence = std::get_if<Sequence>(&node.kind)) {
            inside(sequence->steps);
        }
    }
}

struct Type {
    Handler handler;
    AsyncHandler async;  ///< empty: `handler` is called
    std::optional<AttemptPolicy> retry;
    Contract contract;
};

}  // namespace

Validation Validator::validate(const Payload& value) const {
    return {.violations = violations(value)};
}

std::shared_ptr<const Validator> json_schema_validator(const Payload& schema) {
    const PayloadLimits limits{
        .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
        .json_depth_max = DefinitionLimits::kPayloadDepthMax
    };
    return std::make_shared<SchemaValidator>(parse_json(schema, "The schema", limits));
}

struct NodeTypes::State {
    NodeTypesOptions options;
    std::map<std::string, Type, std::less<>> types;
    LateInputs late;

    CallValues values_of(const StepContext& context) const {
        CallValues values;
        if (options.globals) values.globals = options.globals(context);
        if (options.secrets) values.secrets = options.secrets(context);
        if (context.payload) values.payload = *context.payload;
        return values;
    }

    static Redactor redactor_of(const CallValues& values) {
        return Redactor::of(Json::parse(values.secrets, nullptr, false));
    }

    /// `entry`: null = the definition's entry has no contract.
    Payload call(
        const Type& type, const Payload& input, const StepContext& context, const Contract* entry
    ) const {
        const CallValues values = values_of(context);
        const Redactor redactor = redactor_of(values);
        return judged(redactor, context, [&] {
            const Payload data = prepared(type, input, context, values, entry);
            return finished(type, type.handler(data, context), redactor, context, entry);
        });
    }

    /// What `perform` throws is redacted and judged.
    template <typename Function>
    Payload judged(const Redactor& redactor, const StepContext& context, Function perform) const {
        try {
            return perform();
        } catch (...) {
            if (!options.on_error) rethrow_redacted(redactor);
            rethrow_judged(redactor, context);
        }
    }

    /// As `on_error` says.
    [[noreturn]] void rethrow_judged(const Redactor& redactor, const StepContext& context) const {
        const HandlerFailure failure = present_failure(redactor);
        ErrorVerdict verdict;
        try {
            verdict = options.on_error(failure, context);
        } catch (...) {
            throw failure;
        }
        HandlerFailure::Options judged = failure.options();
        if (verdict.kind == ErrorVerdict::Kind::AsThrown) throw failure;
        judged.is_permanent = verdict.kind == ErrorVerdict::Kind::GiveUp;
        judged.retry_after = judged.is_permanent ? std::nullopt : verdict.delay;
        throw HandlerFailure(failure.what(), std::move(judged));
    }

    /// What is being thrown, whatever it is.
    static HandlerFailure present_failure(const Redactor& redactor) {
        try {
            rethrow_redacted(redactor);
        } catch (const HandlerFailure& failure) {
            return failure;
        } catch (const PermanentError& error) {
            return HandlerFailure(
                error.what(),
                {.code = error.code(), .is_permanent = true, .retry_after = {}, .details = {}}
            );
        } catch (const RetryAfter& error) {
            return HandlerFailure(
                error.what(),
                {.code = "error", .is_permanent = false, .retry_after = error.delay(), .details = {}
                }
            );
        } catch (const std::exception& error) {
            return HandlerFailure(error.what(), {});
        } catch (...) {
            return HandlerFailure(
                "The handler threw an exception that is not a std::exception.", {}
            );
        }
    }

    /// What the handler gets.
    Payload prepared(
        const Type& type,
        const Payload& input,
        const StepContext& context,
        const CallValues& values,
        const Contract* entry
    ) const {
        if (context.compensates) return input;
        Payload data = input;
        try {
            data = late.fill(input, context, values);
        } catch (const ExpressionError& error) {
            fail_for_good("expression_error", error.what());
        }
        for (const auto& transformer : options.transformers) {
            data = transformer->transform(data, context, values);
        }
        if (entry != nullptr) data = entry->accept(std::move(data), context);
        return type.contract.accept(std::move(data), context);
    }

    /// The outcome of the handler's output: checked, and without secrets.
    static Payload finished(
        const Type& type,
        const Payload& output,
        const Redactor& redactor,
        const StepContext& context,
        const Contract* entry
    ) {
        Payload text = type.contract.fulfil(output, context);
        if (entry != nullptr) text = entry->fulfil(std::move(text), context);
        if (context.choice != nullptr) {
            context.choice->handle = redactor.text(context.choice->handle);
        }
        return redactor.payload(text);
    }

    [[noreturn]] static void rethrow_redacted(const Redactor& redactor) {
        if (redactor.is_empty()) throw;
        // A handler may have cut what it quotes from an answer.
        const auto cleaned = [&redactor](std::string_view text) {
            return redactor.text(text, Redactor::Cut::Both);
        };
        try {
            throw;
        } catch (const HandlerFailure& error) {
            HandlerFailure::Options options = error.options();
            options.code = redactor.text(options.code);
            options.details = redactor.payload(options.details, Redactor::Cut::Both);
            throw HandlerFailure(cleaned(error.what()), std::move(options));
        } catch (const PermanentError& error) {
            throw PermanentError(cleaned(error.what()), redactor.text(error.code()));
        } catch (const RetryAfter& error) {
            throw RetryAfter(cleaned(error.what()), error.delay());
        } catch (const std::exception& error) {
            throw std::runtime_error(cleaned(error.what()));
        }
    }
};

namespace {

/// The calls of one type. Asynchronous handlers, too, may throw before they return: then `outer`
/// has been completed.
template <typename State>
class CallsOfType final : public TypedCalls,
                          public std::enable_shared_from_this<CallsOfType<State>> {
 public:
    CallsOfType(std::shared_ptr<const State> state, const Type& type)
        : state_(std::move(state)), type_(type) {}

    Payload call(const Payload& input, const StepContext& context, const Contract* entry)
        const override {
        return state_->call(type_, input, context, entry);
    }

    void begin(
        const Payload& input,
        const detail::CompletionPtr& outer,
        const std::shared_ptr<const Contract>& entry
    ) const override {
        const StepContext& context = outer->context();
        const CallValues values = state_->values_of(context);
        const Redactor redactor = State::redactor_of(values);
        const Payload data = state_->judged(redactor, context, [&] {
            return state_->prepared(type_, input, context, values, entry.get());
        });
        begin_inner_async(
            type_.async,
            data,
            outer,
            [self = this->shared_from_this(), redactor, entry](const auto& end, const auto& ended) {
                return self->state_->judged(redactor, ended, [&] {
                    if (end.error) std::rethrow_exception(end.error);
                    return State::finished(self->type_, end.output, redactor, ended, entry.get());
                });
            }
        );
    }

    bool is_bound(const StepContext& context) const override {
        return state_->late.knows({context.workflow, context.workflow_version, context.step});
    }

 private:
    const std::shared_ptr<const State> state_;
    const Type& type_;  // in the state
};

}  // namespace

NodeTypes::NodeTypes(NodeTypesOptions options) : state_(std::make_shared<State>()) {
    if (!options.validators) options.validators = json_schema_validator;
    state_->options = std::move(options);
}

NodeTypes& NodeTypes::add_async_raw(
    const std::string& type, const NodeType& contract, AsyncHandler handler
) {
    add_raw(type, contract, {});
    state_->types.at(type).async = std::move(handler);
    return *this;
}

NodeTypes& NodeTypes::add_raw(const std::string& type, const NodeType& contract, Handler handler) {
    Type made{
        .handler = std::move(handler),
        .async = {},
        .retry = contract.retry,
        .contract = Contract(type, {.type = contract}, state_->options.validators),
    };
    if (!state_->types.emplace(type, std::move(made)).second) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("The node type \"{}\" is already known.", type)
        );
    }
    return *this;
}

Definition NodeTypes::with_retries(Definition definition) const {
    const auto give = [this](const std::string& type, AttemptPolicy& attempts) {
        const auto found = state_->types.find(type);
        const bool is_known = found != state_->types.end() && found->second.retry.has_value();
        if (is_known && attempts == AttemptPolicy{}) attempts = *found->second.retry;
    };
    each_step(definition.steps, [&](const Node& node, Step& step) {
        if (!step.non_idempotent)
            give(step.handler.empty() ? node.name : step.handler, step.attempts);
        if (step.compensate) give(step.compensate->handler, step.compensate->attempts);
    });
    return definition;
}

std::vector<Diagnostic> NodeTypes::bind(const Definition& definition) {
    std::vector<Diagnostic> problems;
    std::vector<std::string_view> known;
    for (const auto& [type, contract] : state_->types) known.push_back(type);
    const model::Walk walk(definition);
    for (const model::Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr) continue;
        const std::string& type = step->handler.empty() ? placed.node->name : step->handler;
        if (!state_->types.contains(type)) {
            problems.push_back(
                {.code = "unknown_node_type",
                 .path = placed.path + (step->handler.empty() ? "/step" : "/handler"),
                 .message = fmt::format(
                     "There is no node type {}.{}", model::in_quotes(type), model::hint(type, known)
                 )}
            );
        }
        const LateInputs::Place place{definition.name, definition.version, placed.node->name};
        state_->late.learn(place, step->input, placed.path + "/input", problems);
    }
    return problems;
}

void NodeTypes::add_to(HandlerRegistry& registry) const {
    for (const auto& [name, type] : state_->types) {
        const auto calls = std::make_shared<const CallsOfType<State>>(state_, type);
        if (type.async) {
            registry.add_async_raw(name, TypedAsyncHandler{calls});
        } else {
            registry.add_raw(name, TypedHandler{calls});
        }
    }
}

}  // namespace ebb
