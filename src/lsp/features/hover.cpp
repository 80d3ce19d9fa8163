#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/spans.h"
#include "core/model/walk.h"
#include "lsp/features/conditions.h"
#include "lsp/features/cpp.h"
#include "lsp/features/evaluation.h"
#include "lsp/features/functions.h"
#include "lsp/features/node_text.h"
#include "lsp/features/request.h"
#include "lsp/features/schema.h"
#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "source/problem_page.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

constexpr std::size_t kValueBytesMax = 200;
constexpr std::size_t kSamplesShownMax = 5;

/// A duration in seconds and in the units that people read.
std::string seconds_text(Duration duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    return fmt::format("{} = {} s", format_duration(duration), seconds);
}

/// The section of the documentation that explains a key.
std::string page_of_key(const LineTree& tree, int node) {
    for (int at = node; at > 0; at = tree.at(at).parent) {
        const std::string key = tree.key(at);
        if (key == "backoff" || key == "defaults") return "reference/definition.md#" + key;
        if (tree.at(at).parent == 0 && key == "rules") return "reference/rules.md";
        if (tree.at(at).parent == 0 && key == "handlers") return "reference/handlers.md";
        const std::string_view kind =
            is_node_item(tree, at) ? kind_of_node(tree, at) : std::string_view();
        if (!kind.empty()) return fmt::format("reference/definition.md#{}", kind);
    }
    return "reference/definition.md#the-workflow";
}

std::string_view type_of(const Json& value) {
    if (value.is_number_integer()) return "int";
    return value.is_number() ? "double" : value.type_name();
}

bool is_name_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '`';
}

class Hover {
 public:
    Hover(const Document& document, const CheckSettings& settings, std::size_t offset)
        : document_(document), settings_(settings), tree_(document.tree()), offset_(offset) {}

    Json run() {
        const auto place = expression_at(tree_, offset_);
        std::optional<expression::Span> token;
        if (place) token = token_in(*place);
        if (token) {
            if (Json found = of_word(*place, *token); !found.is_null()) return found;
        }
        if (Json found = of_name(); !found.is_null()) return found;
        if (token) return of_part(*place, *token);
        if (Json found = of_key(); !found.is_null()) return found;
        return of_duration();
    }

 private:
    const Document& document_;
    const CheckSettings& settings_;
    const LineTree& tree_;
    std::size_t offset_;

    Json hover(const std::string& markdown, std::size_t begin, std::size_t end) const {
        return {
            {"contents", {{"kind", "markdown"}, {"value", markdown}}},
            {"range", range_json(document_.lines(), begin, end)}
        };
    }

    Json of_key() const {
        const int node = tree_.innermost(offset_);
        const TreeNode& here = tree_.at(node);
        if (here.key.is_empty() || !here.key.contains(offset_) || is_in_payload_below(node)) {
            return nullptr;
        }
        const SchemaPlaces places = schema_of(tree_, node);
        if (places.empty()) return nullptr;
        const SchemaKey key = describe_key(tree_.key(node), places);
        std::string markdown = fmt::format("**{}**", key.name);
        if (!key.type.empty()) markdown += fmt::format(": {}", key.type);
        if (!key.otherwise.empty()) markdown += fmt::format(", default `{}`", key.otherwise);
        if (!key.description.empty()) markdown += "\n\n" + key.description;
        const std::string page = source::page_address(settings_.docs, page_of_key(tree_, node));
        if (!page.empty()) markdown += fmt::format("\n\n[Reference]({})", page);
        return hover(markdown, here.key.begin, here.key.end);
    }

    /// The key that holds a payload is ours, what is in it is not.
    bool is_in_payload_below(int node) const {
        const int parent = tree_.at(node).parent;
        return parent > 0 && is_free_form(tree_, parent);
    }

    /// The files that register a handler, by their names.
    std::string registered_text(const std::string& handler) const {
        std::string text;
        if (settings_.index == nullptr) return text;
        const auto places = settings_.index->registrations(handler, document_.uri());
        for (std::size_t i = 0; i < places.size() && i < 3; ++i) {
            const std::string path = path_of_uri(places[i].uri);
            text += fmt::format(
                "\nregistered in {}:{}", path.substr(path.rfind('/') + 1), places[i].begin.line + 1
            );
        }
        return text;
    }

    /// Where a value of the step comes from: its own line, or that of `defaults`.
    std::string origin(int step, const char* key) const {
        const int own = step < 0 ? -1 : tree_.find(step, key);
        const int shared = tree_.find(tree_.find(0, "defaults"), key);
        const int from = own >= 0 ? own : shared;
        if (from < 0) return {};
        const std::size_t line = document_.lines().position(tree_.at(from).whole.begin).line + 1;
        return fmt::format(" ({}line {})", own >= 0 ? "" : "defaults, ", line);
    }

    /// The tree's node of the name where it is declared.
    int step_of(const NamePlace& name) const {
        if (name.is_declaration) return name.node;
        for (const NamePlace& place : names_of(tree_)) {
            const bool is_it = place.kind == NameKind::Node && place.is_declaration;
            if (is_it && place.name == name.name) return place.node;
        }
        return name.node;
    }

