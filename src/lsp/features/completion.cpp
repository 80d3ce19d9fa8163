#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/expression/fixed_fields.h"
#include "core/model/check_expressions.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "lsp/features/conditions.h"
#include "lsp/features/cursor.h"
#include "lsp/features/evaluation.h"
#include "lsp/features/functions.h"
#include "lsp/features/node_snippets.h"
#include "lsp/features/node_text.h"
#include "lsp/features/request.h"
#include "lsp/features/schema.h"
#include "lsp/features/shared_words.h"
#include "lsp/lsp.h"
#include "lsp/workspace_index.h"
#include "support/clock.h"
#include "support/json.h"
#include "yaml/scalar_map.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

enum class ItemKind {
    Method = 2,
    Function = 3,
    Field = 5,
    Variable = 6,
    Property = 10,
    Value = 12,
    Keyword = 14,
    Snippet = 15,
    Reference = 18
};

constexpr std::array<std::string_view, 6> kDurations = {"5s", "30s", "1m", "5m", "1h", "1d"};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Completer {
 public:
    /// `takes_snippets`: the client knows tab stops.
    Completer(
        const Document& document,
        const CheckSettings& settings,
        std::size_t offset,
        bool takes_snippets
    )
        : document_(document),
          settings_(settings),
          takes_snippets_(takes_snippets),
          tree_(document.tree()),
          offset_(offset),
          cursor_(cursor_at(tree_, offset)) {}

    Json run() {
        if (cursor_.where == Cursor::Where::Key) add_keys();
        if (cursor_.where == Cursor::Where::Value) add_values();
        const bool is_cut = items_.size() > DocumentLimits::kCompletionsMax;
        if (is_cut) items_.erase(items_.begin() + DocumentLimits::kCompletionsMax, items_.end());
        return {{"isIncomplete", is_cut}, {"items", std::move(items_)}};
    }

 private:
    const Document& document_;
    const CheckSettings& settings_;
    bool takes_snippets_;
    const LineTree& tree_;
    std::size_t offset_;
    Cursor cursor_;
    Json items_ = Json::array();
    std::set<std::string> seen_;

    struct Item {
        std::string label;
        ItemKind kind = ItemKind::Value;
        std::string detail{};
        std::string text{};
        std::string inserted{};  ///< empty = the label
    };

    void add(const Item& item, std::size_t begin) {
        if (!seen_.insert(item.label).second) return;
        const std::string& inserted = item.inserted.empty() ? item.label : item.inserted;
        Json json = {
            {"label", item.label},
            {"kind", static_cast<int>(item.kind)},
            {"sortText", fmt::format("{:04}", items_.size())},
            {"textEdit",
             {{"range", range_json(document_.lines(), begin, offset_)}, {"newText", inserted}}},
        };
        if (!item.detail.empty()) json["detail"] = item.detail;
        if (!item.text.empty()) json["documentation"] = item.text;
        if (item.kind == ItemKind::Snippet) json["insertTextFormat"] = 2;
        // The lines have their indent: an editor must not add that of the first one.
        if (inserted.find('\n') != std::string::npos) json["insertTextMode"] = 1;
        items_.push_back(std::move(json));
    }

    static std::string detail_of(const SchemaKey& key) {
        std::string detail = key.type;
        if (key.is_required) detail += detail.empty() ? "required" : ", required";
        if (!key.otherwise.empty()) detail += fmt::format(", default {}", key.otherwise);
        return detail;
    }

    /// What follows the name of a key: nothing on the same line if a block comes.
    std::string key_text(const SchemaKey& key) const {
        if (cursor_.is_flow) {
            const bool is_quoted = cursor_.begin > 0 && document_.text()[cursor_.begin - 1] == '"';
            return is_quoted ? key.name : key.name + ": ";
        }
        const bool is_block = key.type == "map" || key.type.starts_with("list");
        if (!is_block) return key.name + ": ";
        const bool is_list = key.type.starts_with("list");
        const std::string indent(cursor_.column + 2, ' ');
        return fmt::format("{}:\n{}{}", key.name, indent, is_list ? "- " : "");
    }

    /// Whole nodes where one may begin.
    void add_nodes_to_fill() {
        const int item = cursor_.node;
        const bool is_free = cursor_.is_flow || tree_.at(item).kind != TreeNode::Kind::Map;
        const bool is_list = !cursor_.is_flow && item > 0 && is_node_item(tree_, item);
        const bool is_flow_list = cursor_.is_flow && has_nodes(item);
        if (!is_free || !(is_list || is_flow_list) || is_in_payload(tree_, item)) return;
        for (const NodeSnippet& snippet : node_snippets()) {
            if (is_flow_list) break;
            add({.label = std::string(snippet.kind),
                 .kind = ItemKind::Snippet,
                 .detail = "node",
                 .text = std::string(snippet.text),
                 .inserted = indented(snippet.lines, cursor_.column)},
                cursor_.begin);
        }
        for (const NodeSnippet& snippet : node_snippets()) {
            add({.label = std::string(snippet.kind) + " { }",
                 .kind = ItemKind::Snippet,
                 .detail = "node on one line",
                 .text = std::string(snippet.text),
                 .inserted = std::string(snippet.line)},
                cursor_.begin);
        }
    }

    /// Is it a list of nodes by its key, also without an item?
    bool has_nodes(int list) const {
        const TreeNode& here = tree_.at(list);
        if (here.kind != TreeNode::Kind::List) return false;
        if (!here.children.empty()) return is_node_item(tree_, here.children.front());
        constexpr std::array<std::string_view, 7> kBlocks = {
            "steps", "nodes", "then", "else", "do", "default", "on_reject"
        };
        return std::find(kBlocks.begin(), kBlocks.end(), tree_.key(list)) != kBlocks.end();
    }

    void add_keys() {
        if (is_role()) return add_words(WordKind::Role, "role");
        if (const int around = attribute_list(); around >= 0) return add_attributes(around);
        if (takes_snippets_ && cursor_.is_item) add_nodes_to_fill();
        const bool is_blank = document_.text().find_first_not_of(" \r\n") == std::string::npos ||
                              document_.text() == cursor_.word;
        if (takes_snippets_ && is_blank && cursor_.column == 0) {
            add({.label = "workflow",
                 .kind = ItemKind::Snippet,
                 .detail = "a new workflow",
                 .inserted = std::string(workflow_snippet())},
                cursor_.begin);
        }
        int map = cursor_.node;
        SchemaPlaces places = schema_of(tree_, map);
        if (cursor_.is_flow && cursor_.is_item) {
            places = schema_of_item(places);
            map = -1;
        }
        for (const SchemaKey& key : keys_of(places)) {
            const int present = map < 0 ? -1 : tree_.find(map, key.name);
            const bool is_here = present >= 0 && tree_.at(present).key.begin == cursor_.begin;
            if (present >= 0 && !is_here) continue;
            add({.label = key.name,
                 .kind = ItemKind::Property,
                 .detail = detail_of(key),
                 .text = key.description,
                 .inserted = key_text(key)},
                cursor_.begin);
        }
        for (const std::string& word : words_of(places)) {
            if (cursor_.is_item) add({.label = word}, cursor_.begin);
        }
        const bool is_node =
            cursor_.is_item && map > 0 && is_node_item(tree_, map) && !is_in_payload(tree_, map);
        if (is_node) add_handlers("a step that calls this handler");
    }

    void add_handlers(const std::string& detail) {
        std::set<std::string> names;
        for (const NamePlace& place : names_of(tree_)) {
            const bool is_typed = place.begin <= offset_ && offset_ <= place.end;
            if (place.kind == NameKind::Handler && !is_typed) names.insert(place.name);
        }
        if (settings_.types != nullptr) {
            for (const std::string& name : settings_.types->names()) names.insert(name);
        }
        for (const std::string& name : names) {
            add({.label = name, .kind = ItemKind::Function, .detail = detail}, cursor_.begin);
        }
        if (settings_.index == nullptr) return;
        for (const std::string& name :
             settings_.index->registered(DocumentLimits::kCompletionsMax)) {
            add({.label = name, .kind = ItemKind::Function, .detail = detail + " in C++"},
                cursor_.begin);
        }
    }

    void add_values() {
        if (const auto source = expression_before(tree_, cursor_.node, offset_)) {
            return add_expression(*source);
        }
        if (is_condition(tree_, cursor_.node)) return add_condition();
        const std::string key = tree_.key(cursor_.node);
        const int map = tree_.at(cursor_.node).parent;
        if (key == "attribute" && names_attributes(tree_, tree_.at(map).parent)) {
            return add_attributes(-1);
        }
        if (is_free_form(tree_, cursor_.node)) return;
        const SchemaPlaces places = schema_of(tree_, cursor_.node);
        for (const std::string& word : words_of(places)) {
            add({.label = word, .kind = ItemKind::Keyword, .detail = delays_of(key, word)},
                cursor_.begin);
        }
        if (describe_key(key, places).type == "duration") {
            for (const std::string_view duration : kDurations) {
                add({.label = std::string(duration)}, cursor_.begin);
            }
        }
        const bool is_step_name = key == "step" && tree_.find(map, "handler") < 0;
        if (key == "handler" || key == "compensate" || is_step_name) add_handlers("handler");
        if (key == "from" || key == "to" || key == "entry") add_nodes(cursor_.begin);
        if (key == "queue") add_words(WordKind::Queue, "queue");
        if (key == "roles") add_words(WordKind::Role, "role");
        const bool is_signal_name = key == "name" && tree_.find(map, "signal") >= 0;
        if (key == "signal" || is_signal_name) add_words(WordKind::Signal, "signal");
    }

    /// Is an item of `roles` typed?
    bool is_role() const {
        if (!cursor_.is_item || cursor_.node < 0) return false;
        const int list = cursor_.is_flow ? cursor_.node : tree_.at(cursor_.node).parent;
        return list > 0 && tree_.key(list) == "roles" && !is_in_payload(tree_, list);
    }

    /// The names that this and other files of the workspace use.
    void add_words(WordKind kind, const std::string& detail) {
        std::set<std::string> words;
        for (const SharedWord& word : shared_words(document_)) {
            if (word.kind == kind && word.begin != cursor_.begin) words.insert(word.text);
        }
        if (settings_.index != nullptr) {
            const std::size_t most = DocumentLimits::kCompletionsMax;
            for (std::string& word : settings_.index->words(kind, document_.uri(), most)) {
                words.insert(std::move(word));
            }
        }
        for (const std::string& word : words) add({.label = word, .detail = detail}, cursor_.begin);
    }

    /// The `writes` or `set` in which the name of an attribute is typed; -1 if it is none.
    int attribute_list() const {
        if (cursor_.node <= 0) return -1;
        const bool is_block_item = cursor_.is_item && !cursor_.is_flow;
        const int around = is_block_item ? tree_.at(cursor_.node).parent : cursor_.node;
        return around > 0 && names_attributes(tree_, around) ? around : -1;
    }

    /// The attributes that the list or map does not name yet.
    void add_attributes(int around) {
        std::set<std::string> present;
        for (const NamePlace& place : names_of(tree_)) {
            const bool is_typed = place.begin <= offset_ && offset_ <= place.end;
            const bool is_in =
                around >= 0 && place.node > 0 && tree_.at(place.node).parent == around;
            if (place.kind == NameKind::Attribute && is_in && !is_typed) present.insert(place.name);
        }
        const bool is_key = around >= 0 && !cursor_.is_item;
        for (const AttributePlace& place : attributes_of(tree_)) {
            if (present.contains(place.name)) continue;
            add({.label = place.name,
                 .kind = ItemKind::Field,
                 .detail = attribute_text(tree_, place),
                 .inserted = is_key ? place.name + ": " : std::string()},
                cursor_.begin);
        }
    }

    /// A condition of rules knows attributes, words of SQL and its own functions.
    void add_condition() {
        const TreeNode& here = tree_.at(cursor_.node);
        const std::size_t start = std::min<std::size_t>(here.value.begin, offset_);
        const std::string text =
            yaml::decode_scalar(tree_.text().substr(start, offset_ - start), here.style).text;
        std::size_t word = text.size();
        while (word > 0 && is_word(text[word - 1])) --word;
        const ConditionWords found = words_after(text.substr(0, word));
        const std::size_t begin = offset_ - (text.size() - word);
        if (found.takes_value) {
            for (const AttributePlace& place : attributes_of(tree_)) {
                add({.label = place.name,
                     .kind = ItemKind::Field,
                     .detail = attribute_text(tree_, place)},
                    begin);
            }
        }
        for (const ConditionWord& known : found.words) {
            add({.label = std::string(known.text),
                 .kind = known.is_function ? ItemKind::Function : ItemKind::Keyword,
                 .detail = std::string(known.about)},
                begin);
        }
    }

    /// What a strategy waits between the attempts, with what else the backoff says.
    std::string delays_of(const std::string& key, const std::string& word) const {
        if (key != "strategy") return {};
        AttemptPolicy attempts{.max_attempts = 5};
        for (const auto& strategy : model::kStrategyWords) {
            if (strategy.text == word) attempts.backoff.strategy = strategy.value;
        }
        const int initial = tree_.find(tree_.at(cursor_.node).parent, "initial");
        const auto said = initial < 0 ? std::nullopt : parse_duration(tree_.scalar(initial));
        if (said) attempts.backoff.initial = *said;
        return "delays " + delays_text(attempts);
    }

    void add_nodes(std::size_t begin) {
        for (const NamePlace& place : names_of(tree_)) {
            const bool is_typed = place.begin <= offset_ && offset_ <= place.end;
            if (place.kind != NameKind::Node || !place.is_declaration || is_typed) continue;
            add({.label = place.name, .kind = ItemKind::Reference, .detail = "node"}, begin);
        }
    }

    void add_expression(const std::string& source) {
        std::size_t word = source.size();
        while (word > 0 && is_word(source[word - 1])) --word;
        std::size_t chain = word;
        while (chain > 0 && (is_word(source[chain - 1]) || source[chain - 1] == '.')) --chain;
        const std::string before = source.substr(chain, word - chain);
        const std::size_t begin = offset_ - (source.size() - word);
        const bool is_quoted_step = source.substr(0, word).ends_with("steps[\"") ||
                                    source.substr(0, word).ends_with("steps['");
        if (before == "steps." || is_quoted_step) return add_steps(begin);
        if (before == "workflow.") return add_fields(expression::kWorkflowFields, begin);
        if (before == "instance.") return add_fields(expression::kInstanceFields, begin);
        const bool is_step =
            before.starts_with("steps.") && std::count(before.begin(), before.end(), '.') == 2;
        if (is_step) return add_fields(expression::kStepFields, begin);
        const bool is_error = before.starts_with("steps.") && before.ends_with(".error.") &&
                              std::count(before.begin(), before.end(), '.') == 3;
        if (is_error) return add_fields(expression::kErrorFields, begin);
        const bool is_method = word > 0 && source[word - 1] == '.';
        if (before.size() > 1 && is_method) add_data(before.substr(0, before.size() - 1), begin);
        if (!is_method) {
            for (const FunctionText& variable : variable_texts()) {
                add({.label = std::string(variable.name),
                     .kind = ItemKind::Variable,
                     .text = std::string(variable.text)},
                    begin);
            }
        }
        for (const FunctionText& function : function_texts()) {
            if (function.is_method != is_method) continue;
            add({.label = std::string(function.name),
                 .kind = is_method ? ItemKind::Method : ItemKind::Function,
                 .detail = std::string(function.signature),
                 .text = std::string(function.text)},
                begin);
        }
    }

    /// The fields of what the instance was started with, by `input_schema` and the samples.
    void add_data(const std::string& read, std::size_t begin) {
        constexpr std::string_view kOfInstance = "workflow.input";
        constexpr std::string_view kHere = "input";
        const Evaluation evaluation(document_, settings_, cursor_.node);
        const bool is_of_instance = (read + ".").starts_with("workflow.input.");
        const bool is_here =
            (read + ".").starts_with("input.") && evaluation.reads_instance_input();
        if (!is_of_instance && !is_here) return;
        const std::size_t root = (is_of_instance ? kOfInstance : kHere).size();
        add_schema_fields(std::string_view(read).substr(root), begin);
        for (const TrialData& sample : samples_of(document_)) {
            const Trial trial = evaluation.run(read, sample);
            if (!trial.error.empty() || !trial.value.is_object()) continue;
            for (const auto& [name, value] : trial.value.items()) {
                if (!std::all_of(name.begin(), name.end(), is_word)) continue;
                add({.label = name,
                     .kind = ItemKind::Field,
                     .detail = value.type_name(),
                     .text = fmt::format("{} in the sample {}", to_text(value), sample.name)},
                    begin);
            }
        }
    }

    /// The properties that the schema has behind `.a.b`.
    void add_schema_fields(std::string_view path, std::size_t begin) {
        const Payload& text = document_.checked(settings_).definition.input_schema;
        if (text.empty()) return;
        const Json schema = Json::parse(text);
        const Json* here = &schema;
        while (!path.empty()) {
            path.remove_prefix(1);
            const std::string name(path.substr(0, path.find('.')));
            path.remove_prefix(name.size());
            const Json::json_pointer member = Json::json_pointer("/properties") / name;
            if (!here->is_object() || !here->contains(member)) return;
            here = &here->at(member);
        }
        if (!here->is_object() || !here->contains("properties")) return;
        for (const auto& [name, about] : here->at("properties").items()) {
            if (!about.is_object() || !std::all_of(name.begin(), name.end(), is_word)) continue;
            const auto word = [&about](const char* key) {
                const auto found = about.find(key);
                return found != about.end() && found->is_string() ? found->get<std::string>() : "";
            };
            add({.label = name,
                 .kind = ItemKind::Field,
                 .detail = word("type"),
                 .text = word("description")},
                begin);
        }
    }

    void add_fields(std::span<const std::string_view> names, std::size_t begin) {
        for (const std::string_view name : names) {
            add({.label = std::string(name), .kind = ItemKind::Field}, begin);
        }
    }

    /// Those that can have completed before the node that the cursor is in.
    void add_steps(std::size_t begin) {
        const source::CheckedText& checked = document_.checked(settings_);
        const model::Walk walk(checked.definition);
        const int reader = walk.find(node_around(tree_, cursor_.node));
        if (walk.nodes().empty() || reader < 0) return add_nodes(begin);
        for (int read = 0; read < static_cast<int>(walk.nodes().size()); ++read) {
            if (read == reader || !model::never_before(walk, reader, read).empty()) continue;
            const Node& node = *walk.at(read).node;
            add({.label = node.name,
                 .kind = ItemKind::Reference,
                 .detail = std::string(kind_name(node))},
                begin);
        }
    }
};

}  // namespace

Json Server::complete(const Json& params) {
    const Document* document = document_of(params);
    if (document == nullptr) return nullptr;
    index_open_code();
    return Completer(*document, settings(), offset_in(*document, params), takes_snippets_).run();
}

}  // namespace ebb::lsp
