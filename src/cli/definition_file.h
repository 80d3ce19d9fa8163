#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/handler.h>

#include "cli/session.h"

namespace ebb::cli {

/// A definition as a file has it.
struct DefinitionFile {
    std::string path{};  ///< as the user named it; `-` = stdin
    std::string text{};
    Definition definition{};             ///< of a valid file
    std::vector<Diagnostic> problems{};  ///< empty when it is valid

    /// What relative paths in it are meant from.
    std::filesystem::path directory() const;
};

/// Thrown where a valid file was required: run_cli shows its problems.
struct InvalidDefinitionFile {
    DefinitionFile file;
};

/// Reads YAML or JSON and finds all problems, those of `handlers:` included. Its steps may call the
/// types of the files that --types names. Throws Error only when a file cannot be read, and
/// InvalidDefinitionFile for a file of types that has problems.
DefinitionFile read_definition_file(const std::string& path, Session& session);

/// Finds steps and compensations of a valid file that call what neither the file nor the files that
/// --types names describe. Without --types there is nothing to find: any program may have handlers.
void check_types(DefinitionFile& file, Session& session);

/// As read_definition_file, and throws InvalidDefinitionFile when it has problems.
DefinitionFile load_definition_file(const std::string& path, Session& session);

/// Whether a word is a file rather than a workflow's name or an instance: `-`, with a slash, or
/// ending in .yaml, .yml or .json.
bool names_file(std::string_view word);

/// The handlers that `definition` calls and `handlers` lacks, sorted.
std::vector<std::string> missing_handlers(
    const Definition& definition, const HandlerRegistry& handlers
);

}  // namespace ebb::cli