    Json of_name() const {
        const std::vector<NamePlace> names = names_of(tree_);
        const auto place = std::find_if(names.begin(), names.end(), [this](const NamePlace& name) {
            return name.begin <= offset_ && offset_ <= name.end;
        });
        if (place == names.end()) return nullptr;
        if (place->kind == NameKind::Handler) {
            const std::string text = place->name + registered_text(place->name);
            return hover("handler\n" + fenced(text), place->begin, place->end);
        }
        if (place->kind == NameKind::Attribute) {
            for (const AttributePlace& attribute : attributes_of(tree_)) {
                if (attribute.name != place->name) continue;
                const std::string text = attribute.name + ": " + attribute_text(tree_, attribute);
                return hover("attribute\n" + fenced(text), place->begin, place->end);
            }
        }
        if (place->kind != NameKind::Node) return nullptr;
        const model::Walk walk(document_.checked(settings_).definition);
        const int number = walk.find(place->name);
        if (number < 0) return nullptr;
        const Node& node = *walk.at(number).node;
        const auto* step = std::get_if<Step>(&node.kind);
        std::string registered;
        if (step != nullptr) {
            registered = registered_text(step->handler.empty() ? node.name : step->handler);
        }
        const int parent = tree_.at(step_of(*place)).parent;
        const int map = tree_.at(parent).kind == TreeNode::Kind::Map ? parent : -1;
        const std::string text =
            node_text(node, [&](const char* key) { return origin(map, key); }, registered);
        return hover(fenced(text), place->begin, place->end);
    }

    /// The token of the expression that the cursor is at: of two that meet there, the second.
    std::optional<expression::Span> token_in(const ExpressionPlace& place) const {
        std::optional<expression::Span> found;
        for (std::size_t at = 0; at < place.source.size(); ++at) {
            const expression::Span token = expression::token_at(place.source, at);
            const bool is_here =
                place.places[token.begin] <= offset_ && offset_ <= place.places[token.end];
            if (is_here && place.source[token.begin] != ' ') found = token;
            at = std::max(at, token.end - 1);
        }
        return found;
    }

    /// The type of the part of the expression up to the cursor, and what it yields for the samples
    /// of the text: the names that are joined by dots, and at an operator the whole expression.
    Json of_part(const ExpressionPlace& place, const expression::Span& token) const {
        expression::Span part = token;
        while (part.begin > 0 && is_name_part(place.source[part.begin - 1])) --part.begin;
        const char first = place.source[part.begin];
        const bool is_chain =
            is_name_part(place.source[token.begin]) && first != '.' && (first < '0' || first > '9');
        if (!is_chain) part = {.begin = 0, .end = place.source.size()};
        const Evaluation evaluation(document_, settings_, tree_.innermost(offset_));
        const std::string source = place.source.substr(part.begin, part.end - part.begin);
        const std::string type = evaluation.type(source);
        const std::string values = values_text(evaluation, source);
        if (values.empty() && type.empty()) return nullptr;
        const std::string known = type.empty() ? type : "\ntype: " + type;
        return hover(
            fenced(source + known + values), place.places[part.begin], place.places[part.end]
        );
    }

    /// A line for each sample; empty if none says it.
    std::string values_text(const Evaluation& evaluation, const std::string& source) const {
        std::vector<TrialData> samples = samples_of(document_);
        if (samples.size() > kSamplesShownMax) samples.resize(kSamplesShownMax);
        std::string text;
        for (const TrialData& sample : samples) {
            const Trial trial = evaluation.run(source, sample);
            if (trial.is_unknown) continue;
            if (!trial.error.empty()) {
                text += fmt::format("\n{}: {}", trial.name, trial.error);
                continue;
            }
            const std::string value = to_text(trial.value);
            const bool is_long = value.size() > kValueBytesMax;
            text += fmt::format(
                "\n{}: {}{} ({})",
                trial.name,
                beginning(value, kValueBytesMax),
                is_long ? "..." : "",
                type_of(trial.value)
            );
        }
        return text;
    }

    std::string values_of_variable(const std::string& name) const {
        const Evaluation evaluation(document_, settings_, tree_.innermost(offset_));
        const std::string type = evaluation.type(name);
        const std::string values = values_text(evaluation, name);
        if (type.empty()) return values.empty() ? values : values.substr(1);
        return "type: " + type + values;
    }

    /// A duration in other units.
    Json of_duration() const {
        const int node = tree_.innermost(offset_);
        const TreeNode& here = tree_.at(node);
        const bool is_value = here.kind == TreeNode::Kind::Scalar && here.value.contains(offset_);
        if (!is_value || is_free_form(tree_, node)) return nullptr;
        const SchemaPlaces places = schema_of(tree_, node);
        if (describe_key(tree_.key(node), places).type != "duration") return nullptr;
        const auto duration = parse_duration(tree_.scalar(node));
        if (!duration) return nullptr;
        return hover(fenced(seconds_text(*duration)), here.value.begin, here.value.end);
    }

    Json of_word(const ExpressionPlace& place, const expression::Span& token) const {
        const std::string word = place.source.substr(token.begin, token.end - token.begin);
        const bool is_field = token.begin > 0 && place.source[token.begin - 1] == '.';
        const bool is_call = token.end < place.source.size() && place.source[token.end] == '(';
        const auto texts = is_call ? function_texts() : variable_texts();
        if (!is_call && is_field) return nullptr;
        for (const FunctionText& known : texts) {
            if (known.name != word || (is_call && known.is_method != is_field)) continue;
            std::string markdown = fmt::format("`{}`\n\n{}", known.signature, known.text);
            if (!known.example.empty()) {
                markdown += fmt::format("\n\n`{}` is `{}`.", known.example, known.result);
            }
            const std::string values = is_call ? std::string() : values_of_variable(word);
            if (!values.empty()) markdown += "\n\n" + fenced(values);
            return hover(markdown, place.places[token.begin], place.places[token.end]);
        }
        return nullptr;
    }
};

}  // namespace

Json Server::hover(const Json& params) {
    const Document* document = either_document_of(params);
    if (document == nullptr) return nullptr;
    index_open_code();
    if (document->is_cpp()) return cpp_hover_json(*document, offset_in(*document, params));
    return Hover(*document, settings(), offset_in(*document, params)).run();
}

}  // namespace ebb::lsp
