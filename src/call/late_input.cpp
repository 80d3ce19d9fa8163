#include "call/late_input.h"

#include <utility>

#include "core/model/late_text.h"
#include "support/json.h"

namespace ebb {

namespace {

/// What a late expression sees.
class LateVariables : public Variables {
 public:
    explicit LateVariables(const CallValues& values)
        : globals_(parse(values.globals)),
          secrets_(parse(values.secrets)),
          payload_(parse(values.payload)) {}

    const Json* find(std::string_view name) const override {
        if (name == "globals") return &globals_;
        if (name == "secrets") return &secrets_;
        if (name == "payload") return &payload_;
        return nullptr;
    }

    const Json* find_step(std::string_view) const override { return nullptr; }

 private:
    /// Without saying what is wrong with it, which could be a secret.
    static Json parse(const Payload& text) {
        Json value = Json::parse(text, nullptr, false);
        return value.is_discarded() ? Json() : value;
    }

    Json globals_;
    Json secrets_;
    Json payload_;
};

}  // namespace

void LateInputs::learn(
    const Place& place,
    const Payload& input,
    const std::string& path,
    std::vector<Diagnostic>& problems
) {
    if (input.empty()) return;
    std::vector<Leaf> leaves;
    Learning learning{path, leaves, problems};
    learn_value(Json::parse(input), Json::json_pointer(), learning);
    if (!leaves.empty()) leaves_[place] = std::move(leaves);
}

void LateInputs::learn_value(const Json& value, const Json::json_pointer& at, Learning& learning) {
    if (value.is_string()) return learn_text(value.get_ref<const std::string&>(), at, learning);
    if (value.is_array()) {
        for (std::size_t i = 0; i < value.size(); ++i) learn_value(value[i], at / i, learning);
    } else if (value.is_object()) {
        for (const auto& [key, part] : value.items()) learn_value(part, at / key, learning);
    }
}

void LateInputs::learn_text(
    const std::string& text, const Json::json_pointer& at, Learning& learning
) {
    const std::string exposed = model::expose_late(text);
    if (exposed == text) return;
    if (!Template::compile_text(text).is_constant()) {
        learning.problems.push_back(
            {.code = "late_expression",
             .path = learning.path + at.to_string(),
             .message = "This text mixes globals, secrets or payload with other variables. Use "
                        "separate texts, because Ebb evaluates them at different times."}
        );
        return;
    }

    class Nothing : public Variables {
     public:
        const Json* find(std::string_view) const override { return nullptr; }

        const Json* find_step(std::string_view) const override { return nullptr; }
    };

    learning.leaves.push_back(
        {.at = at,
         .text = Template::compile_text(text).render(Nothing()).get<std::string>(),
         .compiled = Template::compile_text(exposed)}
    );
}

Payload LateInputs::fill(const Payload& input, const StepContext& step, const CallValues& values)
    const {
    const auto found = leaves_.find(Place{step.workflow, step.workflow_version, step.step});
    if (found == leaves_.end()) return input;
    const LateVariables variables(values);
    Json data = Json::parse(input);
    for (const Leaf& leaf : found->second) {
        // An operator may have given another input.
        if (!data.contains(leaf.at) || data[leaf.at] != leaf.text) continue;
        data[leaf.at] = leaf.compiled.render(variables);
    }
    return to_text(data);
}

}  // namespace ebb
