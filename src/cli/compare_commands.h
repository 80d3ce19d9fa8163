#pragma once

#include <string>

#include "cli/session.h"

// The command that compares.

namespace ebb::cli {

struct DiffOptions {
    std::string before{};  ///< a file, or NAME@VERSION of the database
    std::string after{};
    std::string format{};  ///< `text` or `json`; empty = as --json says
    std::string output{};  ///< a picture; empty = none
    bool requires_version = false;
};

int compare_workflows(Session& session, const DiffOptions& options);

}  // namespace ebb::cli
