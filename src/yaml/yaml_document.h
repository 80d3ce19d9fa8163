#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/model/document.h"

namespace ebb::yaml {

/// Nodes that anchors keep and aliases copy, together: a few lines of YAML can otherwise stand for
/// gigabytes.
inline constexpr std::size_t kAliasNodesMax = 10'000;

/// Parses one YAML document, with the places of everything. Throws DefinitionError: wrong syntax,
/// more than one document, a limit, or what JSON does not have.
model::Document parse_yaml_document(std::string_view text, const std::string& file);

/// Where the bytes of the texts of a document stand that was parsed from `text`, which must outlive
/// the result.
model::TextPlaces places_in(std::string_view text);

}  // namespace ebb::yaml
