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

/// All problems of the handler entry `spec` (JSON text) called `name`; empty when it is valid.
/// Paths begin with `/handlers/<name>`. Looks at nothing outside its arguments: whether programs,
/// files or hosts exist shows when the handler runs.
std::vector<Diagnostic> validate_handler_spec(const std::string& name, const Payload& spec);

/// Makes the handler that `spec` describes. Relative paths in it (working directory, certificates)
/// are meant relative to `base_directory`. Throws DefinitionError with all problems of `spec`.
/// The handler may be called from several threads at once.
Handler make_handler(
    const std::string& name, const Payload& spec, const std::filesystem::path& base_directory
);

/// Adds all handlers that `definition` describes to `registry`. Throws DefinitionError with all
/// problems of all entries, or Error with InvalidArgument when a name is taken; then nothing or
/// only a part was added.
void register_definition_handlers(
    HandlerRegistry& registry,
    const Definition& definition,
    const std::filesystem::path& base_directory
);

/// A definition and the directory that its relative paths are meant from.
struct DefinitionSource {
    const Definition* definition;  ///< read only during the call
    std::filesystem::path base_directory;
};

/// The same for several definitions, whose handlers may have the same names: each call goes to the
/// entry of the workflow and version that the calling instance runs.
void register_definition_handlers(
    HandlerRegistry& registry, const std::vector<DefinitionSource>& sources
);

}  // namespace ebb
