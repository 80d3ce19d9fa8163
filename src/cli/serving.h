#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ebb/engine.h>
#include <ebb/handler.h>

#include "cli/definition_file.h"
#include "cli/exec_policy.h"
#include "cli/session.h"

// The handlers that a process can run are those that definitions describe.

namespace ebb::cli {

/// Definitions together with the directories that their relative paths are meant from.
struct Served {
    Definition definition{};
    std::filesystem::path directory{};
};

struct ServedWorkflows {
    std::vector<Served> all{};
    /// Stored versions that this program cannot read: they are served by none of its handlers.
    std::vector<std::pair<std::string, int>> unreadable{};
};

/// All workflows of `store`, and those of `files`. A stored version of a workflow that is among the
/// files is served from that file's directory, the others from `other`.
ServedWorkflows served_workflows(
    Store& store,
    const std::vector<DefinitionFile>& files,
    const std::filesystem::path& other = std::filesystem::current_path()
);

/// Has the engine log what cannot be read.
void tell_unreadable(Engine& engine, const ServedWorkflows& served);

/// A workflow version that is not served, and its handlers that would run a program.
struct RefusedWorkflow {
    std::string name{};
    int version = 1;
    std::vector<std::string> handlers{};
};

/// Takes what `policy` refuses out of `served`, and returns it.
std::vector<RefusedWorkflow> take_refused(std::vector<Served>& served, const ExecPolicy& policy);

/// Logs them. Not an error: other workers may be allowed to run them.
void report_refused(LogSink& log, const std::vector<RefusedWorkflow>& refused);

/// The handlers of all of them. When an instance of another workflow or version, which another
/// process has registered meanwhile, comes to one of these handlers, its own entry is looked up in
/// `store` and run if `policy` allows it. Both must outlive the handlers. Relative paths of a
/// workflow that is not among the files are meant from `other`.
HandlerRegistry handlers_of(
    Store& store,
    const std::vector<Served>& served,
    const std::vector<DefinitionFile>& files,
    const ExecPolicy& policy,
    const std::filesystem::path& other = std::filesystem::current_path()
);

}  // namespace ebb::cli
