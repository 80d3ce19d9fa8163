#pragma once

#include <string>
#include <vector>

namespace ebb::cli {

/// One setting of a configuration file.
struct ConfigEntry {
    std::string key{};
    std::vector<std::string> values{};
    bool is_list = false;
    std::string place{};  ///< `serve.yaml:3:1`
};

/// Reads a YAML map whose values are scalars or lists of scalars. Throws Error with InvalidArgument
/// and the place of what is wrong.
std::vector<ConfigEntry> read_config(const std::string& path);

}  // namespace ebb::cli
