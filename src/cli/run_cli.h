#pragma once

#include <span>
#include <string>

#include "cli/streams.h"

namespace ebb::cli {

/// Runs the command `ebb` with `args` (without the program's own name) and returns its exit code.
/// Throws nothing that a user can cause.
int run_cli(std::span<const std::string> args, CliStreams& streams);

}  // namespace ebb::cli
