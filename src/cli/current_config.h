#pragma once

#include <string>
#include <string_view>

#include "source/workspace_config.h"

namespace ebb::cli {

/// `.ebbrc.yaml` in the current folder; nothing if there is none. Throws Error with the place of a
/// problem.
source::WorkspaceConfig read_current_config();

/// Does `exclude` name the file, or a folder that it is in? A file outside of the current folder
/// is never excluded.
bool is_excluded(const source::WorkspaceConfig& config, std::string_view path);

}  // namespace ebb::cli
