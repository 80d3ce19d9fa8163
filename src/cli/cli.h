#pragma once

#include <span>
#include <string>

#include "cli/context.h"

namespace ebb::cli {

/// The `ebb` command: parses `arguments` (without the program's name), runs the command, reports
/// what fails. Returns the exit code.
int run_cli(std::span<const std::string> arguments, Terminal& terminal);

/// The completion script for `bash`, `zsh` or `fish`.
std::string completion_script(const std::string& shell, std::span<const std::string> commands);

}  // namespace ebb::cli
