#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace ebb::cli {

/// The text of a regular file; empty if it is none, a link, larger, or cannot be read. Never waits,
/// also not for a pipe.
std::optional<std::string> read_regular_file(
    const std::filesystem::path& path, std::size_t bytes_max
);

}  // namespace ebb::cli
