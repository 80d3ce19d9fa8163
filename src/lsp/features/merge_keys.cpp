// Quick fixes for the merge key `<<` of YAML 1.1.

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lsp/features/diagnostics.h"
#include "lsp/features/refactoring.h"

namespace ebb::lsp {

namespace {

using yaml::TreeNode;
using Kind = TreeNode::Kind;

constexpr std::string_view kMergeKey = "<<";

/// What `defaults:` may have.
constexpr std::array<std::string_view, 6> kDefaultKeys = {
    "timeout", "step_timeout", "max_attempts", "max_retries", "backoff", "queue"
};

class MergeKeyRepairs : public Refactoring {
 public:
    using Refactoring::Refactoring;

    void run(const CheckSettings& settings) {
        const int merge = selected();
        if (merge < 0) return;
        for (const Diagnostic& problem : document_.checked(settings).problems) {
            const std::size_t at = document_.lines().offset_of_place(problem.line, problem.column);
            if (at != tree_.at(merge).key.begin) continue;
            diagnostics_.push_back(diagnostic_json(document_, settings, problem));
        }
        names_ = names_of(tree_);
        write_out(merge);
        move_to_defaults(merge);
    }

 private:
    Json diagnostics_ = Json::array();
    std::vector<NamePlace> names_{};

    void repair(std::string title, const std::vector<TextEdit>& edits) {
        Json& action = add(std::move(title), kQuickFixKind, edits);
        if (!diagnostics_.empty()) action["diagnostics"] = diagnostics_;
    }

    bool is_merge(int node) const {
        return node > 0 && tree_.at(node).has_colon && tree_.key(node) == kMergeKey;
    }

    int selected() const {
        int node = tree_.innermost(selection_.begin);
        while (node > 0 && !is_merge(node)) node = tree_.at(node).parent;
        return node > 0 ? node : -1;
    }

    /// The value that an alias stands for; -1 if there is none.
    int meant_by(int alias) const {
        const std::string_view name = tree_.slice(tree_.at(alias).value).substr(1);
        int found = -1;
        for (const NamePlace& place : names_) {
            const bool is_it = place.kind == NameKind::Anchor && place.is_declaration &&
                               place.name == name && place.node < alias;
            if (is_it) found = place.node;
        }
        return found;
    }

    /// The maps that are merged, the strongest first; none if one of them is not known.
    std::vector<int> merged(int merge) const {
        const TreeNode& here = tree_.at(merge);
        std::vector<int> values = here.kind == Kind::List ? here.children : std::vector<int>{merge};
        for (int& value : values) {
            if (tree_.at(value).kind == Kind::Alias) value = meant_by(value);
            if (value < 0 || tree_.at(value).kind != Kind::Map) return {};
        }
        return values;
    }

    /// What the map does not say itself stands in place of the key.
    void write_out(int merge) {
        const int map = tree_.at(merge).parent;
        const bool is_flow = tree_.at(map).is_flow;
        const std::vector<int> sources = merged(merge);
        const std::size_t begin = tree_.at(merge).whole.begin;
        const std::string between =
            is_flow ? ", " : parts_.line_break() + std::string(parts_.column(begin), ' ');
        std::set<std::string> taken;
        std::string result;
        for (const int source : sources) {
            for (const int member : tree_.at(source).children) {
                const std::string key = tree_.key(member);
                if (key == kMergeKey) return;
                if (tree_.find(map, key) >= 0 || !taken.insert(key).second) continue;
                const auto written = parts_.written_member(member);
                if (!written || (is_flow && !fits_in_flow(member))) return;
                result += (result.empty() ? "" : between) + parts_.slice(*written);
            }
        }
        if (result.empty()) return;
        repair(
            "Write out what \"<<\" takes over", {{begin, parts_.end_of(merge), std::move(result)}}
        );
    }

    /// Without the merge key; nothing if no simple edit does it.
    std::optional<TextEdit> removal(int merge) const {
        const TreeNode& here = tree_.at(merge);
        const std::vector<int>& members = tree_.at(here.parent).children;
        const std::size_t end = parts_.end_of(merge);
        if (here.index + 1 < members.size()) {
            const std::size_t next = tree_.at(members[here.index + 1]).whole.begin;
            const std::string_view between = text().substr(end, next - end);
            if (between.find('#') != std::string_view::npos) return std::nullopt;
            return TextEdit{.begin = here.whole.begin, .end = next};
        }
        if (here.index == 0) return std::nullopt;
        if (!tree_.at(here.parent).is_flow) return parts_.without_member(merge);
        return TextEdit{.begin = parts_.end_of(members[here.index - 1]), .end = end};
    }

    /// Is it the `<<: *name` of a step?
    bool is_of_step(int alias) const {
        const int map = tree_.at(alias).parent;
        return is_merge(alias) && is_node_item(tree_, map) && !is_in_payload(tree_, map) &&
               kind_of_node(tree_, map) == "step";
    }

    /// What all steps merge applies to all steps.
    void move_to_defaults(int merge) {
        if (tree_.at(merge).kind != Kind::Alias || !is_of_step(merge)) return;
        const int source = meant_by(merge);
        if (source < 0 || tree_.at(source).parent != 0 || tree_.at(source).kind != Kind::Map) {
            return;
        }
        const bool is_there = tree_.key(source) == "defaults";
        if (!is_there && (tree_.find(0, "defaults") >= 0 || !can_be_default(source))) return;
        std::vector<TextEdit> edits;
        if (!is_there) {
            const yaml::TreeRange& key = tree_.at(source).key;
            if (tree_.at(source).is_quoted_key) return;
            edits.push_back({key.begin, key.end, "defaults"});
        }
        const yaml::TreeRange anchor = anchor_of(tree_, source);
        edits.push_back({anchor.begin - std::size_t{2}, anchor.end, ""});
        for (const NamePlace& use : names_) {
            const bool is_use = use.kind == NameKind::Anchor && !use.is_declaration &&
                                use.name == tree_.slice(anchor);
            if (!is_use) continue;
            const auto edit = is_of_step(use.node) ? removal(use.node) : std::nullopt;
            if (!edit) return;
            edits.push_back(*edit);
        }
        repair(
            is_there
                ? std::string("Remove \"<<\": \"defaults\" applies to all steps")
                : fmt::format(
                      "Rename \"{}\" to \"defaults\", which applies to all steps", tree_.key(source)
                  ),
            edits
        );
    }

    bool can_be_default(int map) const {
        const std::vector<int>& members = tree_.at(map).children;
        return std::all_of(members.begin(), members.end(), [this](int member) {
            return std::find(kDefaultKeys.begin(), kDefaultKeys.end(), tree_.key(member)) !=
                   kDefaultKeys.end();
        });
    }
};

}  // namespace

void add_merge_key_repairs(
    const Document& document,
    const CheckSettings& settings,
    const Selection& selection,
    Json& actions
) {
    if (document.kind() != source::TextKind::Workflow) return;
    MergeKeyRepairs(document, selection, actions).run(settings);
}

}  // namespace ebb::lsp
