#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lsp/features/names.h"
#include "yaml/line_tree.h"

namespace ebb::lsp {

/// What is being typed at a place of a text that may be half-written.
struct Cursor {
    enum class Where {
        Nowhere,  ///< in a comment
        Key,      ///< the key of a map, or a whole item of a list
        Value,
    };

    Where where = Where::Nowhere;
    /// Key: the map, or the slot that a new map would fill. Value: the scalar or the empty slot.
    int node = -1;
    /// Key: the item of a list is being typed, and could be a scalar, too.
    bool is_item = false;
    /// Key: a map of braces, where the next key follows behind a comma.
    bool is_flow = false;
    /// Key: keys of the map begin here; the next line is indented by as much.
    std::size_t column = 0;
    std::size_t begin = 0;  ///< of the word that is being typed, which ends at the cursor
    std::string word{};
};

Cursor cursor_at(const yaml::LineTree& tree, std::size_t offset);

/// The expression that the cursor is in, up to the cursor; empty if there is none.
std::optional<std::string> expression_before(
    const yaml::LineTree& tree, int node, std::size_t offset
);

}  // namespace ebb::lsp
