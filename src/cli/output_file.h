#pragma once

#include <string>

namespace ebb::cli {

/// Writes a file anew. Throws std::system_error with its name where that is not possible.
void write_file(const std::string& path, const std::string& text);

}  // namespace ebb::cli
