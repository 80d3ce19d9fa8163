#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/definition.h>
#include <ebb/handler.h>
#include <ebb/type_library.h>

#include "cli/session.h"

namespace ebb::cli {

/// A definition as a file has it.
struct DefinitionFile {
    std::string path{};  ///< as the user named it; `-` = stdin
    std::string text{};
    Definition definition{};             ///< as much of it as could be read
    std::vector<Diagnostic> problems{};  ///< empty when it is valid
    bool holds_types = false;            ///< it describes types, and no workflow

    /// What relative paths in it are meant from.
    std::filesystem::path directory() const;
};

/// Thrown if a valid file was required: run_cli shows its problems.
struct InvalidDefinitionFile {
    DefinitionFile file;
};

/// Reads YAML or JSON and finds all problems, those of `handlers:` included. Its steps may call the
/// types of the files that --types names. Throws Error only when a file cannot be read, and
/// InvalidDefinitionFile for a file of types that has problems.
DefinitionFile read_definition_file(const std::string& path, Session& session);

struct DefinitionFileOptions {
    bool with_lints = false;
    bool only_workflows = false;  ///< give nothing for a file that holds no workflow and no types
};

/// The text of a file or of stdin, which nothing has judged. Throws Error if it cannot be read.
DefinitionFile read_text_of(const std::string& path, Session& session);

/// As read_definition_file, for reports, of a text that was read: takes a file of types as such,
/// and finds what check_types finds.
std::optional<DefinitionFile> check_definition_file(
    DefinitionFile file, Session& session, const DefinitionFileOptions& options
);

/// Gives the places in the text to the problems of the file that have none.
void locate_problems(DefinitionFile& file);

/// Finds steps and compensations of a valid file that call what neither the file nor the files that
/// --types names describe. Without --types there is nothing to find: any program may have handlers.
void check_types(DefinitionFile& file, Session& session);

/// As read_definition_file, and throws InvalidDefinitionFile when it has problems.
DefinitionFile load_definition_file(const std::string& path, Session& session);

/// The types of the files that --types names, or else `.ebbrc.yaml` in the current folder. Throws
/// as read_definition_file.
TypeLibrary read_types(Session& session);
/// Those of these files.
TypeLibrary read_types(const std::vector<std::string>& paths);

/// Whether a word is a file rather than a workflow's name or an instance: `-`, with a slash, or
/// ending in .yaml, .yml or .json.
bool names_file(std::string_view word);

/// The handlers that `definition` calls and `handlers` lacks, sorted.
std::vector<std::string> missing_handlers(
    const Definition& definition, const HandlerRegistry& handlers
);

}  // namespace ebb::cli
