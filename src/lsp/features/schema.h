#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>

#include "yaml/line_tree.h"

namespace ebb::lsp {

/// What the schema of workflows allows at a place, as alternatives; the outermost first.
using SchemaPlaces = std::vector<const Json*>;

/// What the value of a tree's node may be. Of a map only the kinds that its keys fit.
SchemaPlaces schema_of(const yaml::LineTree& tree, int node);

/// What an item of a list may be, and what a member of a map may be.
SchemaPlaces schema_of_item(const SchemaPlaces& list);
SchemaPlaces schema_of_member(const SchemaPlaces& map, std::string_view key);

/// A key that a map may have.
struct SchemaKey {
    std::string name{};
    std::string description{};
    std::string type{};       ///< for people: `duration`, `list`
    std::string otherwise{};  ///< the default, as JSON text
    bool is_required = false;

    bool operator==(const SchemaKey&) const = default;
};

/// Required ones first.
std::vector<SchemaKey> keys_of(const SchemaPlaces& map);
/// The keys in the order in which the schema has them.
std::vector<std::string> usual_order(const SchemaPlaces& map);
std::vector<std::string> words_of(const SchemaPlaces& value);
std::string description_of(const SchemaPlaces& value);
SchemaKey describe_key(std::string_view name, const SchemaPlaces& value);

}  // namespace ebb::lsp
