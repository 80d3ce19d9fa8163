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
    : place_(
          document.checked(settings).definition,
          has_input_of_node(document.tree(), scalar) ? node_around(document.tree(), scalar) : ""
      ) {}

std::string Evaluation::type(const std::string& source) const {
    DefinitionTypes types(place_.walk(), place_.definition());
    if (place_.reads_instance_input()) types.set_instance_input();
    if (!place_.before().empty()) types.set_input_of(place_.before());
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
