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
        if (value.is_discarded()) return {};
        return value;
    }

    Json globals_;
    Json secrets_;
    Json payload_;
};

class NoVariables : public Variables {
 public:
    const Json* find(std::string_view) const override { return nullptr; }

    const Json* find_step(std::string_view) const override { return nullptr; }
};

}  // namespace

std::optional<std::string> text_at_call(const std::string& text) {
    const Template compiled = Template::compile_text(text);
    if (!compiled.is_constant()) return std::nullopt;
    return compiled.render(NoVariables()).get<std::string>();
}

void LateInputs::learn(
    const Place& place,
    const Payload& input,
    const std::string& path,
    std::vector<Diagnostic>& problems
) {
    std::vector<Leaf> leaves;
    for (model::LateText& late : model::late_texts(input)) {
        std::optional<std::string> text = text_at_call(late.text);
        if (!text) {
            problems.push_back(
                {.code = "late_expression",
                 .path = path + late.at.to_string(),
                 .message = "This text mixes globals, secrets or payload with other variables. Use "
                            "separate texts, because Ebb evaluates them at different times."}
            );
            continue;
        }
        Template compiled = Template::compile_text(model::expose_late(late.text));
        leaves.push_back(
            {.at = std::move(late.at), .text = std::move(*text), .compiled = std::move(compiled)}
        );
    }
    if (!leaves.empty()) leaves_[place] = std::move(leaves);
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
