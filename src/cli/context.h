#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/handler.h>
#include <ebb/store.h>

#include "cli/terminal.h"

namespace ebb::cli {

/// The exit codes of `ebb`; docs/reference/cli.md says the same.
enum ExitCode : int {
    kOk = 0,
    kEndedBadly = 1,  ///< the workflow failed, was cancelled or aborted
    kUsage = 2,       ///< a wrong option or an invalid definition or payload
    kNotFound = 3,
    kRefused = 4,  ///< not in this state, not by this person
    kStoreUnavailable = 5,
    kTimeout = 6,
    kInternal = 70,
    kInterrupted = 130,
};

/// What the command line says for all commands.
struct GlobalOptions {
    std::string database;  ///< `--db`, else EBB_DB, else empty
    bool json = false;
    ColorMode color = ColorMode::Auto;
};

/// A complaint about how a command was called.
struct UsageError {
    std::string message;
};

/// What every command works with.
struct Context {
    Terminal& terminal;
    GlobalOptions options;
};

/// Opens the store that an URL names: `memory:`, `sqlite:PATH` or a bare path. Throws Error.
StorePtr open_store(const std::string& url);

/// The store of --db. Throws UsageError when none is given, or one that keeps nothing where that
/// makes no sense.
StorePtr open_kept_store(const Context& context, std::string_view command);

/// `text` is an id, the beginning of one (at least 4 characters), or `key:WORKFLOW/KEY`. Throws
/// Error or UsageError that names the candidates.
InstanceId resolve_instance(Engine& engine, const std::string& text);

/// JSON text itself, `@FILE`, or `-` for standard input. Throws Error with the place of what is not
/// JSON.
Payload read_payload_argument(const std::string& argument, std::string_view what);

/// A definition from a file with its handlers. Throws DefinitionError, or Error when it cannot be
/// read.
struct LoadedWorkflow {
    Definition definition;
    std::filesystem::path file;
    std::string text;
};

LoadedWorkflow load_workflow(const std::string& file);

/// Registers the `handlers:` of all definitions.
void add_handlers(HandlerRegistry& registry, const std::vector<LoadedWorkflow>& workflows);

/// Looks like a file of a definition rather than like a workflow's name.
bool is_definition_file(std::string_view text);

}  // namespace ebb::cli
