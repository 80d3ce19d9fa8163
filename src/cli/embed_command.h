#pragma once

#include <string>
#include <vector>

#include "cli/session.h"

// `ebb diagram --embed`: pictures in pages of Markdown.

namespace ebb::cli {

struct EmbedOptions {
    std::vector<std::string> pages{};  ///< empty = `ebb diagram` draws its subject
    bool only_checks = false;          ///< change nothing, and say if a picture is old
};

/// Draws the pictures of the workflows that the pages name, in place. With `only_checks`, 1 if one
/// of them is old.
int embed_pictures(Session& session, const EmbedOptions& options);

}  // namespace ebb::cli
