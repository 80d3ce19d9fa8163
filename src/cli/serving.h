#pragma once

#include <vector>

#include <ebb/engine.h>
#include <ebb/handler.h>

#include "cli/definition_file.h"
#include "cli/session.h"

// The handlers that a process can run are those that definitions describe.

namespace ebb::cli {

/// Definitions together with the directories that their relative paths are meant from.
struct Served {
    Definition definition{};
    std::filesystem::path directory{};
};

/// All workflows of `store`, and those of `files`. A stored version of a workflow that is among the
/// files is served from that file's directory, the others from the current one.
std::vector<Served> served_workflows(Store& store, const std::vector<DefinitionFile>& files);

/// The handlers of all of them. When an instance of another workflow or version, registered
/// meanwhile by somebody else, comes to one of these handlers, its own entry is looked up in
/// `store`, which must outlive the handlers.
HandlerRegistry handlers_of(
    Store& store, const std::vector<Served>& served, const std::vector<DefinitionFile>& files
);

}  // namespace ebb::cli
