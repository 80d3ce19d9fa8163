#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb::cli {

/// One setting of a configuration file.
struct ConfigEntry {
    std::string key{};
    std::vector<std::string> values{};
    bool is_list = false;
    std::string place{};  ///< `serve.yaml:3:1`
};

/// Something that the file declares by its name: a webhook, a hook, the limits of a queue, or how
/// long a workflow is kept.
struct Declared {
    static constexpr std::array<std::string_view, 4> kSections{
        "webhooks", "hooks", "queues", "retention"
    };

    std::string section{};
    std::string name{};
    Json settings{};
    std::string place{};

    bool operator==(const Declared&) const = default;
};

struct Config {
    std::vector<ConfigEntry> entries{};
    std::vector<Declared> declared{};
};

/// Reads a YAML map whose values are scalars or lists of scalars, and in the sections of Declared
/// maps. Throws Error with InvalidArgument and the place of what is wrong.
Config read_config(const std::string& path);

}  // namespace ebb::cli
