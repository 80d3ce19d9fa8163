#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_info.h"

namespace ebb::cli {

/// A script that teaches `shell` (bash, zsh or fish) to complete commands, options, their values,
/// files and, by asking `ebb list`, the ids of instances.
std::string completion_script(std::string_view shell, const std::vector<CommandInfo>& commands);

}  // namespace ebb::cli
