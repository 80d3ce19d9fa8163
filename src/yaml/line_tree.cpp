#include "yaml/line_tree.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/model/words.h"
#include "yaml/line_tree_builder.h"
#include "yaml/scalar_map.h"

namespace ebb::yaml {

LineTree::LineTree(std::string_view text) : text_(text) {
    LineTreeBuilder(text_, nodes_).run();
}

std::string LineTree::key(int node) const {
    const TreeNode& member = at(node);
    if (!member.is_quoted_key) return std::string(slice(member.key));
    const bool is_double = member.key.begin > 0 && text_[member.key.begin - 1] == '"';
    using Style = model::Document::Style;
    return decode_scalar(slice(member.key), is_double ? Style::DoubleQuoted : Style::SingleQuoted)
        .text;
}

std::string LineTree::scalar(int node) const {
    const TreeNode& value = at(node);
    if (value.kind != TreeNode::Kind::Scalar) return {};
    return decode_scalar(slice(value.value), value.style).text;
}

int LineTree::find(int map, std::string_view key) const {
    if (map < 0 || at(map).kind != TreeNode::Kind::Map) return -1;
    for (const int child : at(map).children) {
        if (at(child).has_colon && this->key(child) == key) return child;
    }
    return -1;
}

std::string LineTree::path(int node) const {
    if (node < 0 || at(node).parent < 0) return {};
    const TreeNode& here = at(node);
    const bool is_item = at(here.parent).kind == TreeNode::Kind::List;
    const std::string segment =
        is_item ? std::to_string(here.index) : model::escape_pointer(key(node));
    return path(here.parent) + "/" + segment;
}

int LineTree::find_path(std::string_view pointer) const {
    int here = 0;
    while (!pointer.empty() && here >= 0) {
        pointer.remove_prefix(1);
        const std::string_view segment = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(segment.size());
        const std::vector<int>& children = at(here).children;
        if (at(here).kind == TreeNode::Kind::List) {
            std::size_t index = children.size();
            std::from_chars(segment.data(), segment.data() + segment.size(), index);
            here = index < children.size() ? children[index] : -1;
            continue;
        }
        const auto found = std::find_if(children.begin(), children.end(), [&](int child) {
            return model::escape_pointer(key(child)) == segment;
        });
        here = found == children.end() ? -1 : *found;
    }
    return here;
}

int LineTree::innermost(std::size_t offset) const {
    int here = 0;
    while (true) {
        const std::vector<int>& children = at(here).children;
        // The last child that begins at or before the place.
        const auto after =
            std::upper_bound(children.begin(), children.end(), offset, [this](auto at_, int child) {
                return at_ < at(child).whole.begin;
            });
        if (after == children.begin()) return here;
        const int child = *std::prev(after);
        if (!at(child).whole.contains(offset)) return here;
        here = child;
    }
}

}  // namespace ebb::yaml
