#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/validator.h>

#include "support/json_schema.h"

namespace ebb {

namespace {

using Place = ValidationRule::Place;

struct CompiledRule {
    Place place;
    std::string workflow;
    std::string step;
    JsonSchema schema;

    bool fits(Place where, std::string_view of_workflow, std::string_view of_step) const {
        return place == where && (workflow.empty() || workflow == of_workflow) &&
               (where == Place::Start || step.empty() || step == of_step);
    }
};

class Validator final : public Interceptor {
 public:
    explicit Validator(const std::vector<ValidationRule>& rules) {
        for (const ValidationRule& rule : rules) {
            const Json schema = Json::parse(rule.schema, nullptr, false);
            if (schema.is_discarded()) {
                throw Error(ErrorCode::InvalidPayload, "The schema of a rule is not JSON.");
            }
            rules_.push_back({rule.place, rule.workflow, rule.step, JsonSchema(schema)});
        }
    }

    void before_start(const StartRequest& start) override {
        const std::string what = violations(Place::Start, start.workflow, {}, start.input);
        if (what.empty()) return;
        throw Error(
            ErrorCode::InvalidPayload,
            fmt::format("The input of workflow \"{}\" is not valid:{}", start.workflow, what)
        );
    }

    void before_call(const StepContext& step, const Payload& input) override {
        check(Place::Input, step, input, "input");
    }

    void after_call(const StepContext& step, const Payload& output) override {
        check(Place::Output, step, output, "output");
    }

 private:
    void check(Place place, const StepContext& step, const Payload& payload, std::string_view name)
        const {
        if (step.compensates) return;
        const std::string what = violations(place, step.workflow, step.step, payload);
        if (what.empty()) return;
        throw PermanentError(
            fmt::format("The {} of step \"{}\" is not valid:{}", name, step.step, what),
            fmt::format("invalid_{}", name)
        );
    }

    /// Each on a line of its own; empty if there are none.
    std::string violations(
        Place place, std::string_view workflow, std::string_view step, const Payload& payload
    ) const {
        std::string found;
        Json json;
        bool is_parsed = false;
        for (const CompiledRule& rule : rules_) {
            if (!rule.fits(place, workflow, step)) continue;
            if (!is_parsed) json = payload.empty() ? Json() : Json::parse(payload, nullptr, false);
            is_parsed = true;
            for (const std::string& violation : rule.schema.violations(json)) {
                found += "\n  " + violation;
            }
        }
        return found;
    }

    std::vector<CompiledRule> rules_;
};

}  // namespace

std::shared_ptr<Interceptor> make_validator(const std::vector<ValidationRule>& rules) {
    return std::make_shared<Validator>(rules);
}

}  // namespace ebb
