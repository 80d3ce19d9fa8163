#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

// What the import and the export of editors' graphs have in common.

namespace ebb::model {

inline constexpr const char* kGraphKind = "graph";
inline constexpr const char* kImportedGraphName = "graph";
/// Holds what Ebb has and editors do not know: of the graph, or of a step.
inline constexpr const char* kOwnKey = "ebb";
/// The type of a node that is not a step: `ebb:decision`.
inline constexpr std::string_view kKindPrefix = "ebb:";

inline constexpr std::array<std::string_view, 7> kRootKeys = {
    "nodes", "edges", "entry", "name", "version", "unmatched", kOwnKey
};
inline constexpr std::array<std::string_view, 4> kNodeKeys = {"id", "type", "data", kOwnKey};
inline constexpr std::array<std::string_view, 3> kEdgeKeys = {"source", "target", "sourceHandle"};

/// A text, or a number as one, which is how some editors number their nodes.
std::optional<std::string> text_of(const Json& map, const char* key);

/// What a node is called in the workflow: its id, as far as a name can be like it.
std::string name_of(std::string_view id);

/// The members of `map` but for `keys`.
Json others(const Json& map, std::span<const std::string_view> keys);

/// The value with each of its texts changed.
Json each_text(const Json& value, std::string (*change)(std::string_view));

/// Where a problem of the definition is in the editor's graph.
std::string editor_path(std::string_view path);

}  // namespace ebb::model
