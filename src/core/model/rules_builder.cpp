#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/error.h>
#include <ebb/rules_builder.h>

#include "core/model/workflow_draft.h"
#include "support/json.h"

namespace ebb {

namespace model {

Payload canonical(Payload text) {
    if (text.empty()) return text;
    if (json_depth(text) > DefinitionLimits::kPayloadDepthMax) return text;
    const Json value = Json::parse(text, nullptr, false);
    return value.is_discarded() ? text : to_text(value);
}

}  // namespace model

using model::canonical;

RulesBuilder::RulesBuilder(const std::shared_ptr<detail::WorkflowDraft>& draft)
    : BlockBuilder(draft, draft->steps) {}

RulesBuilder::RulesBuilder(std::string name, int version)
    : RulesBuilder(std::make_shared<detail::WorkflowDraft>()) {
    definition().name = std::move(name);
    definition().version = version;
    definition().rules.emplace();
}

Definition& RulesBuilder::definition() {
    return draft()->definition;
}

Rules& RulesBuilder::rules() {
    return *definition().rules;
}

RulesBuilder& RulesBuilder::description(std::string text) {
    definition().description = std::move(text);
    return *this;
}

RulesBuilder& RulesBuilder::on_error(Definition::OnError reaction) {
    definition().on_error = reaction;
    return *this;
}

RulesBuilder& RulesBuilder::deadline(Duration duration) {
    definition().deadline = duration;
    return *this;
}

RulesBuilder& RulesBuilder::step_budget(std::int64_t visits) {
    definition().step_budget = visits;
    return *this;
}

RulesBuilder& RulesBuilder::sensitive(std::vector<std::string> pointers) {
    definition().sensitive = std::move(pointers);
    return *this;
}

RulesBuilder& RulesBuilder::defaults(StepDefaults defaults) {
    draft()->defaults = std::move(defaults);
    return *this;
}

RulesBuilder& RulesBuilder::output(Payload text) {
    definition().output = canonical(std::move(text));
    return *this;
}

RulesBuilder& RulesBuilder::attribute(
    std::string name, AttributeType type, AttributeOptions options
) {
    rules().attributes.push_back({
        .name = std::move(name),
        .type = type,
        .initial = canonical(std::move(options.initial)),
        .is_external = options.is_external,
        .is_enabled = options.is_enabled,
        .renamed_from = std::move(options.renamed_from),
    });
    return *this;
}

namespace {

void check_no_call(const std::string& name, const StepOptions& step) {
    if (step.handler.empty() && step.compensate.empty() && step.input.empty()) return;
    throw Error(
        ErrorCode::InvalidArgument,
        "The trigger \"" + name +
            "\" has both \"steps\" and a handler; its steps have handlers of their own."
    );
}

}  // namespace

RulesBuilder& RulesBuilder::trigger(std::string name, std::string when, TriggerOptions options) {
    if (options.steps) {
        check_no_call(name, options.step);
        add(
            {.name = std::move(name),
             .description = std::move(options.step.description),
             .kind = Sequence{.steps = make_block(options.steps)},
             .metadata = canonical(std::move(options.step.metadata))}
        );
    } else {
        step(std::move(name), std::move(options.step));
    }
    Trigger trigger{
        .when = std::move(when),
        .set = canonical(std::move(options.set)),
        .writes = std::move(options.writes),
        .mode = options.mode,
        .after = options.after,
        .max_fires = options.max_fires,
        .is_enabled = options.is_enabled,
    };
    if (trigger.writes) {
        for (DeclaredWrite& write : *trigger.writes) {
            for (Payload& value : write.values) value = canonical(std::move(value));
        }
    }
    rules().triggers.push_back(std::move(trigger));
    // The handler of exceptions stays the last step.
    Block& steps = *draft()->steps;
    if (rules().on_exception == Rules::OnException::Handle) {
        std::swap(steps[steps.size() - 2], steps.back());
    }
    return *this;
}

RulesBuilder& RulesBuilder::final_condition(std::string name, std::string when) {
    rules().finals.push_back({.name = std::move(name), .when = std::move(when)});
    return *this;
}

RulesBuilder& RulesBuilder::exception(std::string name, std::string when) {
    rules().exceptions.push_back({.name = std::move(name), .when = std::move(when)});
    return *this;
}

RulesBuilder& RulesBuilder::savepoint(std::string name, std::string when, int resumes) {
    SavepointCondition savepoint{.name = std::move(name), .when = std::move(when)};
    savepoint.resumes = resumes > 0;
    if (savepoint.resumes) savepoint.max_resumes = resumes;
    rules().savepoints.push_back(std::move(savepoint));
    return *this;
}

RulesBuilder& RulesBuilder::invariant(std::string name, std::string when) {
    rules().invariants.push_back({.name = std::move(name), .when = std::move(when)});
    return *this;
}

RulesBuilder& RulesBuilder::on_exception(Rules::OnException reaction) {
    if (reaction == Rules::OnException::Handle) {
        throw Error(
            ErrorCode::InvalidArgument,
            "Give on_exception the handler: on_exception({.handler = ...})."
        );
    }
    if (rules().on_exception == Rules::OnException::Handle) draft()->steps->pop_back();
    rules().on_exception = reaction;
    return *this;
}

RulesBuilder& RulesBuilder::on_exception(StepOptions handler) {
    if (rules().on_exception == Rules::OnException::Handle) draft()->steps->pop_back();
    step(std::string(kExceptionStep), std::move(handler));
    rules().on_exception = Rules::OnException::Handle;
    return *this;
}

RulesBuilder& RulesBuilder::on_idle(Rules::OnIdle reaction) {
    rules().on_idle = reaction;
    return *this;
}

RulesBuilder& RulesBuilder::final_while_pending(Rules::FinalWhilePending reaction) {
    rules().final_while_pending = reaction;
    return *this;
}

RulesBuilder& RulesBuilder::external_writes(Rules::ExternalWrites allowed) {
    rules().external_writes = allowed;
    return *this;
}

RulesBuilder& RulesBuilder::evolution(Rules::Evolution evolution) {
    rules().evolution = evolution;
    return *this;
}

}  // namespace ebb
