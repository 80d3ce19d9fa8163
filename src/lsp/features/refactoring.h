#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/json.h>

#include "lsp/features/names.h"
#include "lsp/features/refactor.h"
#include "lsp/features/text_parts.h"

namespace ebb::lsp {

inline constexpr std::string_view kQuickFixKind = "quickfix";
inline constexpr std::string_view kRewriteKind = "refactor.rewrite";
inline constexpr std::string_view kExtractKind = "refactor.extract";

/// What every kind of code action about a selection of a workflow's text needs. It adds to a list.
class Refactoring {
 public:
    Refactoring(const Document& document, const Selection& selection, Json& actions)
        : document_(document),
          parts_(document),
          tree_(document.tree()),
          selection_(selection),
          actions_(actions) {}

 protected:
    Json& add(std::string title, std::string_view kind, const std::vector<TextEdit>& edits) {
        actions_.push_back(action_json(document_, std::move(title), kind, edits));
        return actions_.back();
    }

    std::string_view text() const { return tree_.text(); }

    bool has_nodes(int list) const {
        const std::vector<int>& children = tree_.at(list).children;
        return !children.empty() && is_node_item(tree_, children.front());
    }

    std::string name_of(int item) const {
        const yaml::TreeNode& here = tree_.at(item);
        if (here.kind == yaml::TreeNode::Kind::Scalar) return tree_.scalar(item);
        const std::string_view kind = kind_of_node(tree_, item);
        return kind.empty() ? std::string() : tree_.scalar(tree_.find(item, kind));
    }

    /// Can the value stand in brackets as it is written?
    bool fits_in_flow(int node) const {
        const yaml::TreeNode& here = tree_.at(node);
        const bool is_plain = here.kind == yaml::TreeNode::Kind::Scalar &&
                              here.style == model::Document::Style::Plain;
        return !is_plain ||
               tree_.slice(here.value).find_first_of(",[]{}") == std::string_view::npos;
    }

    /// Is a comment between the children?
    bool has_comments(int node) const {
        const yaml::TreeNode& here = tree_.at(node);
        std::size_t at = here.value.begin;
        for (const int child : here.children) {
            const std::size_t begin = std::max<std::size_t>(at, tree_.at(child).whole.begin);
            if (text().substr(at, begin - at).find('#') != std::string_view::npos) return true;
            at = std::max<std::size_t>(at, parts_.end_of(child));
        }
        return false;
    }

    /// Where a new key of the workflow goes: before `steps` or `nodes`, if they begin a line.
    std::optional<std::size_t> place_before_nodes() const {
        int block = tree_.find(0, "steps");
        if (block < 0) block = tree_.find(0, "nodes");
        if (block < 0) return std::nullopt;
        const std::size_t at = tree_.at(block).whole.begin;
        return parts_.column(at) == 0 ? std::optional<std::size_t>(at) : std::nullopt;
    }

    const Document& document_;
    TextParts parts_;
    const yaml::LineTree& tree_;
    Selection selection_;

 private:
    Json& actions_;
};

}  // namespace ebb::lsp
