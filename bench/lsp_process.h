#pragma once

#include <string>
#include <vector>

#include "report.h"

namespace ebb::bench {

/// The process `ebb lsp` as an editor starts it: how long until it answers `initialize`, and what
/// memory it takes with `text` open. None if this build has no command.
std::vector<Figure> lsp_process_figures(const std::string& text);

}  // namespace ebb::bench
