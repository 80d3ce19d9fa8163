#pragma once

#include <cstddef>
#include <optional>

#include <nlohmann/json.hpp>

namespace ebb::sim {

/// The definition with its `number`-th part made simpler: a node taken out or replaced by what is
/// in it, a branch or an option taken out. Nothing: it has not so many parts. The result may be no
/// valid definition.
std::optional<nlohmann::json> simplify(const nlohmann::json& definition, std::size_t number);

/// In a list of nodes and in all that they hold.
int count_nodes(const nlohmann::json& nodes);

}  // namespace ebb::sim
