#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace ebb::yaml {

/// `value` (a map) as YAML in block style, so that `parse_yaml_document` reads the same value.
/// Texts are quoted only if necessary.
std::string write_yaml(const nlohmann::ordered_json& value);

}  // namespace ebb::yaml
