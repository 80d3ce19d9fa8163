#include "core/model/trial.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/expression/expression.h"
#include "core/expression/spans.h"
#include "core/model/words.h"

namespace ebb::model {

namespace {

class TrialVariables : public Variables {
 public:
    TrialVariables(const Definition& definition, const TrialData& data, const Json* input)
        : workflow_(
              {{"input", data.input}, {"name", definition.name}, {"version", definition.version}}
          ),
          input_(input) {
        for (const auto& [name, output] : data.outputs) outputs_[name] = {{"output", output}};
    }

    const Json* find(std::string_view name) const override {
        if (name == "workflow") return &workflow_;
        return name == "input" ? input_ : nullptr;
    }

    const Json* find_step(std::string_view name) const override {
        const auto found = outputs_.find(name);
        return found == outputs_.end() ? nullptr : &found->second;
    }

 private:
    Json workflow_;
    std::map<std::string, Json, std::less<>> outputs_;
    const Json* input_;
};

/// What the expression reads and the data does not have, in words; empty if it has all.
std::string unknown_in(const Expression& expression, const TrialData& data, bool has_input) {
    for (const std::string& step : expression.steps_read()) {
        if (!data.outputs.contains(step)) {
            return fmt::format("the output of the step {}", in_quotes(step));
        }
    }
    if (!expression.attempts_read().empty()) return "attempts";
    for (const std::string& variable : expression.variables_read()) {
        const bool is_known =
            variable == "workflow" || variable == "steps" || (variable == "input" && has_input);
        if (!is_known) return fmt::format("\"{}\" at this place", variable);
    }
    return {};
}

}  // namespace

TrialPlace::TrialPlace(const Definition& definition, std::string_view node)
    : definition_(definition), walk_(definition_) {
    if (!node.empty()) find_input(walk_.find(node));
}

/// `input` is what arrives at the node: the output of the node before it. A first node has the
/// input of what it is in.
void TrialPlace::find_input(int number) {
    // The turns of a loop have different ones.
    if (number >= 0 && walk_.is_a<Loop>(number)) return;
    while (number >= 0) {
        const Placed& here = walk_.at(number);
        if (here.index > 0) {
            const auto is_before = [&here](const Placed& other) {
                return other.parent == here.parent && other.block == here.block &&
                       other.index == here.index - 1;
            };
            const auto& nodes = walk_.nodes();
            const auto before = std::find_if(nodes.begin(), nodes.end(), is_before);
            if (before == nodes.end()) return;
            number = static_cast<int>(before - nodes.begin());
            const bool passes_on = walk_.is_a<Delay>(number) || walk_.is_a<Savepoint>(number);
            if (passes_on) continue;
            before_ = before->node->name;
            return;
        }
        if (here.parent < 0) {
            is_instance_input_ = true;
            return;
        }
        number = here.parent;
        const bool passes_on = walk_.is_a<Condition>(number) || walk_.is_a<Switch>(number) ||
                               walk_.is_a<Parallel>(number);
        if (!passes_on) return;
    }
}

Trial TrialPlace::run(const std::string& source, const TrialData& data) const {
    Trial trial{.name = data.name};
    const auto output = data.outputs.find(before_);
    const Json* input = is_instance_input_ ? &data.input : nullptr;
    if (!before_.empty() && output != data.outputs.end()) input = &output->second;
    try {
        const Expression expression = Expression::compile(source);
        const std::string unknown = unknown_in(expression, data, input != nullptr);
        if (!unknown.empty()) {
            trial.is_unknown = true;
            trial.error = fmt::format("The sample does not say {}.", unknown);
            return trial;
        }
        trial.value = expression.evaluate(TrialVariables(definition_, data, input));
    } catch (const ExpressionError& error) {
        trial.error = error.message();
    }
    return trial;
}

std::vector<std::string> expressions_of(const std::string& text) {
    if (text.find("${") == std::string::npos) return {text};
    std::vector<std::string> sources;
    for (const expression::Span& span : expression::expressions_in(text)) {
        sources.push_back(text.substr(span.begin, span.end - span.begin));
    }
    return sources;
}

}  // namespace ebb::model
