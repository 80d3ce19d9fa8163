#include "cli/definition_file.h"

#include <set>

#include <ebb/handlers.h>
#include <ebb/yaml.h>

#include "cli/definition_names.h"
#include "cli/payload_argument.h"
#include "core/model/document.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

std::filesystem::path DefinitionFile::directory() const {
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    return std::filesystem::absolute(above.empty() ? "." : above);
}

namespace {

/// What the handlers component says of the entries, with the places where they stand.
void check_handlers(DefinitionFile& file) {
    for (const auto& [name, spec] : file.definition.handlers) {
        for (Diagnostic& problem : validate_handler_spec(name, spec)) {
            file.problems.push_back(std::move(problem));
        }
    }
    if (file.problems.empty()) return;
    const model::Document document = yaml::parse_yaml_document(file.text, file.path);
    for (Diagnostic& problem : file.problems) {
        const model::Location location = model::locate(document, problem.path);
        if (problem.line > 0 || location.document == nullptr) continue;
        problem.line = location.document->place.line;
        problem.column = location.document->place.column;
        problem.file = file.path;
    }
}

}  // namespace

DefinitionFile read_definition_file(const std::string& path, CliStreams& streams) {
    DefinitionFile file{.path = path};
    // What is larger has an own diagnostic.
    constexpr std::size_t kBytesMax = 2 * DefinitionLimits::kDefinitionBytesMax;
    file.text = path == "-" ? streams.read_input() : read_file(path, kBytesMax);
    try {
        file.definition = parse_definition_yaml(file.text, path);
    } catch (const DefinitionError& error) {
        file.problems = error.diagnostics();
        return file;
    }
    check_handlers(file);
    return file;
}

DefinitionFile load_definition_file(const std::string& path, CliStreams& streams) {
    DefinitionFile file = read_definition_file(path, streams);
    if (!file.problems.empty()) throw InvalidDefinitionFile{std::move(file)};
    return file;
}

bool names_file(std::string_view word) {
    // An instance by its key, which has a slash.
    if (word.starts_with("key:")) return false;
    return word == "-" || word.find('/') != std::string_view::npos || word.ends_with(".yaml") ||
           word.ends_with(".yml") || word.ends_with(".json");
}

std::vector<std::string> missing_handlers(
    const Definition& definition, const HandlerRegistry& handlers
) {
    std::set<std::string> missing;
    for (const auto& [name, facts] : index_nodes(definition)) {
        for (const std::string& handler : {facts.handler, facts.compensation}) {
            if (!handler.empty() && handlers.find(handler) == nullptr) missing.insert(handler);
        }
    }
    return {missing.begin(), missing.end()};
}

}  // namespace ebb::cli
