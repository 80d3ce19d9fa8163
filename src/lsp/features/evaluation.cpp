#include "lsp/features/evaluation.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/expression.h"
#include "core/expression/types.h"
#include "core/model/samples.h"
#include "core/model/words.h"
#include "lsp/features/request.h"
#include "lsp/lsp.h"
#include "yaml/yaml_document.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

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

/// What the schemas of a definition say of variables and of the outputs of nodes.
class DefinitionTypes : public expression::TypeSource {
    using StaticType = expression::StaticType;

 public:
    /// `input` is the instance's, or the output of the node `before`, or unknown.
    DefinitionTypes(const model::Walk& walk, const Definition& definition)
        : walk_(walk), input_(of_schema(definition.input_schema)) {}

    void set_instance_input() { here_ = input_; }

    void set_input_of(const std::string& before) { here_ = output_of(before); }

    StaticType variable(std::string_view name) const override {
        const StaticType text{.set = StaticType::kString};
        const StaticType number{.set = StaticType::kInt};
        if (name == "input") return here_;
        if (name == "workflow") {
            return expression::map_with({{"input", input_}, {"name", text}, {"version", number}});
        }
        if (name == "instance") return expression::map_with({{"id", text}, {"key", text}});
        if (name == "attempt") return number;
        if (name == "now") return text;
        if (name == "metadata") return {.set = StaticType::kMap};
        return {};
    }

    StaticType step(std::string_view name) const override {
        return expression::map_with({{"output", output_of(name)}});
    }

 private:
    const model::Walk& walk_;
    mutable std::deque<Json> schemas_{};  ///< that types refer to
    StaticType input_{};
    StaticType here_{};

    StaticType of_schema(const Payload& schema) const {
        if (schema.empty()) return {};
        const Json& kept = schemas_.emplace_back(Json::parse(schema, nullptr, false));
        return expression::type_of_schema(kept, kept);
    }

    /// What a signal carries; a handler may return anything.
    StaticType output_of(std::string_view name) const {
        const int number = walk_.find(name);
        const Signal* signal =
            number < 0 ? nullptr : std::get_if<Signal>(&walk_.at(number).node->kind);
        return signal == nullptr ? StaticType{} : of_schema(signal->schema);
    }
};

/// The text of `samples` alone: the rest of a text is not parsed for them, and may be broken.
std::string samples_text(const Document& document) {
    const LineTree& tree = document.tree();
    const int samples = tree.find(0, "samples");
    if (samples < 0) return {};
    const std::string text(tree.slice(tree.at(samples).whole));
    return tree.root().is_flow ? "{" + text + "}" : text;
}

/// What the expression reads and the data does not have, in words; empty if it has all.
std::string unknown_in(const Expression& expression, const TrialData& data, bool has_input) {
    for (const std::string& step : expression.steps_read()) {
        if (!data.outputs.contains(step)) {
            return fmt::format("the output of the step {}", model::in_quotes(step));
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

/// Is it evaluated with the input of the node around it?
bool has_input_of_node(const LineTree& tree, int scalar) {
    for (int at = scalar; at > 0; at = tree.at(at).parent) {
        const std::string key = tree.key(at);
        if (key == "compensate" || key == "handlers") return false;
    }
    return true;
}

}  // namespace

std::vector<TrialData> samples_of(const Document& document) {
    std::vector<TrialData> list;
    const std::string text = samples_text(document);
    if (text.empty()) return list;
    const auto read = [&](const std::string& source) {
        const model::Document root = yaml::parse_yaml_document(source, document.uri());
        for (const model::Sample& sample : model::samples_of(root)) {
            list.push_back({.name = sample.name, .input = Json::parse(sample.input)});
        }
    };
    try {
        read(text);
    } catch (const DefinitionError&) {
        try {
            // An alias of a part above them.
            read(document.text());
        } catch (const DefinitionError&) {
            // A text that cannot be parsed has none.
        }
    }
    return list;
}

std::optional<ExpressionPlace> expression_at(const LineTree& tree, std::size_t offset) {
    const int node = tree.innermost(offset);
    if (tree.at(node).kind != TreeNode::Kind::Scalar) return std::nullopt;
    for (ExpressionPlace& place : expressions_of(tree, node)) {
        if (place.begin <= offset && offset <= place.end) return std::move(place);
    }
    return std::nullopt;
}

Evaluation::Evaluation(const Document& document, const CheckSettings& settings, int scalar)
    : definition_(document.checked(settings).definition), walk_(definition_) {
    if (has_input_of_node(document.tree(), scalar)) {
        find_input(walk_.find(node_around(document.tree(), scalar)));
    }
}

/// `input` is what arrives at the node: the output of the node before it. A first node has the
/// input of what it is in.
void Evaluation::find_input(int number) {
    // The turns of a loop have different ones.
    if (number >= 0 && walk_.is_a<Loop>(number)) return;
    while (number >= 0) {
        const model::Placed& here = walk_.at(number);
        if (here.index > 0) {
            const auto is_before = [&here](const model::Placed& other) {
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

Trial Evaluation::run(const std::string& source, const TrialData& data) const {
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

std::string Evaluation::type(const std::string& source) const {
    DefinitionTypes types(walk_, definition_);
    if (is_instance_input_) types.set_instance_input();
    if (!before_.empty()) types.set_input_of(before_);
    try {
        return expression::to_text(expression::type_of(Expression::compile(source), types));
    } catch (const ExpressionError&) {
        return {};
    }
}

namespace {

/// The samples that a request names; without a name all of the text.
std::vector<TrialData> wanted_samples(const Document& document, const Json& params) {
    const auto wanted = params.find("sample");
    if (wanted == params.end() || wanted->is_null()) return samples_of(document);
    if (wanted->is_object()) {
        TrialData data{.name = wanted->value("name", ""), .input = wanted->value("input", Json())};
        if (wanted->contains("steps")) {
            data.outputs = wanted->at("steps").get<std::map<std::string, Json, std::less<>>>();
        }
        return {std::move(data)};
    }
    const std::string name = wanted->get<std::string>();
    std::vector<TrialData> all = samples_of(document);
    std::erase_if(all, [&name](const TrialData& data) { return data.name != name; });
    if (!all.empty()) return all;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("The workflow's file has no sample {}.", model::in_quotes(name))
    );
}

}  // namespace

/// `ebb/evaluate`: what the expression at a position yields for each sample.
Json Server::evaluate(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return nullptr;
    const std::size_t offset = offset_in(*document, params);
    const auto place = expression_at(document->tree(), offset);
    if (!place) return nullptr;
    const Evaluation evaluation(*document, settings(), document->tree().innermost(offset));
    Json values = Json::array();
    for (const TrialData& data : wanted_samples(*document, params)) {
        Trial trial = evaluation.run(place->source, data);
        Json value = {{"sample", trial.name}};
        if (trial.error.empty()) {
            value["value"] = std::move(trial.value);
        } else {
            value["error"] = trial.error;
        }
        values.push_back(std::move(value));
    }
    return {
        {"expression", place->source},
        {"range", range_json(document->lines(), place->begin, place->end)},
        {"values", std::move(values)}
    };
}

/// `ebb/samples`: the inputs that the text names.
Json Server::list_samples(const Json& params) {
    Json list = Json::array();
    const Document* document = document_of(params);
    if (document == nullptr) return list;
    for (TrialData& sample : samples_of(*document)) {
        list.push_back({{"name", sample.name}, {"input", std::move(sample.input)}});
    }
    return list;
}

}  // namespace ebb::lsp
