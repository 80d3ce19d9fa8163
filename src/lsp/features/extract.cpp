// What all steps say goes to `defaults:`.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/refactoring.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;
using Kind = TreeNode::Kind;

constexpr std::array<std::string_view, 5> kKeys = {
    "timeout", "step_timeout", "max_attempts", "max_retries", "queue"
};

/// Two words for one value.
std::string_view twin(std::string_view key) {
    if (key == "max_attempts") return "max_retries";
    return key == "max_retries" ? "max_attempts" : "";
}

class Extraction : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run() {
        const int member = tree_.innermost(selection_.begin);
        if (member <= 0 || !tree_.at(member).has_colon) return;
        const std::string key = tree_.key(member);
        const int step = tree_.at(member).parent;
        const bool is_ours = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end() &&
                             is_node_item(tree_, step) && !is_in_payload(tree_, step) &&
                             kind_of_node(tree_, step) == "step";
        const auto value = parts_.written(member);
        if (!is_ours || !value || tree_.at(member).kind != Kind::Scalar) return;
        const int defaults = tree_.find(0, "defaults");
        const bool has_it = defaults >= 0 && (tree_.find(defaults, key) >= 0 ||
                                              tree_.find(defaults, twin(key)) >= 0);
        if (has_it || !collect(key, tree_.scalar(member)) || edits_.size() < 2) return;
        const std::string line = fmt::format("{}: {}", key, parts_.slice(*value));
        const std::size_t steps = edits_.size();
        if (!add_default(defaults, line)) return;
        add(fmt::format("Move \"{}\" of {} steps to \"defaults\"", line, steps),
            kExtractKind,
            edits_);
    }

 private:
    std::vector<TextEdit> edits_;

    /// False if a step does not say the key: a default would change it.
    bool collect(const std::string& key, const std::string& value) {
        for (int node = 0; node < static_cast<int>(tree_.nodes().size()); ++node) {
            if (!is_node_item(tree_, node) || is_in_payload(tree_, node)) continue;
            if (tree_.at(node).kind == Kind::Scalar) return false;
            if (kind_of_node(tree_, node) != "step") continue;
            const int member = tree_.find(node, key);
            if (member < 0 || tree_.find(node, twin(key)) >= 0) return false;
            const int compensate = tree_.find(node, "compensate");
            const bool changes_undo =
                compensate >= 0 && key != "queue" && tree_.find(compensate, key) < 0;
            if (changes_undo || tree_.find(node, "non_idempotent") >= 0) return false;
            if (tree_.scalar(member) != value) continue;
            const auto edit = parts_.without_member(member);
            if (!edit) return false;
            edits_.push_back(*edit);
        }
        return true;
    }

    bool add_default(int defaults, const std::string& line) {
        const std::string& eol = parts_.line_break();
        if (defaults < 0) {
            const auto at = place_before_nodes();
            if (!at) return false;
            edits_.push_back({*at, *at, fmt::format("defaults: {{{}}}{}", line, eol)});
            return true;
        }
        const TreeNode& here = tree_.at(defaults);
        if (here.kind != Kind::Map || here.children.empty()) return false;
        const std::size_t at = tree_.at(here.children.front()).whole.begin;
        const std::string between = here.is_flow ? ", " : eol + std::string(parts_.column(at), ' ');
        edits_.push_back({at, at, line + between});
        return true;
    }
};

}  // namespace

void add_extractions(const Document& document, const Selection& selection, Json& actions) {
    if (document.kind() != source::TextKind::Workflow) return;
    Extraction(document, selection, actions).run();
}

}  // namespace ebb::lsp
