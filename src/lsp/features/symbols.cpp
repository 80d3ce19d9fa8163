// The outline and what can be folded: from the tree of lines, so also of a broken text.

#include "lsp/features/symbols.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lsp/features/cpp.h"
#include "lsp/features/names.h"
#include "lsp/lsp.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

class Outline {
 public:
    explicit Outline(const Document& document) : document_(document), tree_(document.tree()) {}

    Json run() {
        const int workflow = tree_.find(0, "workflow");
        Json children = Json::array();
        add_children(0, children);
        if (workflow < 0) return children;
        Json root = symbol(tree_.scalar(workflow), SymbolKind::Module, 0, workflow);
        root["detail"] = "workflow";
        root["children"] = std::move(children);
        return Json::array({std::move(root)});
    }

 private:
    const Document& document_;
    const LineTree& tree_;
    std::size_t count_ = 0;

    Json symbol(std::string name, SymbolKind kind, int whole, int selected) {
        ++count_;
        if (name.empty()) name = "?";
        const TreeNode& around = tree_.at(whole);
        const TreeNode& value = tree_.at(selected);
        const bool is_key = value.value.is_empty() && !value.key.is_empty();
        const yaml::TreeRange selection = is_key ? value.key : value.value;
        return {
            {"name", std::move(name)},
            {"kind", static_cast<int>(kind)},
            {"range", range_json(document_.lines(), around.whole.begin, around.whole.end)},
            {"selectionRange", range_json(document_.lines(), selection.begin, selection.end)},
        };
    }

    void add_children(int node, Json& into) {
        for (const int child : tree_.at(node).children) add(child, into);
    }

    void add(int node, Json& into) {
        if (count_ >= DocumentLimits::kSymbolsMax) return;
        const TreeNode& here = tree_.at(node);
        const bool is_handler = here.parent > 0 && tree_.at(here.parent).parent == 0 &&
                                tree_.key(here.parent) == "handlers" && here.has_colon;
        if (is_handler) {
            Json entry = symbol(tree_.key(node), SymbolKind::Method, node, node);
            entry["selectionRange"] = range_json(document_.lines(), here.key.begin, here.key.end);
            entry["detail"] = "handler";
            into.push_back(std::move(entry));
        } else if (here.parent == 0 && tree_.key(node) == "handlers") {
            add_children(node, into);
        } else if (is_in_payload(tree_, node)) {
            return;
        } else if (is_node_item(tree_, node)) {
            add_node(node, into);
        } else if (here.parent > 0 && tree_.key(here.parent) == "branches" && here.has_colon) {
            Json branch = symbol(tree_.key(node), SymbolKind::Key, node, node);
            branch["selectionRange"] = range_json(document_.lines(), here.key.begin, here.key.end);
            branch["detail"] = "branch";
            branch["children"] = Json::array();
            add_children(node, branch["children"]);
            into.push_back(std::move(branch));
        } else {
            add_children(node, into);
        }
    }

    void add_node(int node, Json& into) {
        if (tree_.at(node).kind == TreeNode::Kind::Scalar) {
            Json step = symbol(tree_.scalar(node), SymbolKind::Function, node, node);
            step["detail"] = "step";
            into.push_back(std::move(step));
            return;
        }
        const std::string_view kind = kind_of_node(tree_, node);
        if (kind.empty()) return add_children(node, into);
        const int name = tree_.find(node, kind);
        Json entry = symbol(tree_.scalar(name), symbol_of(kind), node, name);
        std::string detail(kind);
        for (const char* key : {"handler", "when", "while", "until", "for", "name"}) {
            const int member = tree_.find(node, key);
            if (member < 0 || detail != kind) continue;
            detail += " " + tree_.scalar(member).substr(0, 80);
        }
        entry["detail"] = std::move(detail);
        entry["children"] = Json::array();
        for (const int child : tree_.at(node).children) {
            if (child != name) add(child, entry["children"]);
        }
        into.push_back(std::move(entry));
    }
};

}  // namespace

SymbolKind symbol_of(std::string_view kind) {
    if (kind == "step") return SymbolKind::Function;
    if (kind == "signal" || kind == "decision" || kind == "delay") return SymbolKind::Event;
    if (kind == "savepoint" || kind == "fail") return SymbolKind::Key;
    return SymbolKind::Class;
}

Json Server::list_symbols(const Json& params) {
    if (const Document* code = cpp_document_of(params)) return cpp_symbols_json(*code);
    const Document* document = document_of(params);
    return document == nullptr ? Json::array() : Outline(*document).run();
}

Json Server::list_folds(const Json& params) {
    const Document* document = document_of(params);
    Json folds = Json::array();
    if (document == nullptr) return folds;
    std::size_t last = 0;
    for (const TreeNode& node : document->tree().nodes()) {
        if (node.parent < 0 || folds.size() >= DocumentLimits::kSymbolsMax) continue;
        const std::size_t begin = document->lines().position(node.whole.begin).line;
        std::size_t end = document->lines().position(node.whole.end).line;
        const bool is_at_start = node.whole.end == document->lines().start_of_line(end);
        if (is_at_start && end > begin) --end;
        if (end <= begin || (!folds.empty() && begin == last)) continue;
        last = begin;
        folds.push_back({{"startLine", begin}, {"endLine", end}});
    }
    return folds;
}

}  // namespace ebb::lsp
