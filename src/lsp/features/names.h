#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "lsp/document.h"

// The names of one text: where each is given and where it is used, also of a broken text.

namespace ebb::lsp {

enum class NameKind {
    Node,
    Handler,
    Branch,
    Anchor,     ///< `&name` is the declaration, `*name` a use
    Attribute,  ///< of rules
};

struct NamePlace {
    NameKind kind = NameKind::Node;
    std::string name{};
    std::size_t begin = 0;  ///< in the text
    std::size_t end = 0;
    bool is_declaration = false;
    int node = -1;  ///< in the tree

    bool operator==(const NamePlace&) const = default;
};

/// The name in the `&name` before a value; empty if there is none.
yaml::TreeRange anchor_of(const yaml::LineTree& tree, int node);

/// The kind of the node that a map describes (`step`, `condition`, ...); empty if it is not one.
std::string_view kind_of_node(const yaml::LineTree& tree, int map);

/// Is the item of a list a node of the workflow? The caller knows that it is not in a payload.
bool is_node_item(const yaml::LineTree& tree, int item);

/// May the scalar be an expression without ${ }?
bool is_expression_key(std::string_view key);

/// Is it inside of a value that the workflow only passes on: `input`, `metadata`, a schema?
bool is_in_payload(const yaml::LineTree& tree, int node);

/// Is its form free for the schema of workflows too? Unlike `is_in_payload`, the keys of an entry
/// of `handlers` are known, what a handler is given is not.
bool is_free_form(const yaml::LineTree& tree, int node);

/// The name of the node of the workflow that is around a node of the tree; empty if there is none.
std::string node_around(const yaml::LineTree& tree, int node);

/// All names, in the order of the text.
std::vector<NamePlace> names_of(const yaml::LineTree& tree);

/// The expressions of a scalar, in offsets of the text. An expression in `${ }` that is not closed
/// ends with the scalar.
struct ExpressionPlace {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string source{};                 ///< decoded
    std::vector<std::uint32_t> places{};  ///< of each byte of `source`, and of its end
};

std::vector<ExpressionPlace> expressions_of(const yaml::LineTree& tree, int scalar);

}  // namespace ebb::lsp
