#include "lsp/features/shared_words.h"

#include <utility>
#include <variant>

#include "core/model/walk.h"
#include "lsp/features/names.h"

namespace ebb::lsp {

namespace {

using yaml::LineTree;
using yaml::TreeNode;

class WordCollector {
 public:
    std::vector<SharedWord> of_text(const LineTree& tree) {
        for (int node = 0; node < static_cast<int>(tree.nodes().size()); ++node) {
            const TreeNode& here = tree.at(node);
            if (here.kind != TreeNode::Kind::Scalar || here.parent < 0) continue;
            const std::string key = tree.key(node);
            const bool is_role = tree.key(here.parent) == "roles" || key == "roles";
            if (key == "queue") add(tree, node, WordKind::Queue);
            if (is_role) add(tree, node, WordKind::Role);
            // A signal has the name of its node, unless it says another one.
            const bool is_other = key == "name" && tree.find(here.parent, "signal") >= 0;
            const bool is_own = key == "signal" && tree.find(here.parent, "name") < 0;
            if (is_other || is_own) add(tree, node, WordKind::Signal);
        }
        return std::move(words_);
    }

    std::vector<SharedWord> of_code(const source::CppFile& file) {
        for (const source::CppWorkflow& workflow : file.workflows) {
            const model::Walk walk(workflow.definition);
            for (const model::Placed& placed : walk.nodes()) add(*placed.node);
        }
        return std::move(words_);
    }

 private:
    std::vector<SharedWord> words_;

    void add(const LineTree& tree, int node, WordKind kind) {
        if (is_in_payload(tree, node)) return;
        add(kind, tree.scalar(node), tree.at(node).value.begin);
    }

    void add(WordKind kind, std::string text, std::size_t begin = 0) {
        // What the scanner does not know is its source text.
        if (text.empty() || text.starts_with("‹")) return;
        words_.push_back({.kind = kind, .text = std::move(text), .begin = begin});
    }

    void add(const Node& node) {
        if (const auto* step = std::get_if<Step>(&node.kind)) add(WordKind::Queue, step->queue);
        if (const auto* decision = std::get_if<HumanDecision>(&node.kind)) {
            for (const std::string& role : decision->roles) add(WordKind::Role, role);
        }
        if (const auto* signal = std::get_if<Signal>(&node.kind)) {
            add(WordKind::Signal, signal->signal.empty() ? node.name : signal->signal);
        }
    }
};

}  // namespace

std::vector<SharedWord> shared_words(const Document& document) {
    if (document.is_cpp()) return WordCollector().of_code(document.cpp());
    if (document.kind() != source::TextKind::Workflow) return {};
    return WordCollector().of_text(document.tree());
}

}  // namespace ebb::lsp
