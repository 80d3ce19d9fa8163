#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>
#include <ebb/handler.h>

// Handlers that need no C++: a definition describes them as a program to run (`exec:`) or an HTTP
// call (`http:`). docs/reference/handlers.md has all their keys. Component ebb::handlers.

namespace ebb {

/// All problems of the handler entry `spec` (JSON text) with the name `name`; empty if it is valid.
/// Paths begin with `/handlers/<name>`. Checks only its arguments: whether programs, files or hosts
/// exist is found out when the handler runs.
std::vector<Diagnostic> validate_handler_spec(const std::string& name, const Payload& spec);

/// Makes the handler that `spec` describes. Paths in it (working directory, certificates) are
/// relative to `base_directory`. Throws DefinitionError with all problems of `spec`. The handler
/// can be called from several threads at the same time.
Handler make_handler(
    const std::string& name, const Payload& spec, const std::filesystem::path& base_directory
);

/// Adds all handlers that `definition` describes to `registry`. An entry without `exec` and `http`
/// is the contract of a handler that the application adds: the engines apply it. Throws
/// DefinitionError with all problems of all entries, or Error with InvalidArgument if a name is
/// taken; then none or only some of the handlers were added.
void register_definition_handlers(
    HandlerRegistry& registry,
    const Definition& definition,
    const std::filesystem::path& base_directory
);

/// A definition and the directory for its relative paths.
struct DefinitionSource {
    const Definition* definition;  ///< read only during the call
    std::filesystem::path base_directory;
};

/// The same for several definitions, whose handlers can have the same names: each call goes to the
/// entry of the workflow and version that the calling instance runs.
void register_definition_handlers(
    HandlerRegistry& registry, const std::vector<DefinitionSource>& sources
);

}  // namespace ebb
