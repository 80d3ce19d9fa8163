#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/error.h>

// `.ebbrc.yaml`, with which a team's editors and its builds look at the same files in the same way.

namespace ebb::source {

inline constexpr std::string_view kWorkspaceConfigName = ".ebbrc.yaml";

struct WorkspaceConfigLimits {
    static constexpr std::size_t kBytesMax = 64 * 1024;
    static constexpr std::size_t kEntriesMax = 1'000;  ///< of each list
};

struct WorkspaceConfig {
    std::vector<std::string> types{};     ///< files of types, relative to the folder
    std::vector<std::string> handlers{};  ///< patterns of files in C++ that register handlers
    std::vector<std::string> exclude{};   ///< patterns of .gitignore
    std::vector<Diagnostic> problems{};   ///< if there is any, the rest is empty
};

/// Reads the text of `.ebbrc.yaml`. `file` is only named. Refuses other keys, and files of types
/// outside of the folder.
WorkspaceConfig read_workspace_config(std::string_view text, const std::string& file);

}  // namespace ebb::source
