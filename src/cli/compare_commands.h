#pragma once

#include <optional>
#include <string>

#include <ebb/definition.h>

#include "cli/session.h"

// The command that compares.

namespace ebb::cli {

struct DiffOptions {
    std::string before{};  ///< a file, or NAME@VERSION of the database
    std::string after{};
    std::string format{};  ///< `text`, `json`, `md` or `svg`; empty = as --json says
    std::string output{};  ///< a picture; empty = none
    bool requires_version = false;
};

/// `order@3`: leaves `order` in `name` and returns 3; `order`: none. Throws Error if what follows
/// the @ is not a version.
std::optional<int> split_version(std::string& name);

/// NAME@VERSION, or NAME for its newest version, of the database. `command` is named in errors.
Definition read_registered(Session& session, const std::string& command, const std::string& word);

/// Is it NAME@VERSION?
bool names_version(const std::string& word);

/// What the user means: a file, also of C++, or NAME@VERSION of the database. Throws Error.
Definition read_compared(Session& session, const std::string& word);

int compare_workflows(Session& session, const DiffOptions& options);

}  // namespace ebb::cli
