#pragma once

#include <string>
#include <string_view>

#include "cli/streams.h"

namespace ebb::cli {

/// `text` for `output`. For a terminal, each line that is too wide is broken at spaces, except
/// those that begin with a space: they quote a file or are a table.
std::string fill(std::string_view text, const Output& output);

}  // namespace ebb::cli
