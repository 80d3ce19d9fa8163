#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/document.h"

namespace ebb::yaml {

/// Bytes of the text, the end exclusive.
struct TreeRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    bool contains(std::size_t at) const { return begin <= at && at <= end; }

    bool is_empty() const { return begin >= end; }

    bool operator==(const TreeRange&) const = default;
};

/// One value of a text, with the key before it if it is a member of a map.
struct TreeNode {
    enum class Kind : std::uint8_t {
        Missing,  ///< nothing is written yet
        Scalar,
        Alias,
        Map,
        List,
    };

    Kind kind = Kind::Missing;
    model::Document::Style style = model::Document::Style::Plain;
    bool is_flow = false;  ///< of lists and maps: in brackets
    bool is_quoted_key = false;
    bool has_colon = false;  ///< a member whose key is complete
    int parent = -1;
    int indent = 0;           ///< of block maps and lists: the column of their keys or dashes
    std::uint32_t index = 0;  ///< its place among the children of its parent
    TreeRange key{};          ///< without quotes; empty if it has none
    TreeRange value{};        ///< of scalars without quotes; of blocks to the end of the last child
    TreeRange whole{};        ///< from the key, dash or quote to the end of the value
    std::vector<int> children{};
};

/// The structure of a YAML or JSON text that may be broken, half-typed or no YAML at all: what an
/// editor needs at each keystroke. Never fails, takes linear time, and agrees with
/// `parse_yaml_document` about texts that are valid. It reads the first document only.
class LineTree {
 public:
    /// The text must outlive the tree.
    explicit LineTree(std::string_view text);

    /// In the order of the text; the first is the root.
    const std::vector<TreeNode>& nodes() const { return nodes_; }

    const TreeNode& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }

    const TreeNode& root() const { return nodes_.front(); }

    std::string_view text() const { return text_; }

    std::string_view slice(const TreeRange& range) const {
        return text_.substr(range.begin, range.end - range.begin);
    }

    std::string key(int node) const;
    /// What a scalar means as a text; empty for all else.
    std::string scalar(int node) const;
    /// -1 if the map has no such key.
    int find(int map, std::string_view key) const;
    /// The node that a JSON pointer leads to as the text is written; -1 if there is none.
    int find_path(std::string_view pointer) const;
    std::string path(int node) const;
    /// The innermost node whose key or value is at `offset`; the root if there is none.
    int innermost(std::size_t offset) const;

 private:
    friend class LineTreeBuilder;

    std::string_view text_;
    std::vector<TreeNode> nodes_;
};

}  // namespace ebb::yaml
