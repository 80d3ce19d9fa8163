#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/node_types.h>

#include "call/completion.h"
#include "call/late_input.h"
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

 private:
    JsonSchema schema_;
};

[[noreturn]] void fail_for_good(const char* code, const std::string& message) {
    throw HandlerFailure(
        message, {.code = code, .is_permanent = true, .retry_after = {}, .details = {}}
    );
}

std::shared_ptr<const Validator> make_validator(
    const ValidatorFactory& factory, const Payload& schema
) {
    return schema.empty() ? nullptr : factory(schema);
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

struct Contract {
    Handler handler;
    AsyncHandler async;  ///< empty: `handler` is called
    std::optional<AttemptPolicy> retry;
    NodeType::Result result = NodeType::Result::Output;
    std::shared_ptr<const Validator> input;
    std::shared_ptr<const Validator> output;
};

void require(
    const Validator* validator, const Payload& value, const char* code, const std::string& what
) {
    if (validator == nullptr) return;
    const std::vector<std::string> violations = validator->violations(value);
    if (violations.empty()) return;
    fail_for_good(code, fmt::format("{}: {}", what, fmt::join(violations, "; ")));
}

/// {"data", "nextHandle", "__pause"}; a null handle is none.
Payload open_envelope(const Payload& text, const StepContext& context) {
    const Json result = Json::parse(text, nullptr, false);
    if (!result.is_object()) {
        fail_for_good("invalid_output", "The handler must give {data, nextHandle, __pause}.");
    }
    if (const auto pause = result.find("__pause"); pause != result.end() && !pause->is_null()) {
        if (!pause->is_boolean()) {
            fail_for_good(
                "invalid_output",
                fmt::format("\"__pause\" must be true or false, but is {}.", to_text(*pause))
            );
        }
        if (pause->get<bool>()) context.pause();
    }
    const auto handle = result.find("nextHandle");
    if (handle != result.end() && !handle->is_null()) {
        if (!handle->is_string())
            fail_for_good("invalid_output", "\"nextHandle\" must be a string.");
        context.leave_by(handle->get<std::string>());
    }
    return to_text(result.value("data", Json()));
}

}  // namespace

std::shared_ptr<const Validator> json_schema_validator(const Payload& schema) {
    const PayloadLimits limits{
        .payload_bytes_max = DefinitionLimits::kDefinitionBytesMax,
        .json_depth_max = DefinitionLimits::kPayloadDepthMax
    };
    return std::make_shared<SchemaValidator>(parse_json(schema, "The schema", limits));
}

struct NodeTypes::State {
    NodeTypesOptions options;
    std::map<std::string, Contract, std::less<>> types;
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

    Payload call(const Contract& type, const Payload& input, const StepContext& context) const {
        const CallValues values = values_of(context);
        const Redactor redactor = redactor_of(values);
        return judged(redactor, context, [&] {
            const Payload data = prepared(type, input, context, values);
            return finished(type, type.handler(data, context), redactor, context);
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
        const Contract& type,
        const Payload& input,
        const StepContext& context,
        const CallValues& values
    ) const {
        Payload data = input;
        if (!context.compensates) {
            try {
                data = late.fill(input, context, values);
            } catch (const ExpressionError& error) {
                fail_for_good("expression_error", error.what());
            }
            for (const auto& transformer : options.transformers) {
                data = transformer->transform(data, context, values);
            }
            require(
                type.input.get(),
                data,
                "invalid_input",
                fmt::format("The input of \"{}\" does not fit its type", context.step)
            );
        }
        return data;
    }

    /// The outcome of the handler's output: checked, and without secrets.
    static Payload finished(
        const Contract& type,
        const Payload& output,
        const Redactor& redactor,
        const StepContext& context
    ) {
        const Payload text = checked(type, output, context);
        if (context.choice != nullptr) {
            context.choice->handle = redactor.text(context.choice->handle);
        }
        return redactor.payload(text);
    }

    static Payload checked(const Contract& type, Payload output, const StepContext& context) {
        if (context.compensates) return output;
        if (type.result == NodeType::Result::Envelope) output = open_envelope(output, context);
        if (context.choice != nullptr && context.choice->is_paused) return output;
        if (type.output != nullptr) {
            require(
                type.output.get(),
                output,
                "invalid_output",
                fmt::format("The output of \"{}\" does not fit its type", context.step)
            );
        }
        return output;
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

/// An asynchronous call of a type's handler: its end is checked, and then completes the call of the
/// engine.
class TypedCall final : public AsyncCall {
 public:
    using Finish = std::function<Payload(const End& end, const StepContext& context)>;

    TypedCall(detail::CompletionPtr outer, Finish finish)
        : outer_(std::move(outer)), finish_(std::move(finish)) {}

    bool end(End end, const StepContext& context) noexcept override {
        try {
            Payload output = finish_(end, context);
            return outer_->settle(StepResult{std::move(output), *context.choice});
        } catch (...) {
            return outer_->settle(std::current_exception());
        }
    }

    void log(LogLevel level, std::string_view message, std::span<const LogField> fields)
        const noexcept override {
        const detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->log(level, message, fields);
    }

    void progress(Payload value) const override {
        const detail::CallPort* port = outer_->context().port;
        if (port != nullptr) port->progress(std::move(value));
    }

 private:
    const detail::CompletionPtr outer_;
    const Finish finish_;
};

/// Asynchronous handlers, too, may throw before they return: then `outer` has been completed.
template <typename State>
void begin_typed(
    const std::shared_ptr<State>& state,
    const Contract& type,
    const Payload& input,
    const detail::CompletionPtr& outer
) {
    const StepContext& context = outer->context();
    const CallValues values = state->values_of(context);
    const Redactor redactor = State::redactor_of(values);
    const Payload data = state->judged(redactor, context, [&] {
        return state->prepared(type, input, context, values);
    });
    const auto finish = [state, &type, redactor](const AsyncCall::End& end, const auto& ended) {
        return state->judged(redactor, ended, [&] {
            if (end.error) std::rethrow_exception(end.error);
            return State::finished(type, end.output, redactor, ended);
        });
    };
    begin_async(type.async, data, context, std::make_shared<TypedCall>(outer, finish));
}

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
    const ValidatorFactory& validators = state_->options.validators;
    Contract made{
        .handler = std::move(handler),
        .retry = contract.retry,
        .result = contract.result,
        .input = make_validator(validators, contract.input_schema),
        .output = make_validator(validators, contract.output_schema),
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
    for (const auto& [type, contract] : state_->types) {
        if (contract.async) {
            registry.add_async_raw(
                type,
                [state = state_, &called = contract](const Payload& input, const auto& completion) {
                    begin_typed(state, called, input, completion);
                }
            );
            continue;
        }
        registry.add_raw(
            type,
            [state = state_, &called = contract](const Payload& input, const StepContext& context) {
                return state->call(called, input, context);
            }
        );
    }
}

}  // namespace ebb
