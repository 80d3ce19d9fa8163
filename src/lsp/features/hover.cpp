#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/spans.h"
#include "core/model/walk.h"
#include "lsp/features/functions.h"
#include "lsp/features/request.h"
#include "lsp/features/schema.h"
#include "lsp/lsp.h"
#include "lsp/uri.h"
#include "support/clock.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

/// Text of the workspace appears in code fences only, so it can hold no link and no other markup.
std::string fenced(std::string_view text) {
    std::string clean(text.substr(0, 2'000));
    std::replace(clean.begin(), clean.end(), '`', '\'');
    return fmt::format("```\n{}\n```", clean);
}

std::string duration_text(Duration duration) {
    return duration == Duration::zero() ? "none" : format_duration(duration);
}

std::string attempts_text(const AttemptPolicy& attempts) {
    return fmt::format(
        "attempts: {}, timeout of an attempt: {}, of the step: {}",
        attempts.max_attempts,
        duration_text(attempts.timeout),
        duration_text(attempts.step_timeout)
    );
}

class Hover {
 public:
    Hover(const Document& document, const CheckSettings& settings, std::size_t offset)
        : document_(document), settings_(settings), tree_(document.tree()), offset_(offset) {}

    Json run() {
        if (Json found = of_expression(); !found.is_null()) return found;
        if (Json found = of_name(); !found.is_null()) return found;
        return of_key();
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
        return hover(markdown, here.key.begin, here.key.end);
    }

    /// The key that holds a payload is ours, what is in it is not.
    bool is_in_payload_below(int node) const {
        const int parent = tree_.at(node).parent;
        return parent > 0 && is_in_payload(tree_, parent);
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
        if (place->kind != NameKind::Node) return nullptr;
        const model::Walk walk(document_.checked(settings_).definition);
        const int number = walk.find(place->name);
        if (number < 0) return nullptr;
        const Node& node = *walk.at(number).node;
        std::string text = fmt::format("{} {}", kind_name(node), node.name);
        if (!node.description.empty()) text += "\n" + node.description;
        if (const auto* step = std::get_if<Step>(&node.kind)) {
            text += fmt::format(
                "\nhandler: {}\n{}",
                step->handler.empty() ? node.name : step->handler,
                attempts_text(step->attempts)
            );
            text += registered_text(step->handler.empty() ? node.name : step->handler);
            if (step->compensate) text += "\nundone by: " + step->compensate->handler;
            if (!step->queue.empty()) text += "\nqueue: " + step->queue;
        }
        return hover(fenced(text), place->begin, place->end);
    }

    Json of_expression() const {
        const int node = tree_.innermost(offset_);
        if (tree_.at(node).kind != TreeNode::Kind::Scalar) return nullptr;
        for (const ExpressionPlace& place : expressions_of(tree_, node)) {
            if (offset_ < place.begin || offset_ > place.end) continue;
            for (std::size_t at = 0; at < place.source.size(); ++at) {
                const expression::Span token = expression::token_at(place.source, at);
                const bool is_here =
                    place.places[token.begin] <= offset_ && offset_ <= place.places[token.end];
                if (is_here && token.end > at + 0) {
                    Json found = of_word(place, token);
                    if (!found.is_null()) return found;
                }
                at = std::max(at, token.end - 1);
            }
        }
        return nullptr;
    }

    Json of_word(const ExpressionPlace& place, const expression::Span& token) const {
        const std::string word = place.source.substr(token.begin, token.end - token.begin);
        const bool is_field = token.begin > 0 && place.source[token.begin - 1] == '.';
        const bool is_call = token.end < place.source.size() && place.source[token.end] == '(';
        const auto texts = is_call ? function_texts() : variable_texts();
        if (!is_call && is_field) return nullptr;
        for (const FunctionText& known : texts) {
            if (known.name != word || (is_call && known.is_method != is_field)) continue;
            return hover(
                fmt::format("`{}`\n\n{}", known.signature, known.text),
                place.places[token.begin],
                place.places[token.end]
            );
        }
        return nullptr;
    }
};

}  // namespace

Json Server::hover(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return nullptr;
    index_open_code();
    return Hover(*document, settings(), offset_in(*document, params)).run();
}

}  // namespace ebb::lsp
