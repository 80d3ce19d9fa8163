#pragma once

#include <string>
#include <string_view>

#include "cli/streams.h"

namespace ebb::cli {

/// `text` for `output`. For a terminal, each line that is too wide is broken at spaces, except
/// those that begin with a space: they quote a file or are a table.
std::string fill(std::string_view text, const Output& output);

/// One line as several of at most `columns` (0 = as it is): broken at spaces, and in a longer word
/// behind a comma or anywhere. All but the first begin with `margin` spaces. Nothing is cut.
std::string fold(std::string_view line, int columns, int margin);

}  // namespace ebb::cli
