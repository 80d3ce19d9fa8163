#include "cli/definition_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <ebb/handlers.h>
#include <ebb/node_graph.h>
#include <ebb/yaml.h>

#include "cli/definition_names.h"
#include "cli/payload_argument.h"
#include "core/model/document.h"
#include "core/model/editor_graph.h"
#include "support/json.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

std::filesystem::path DefinitionFile::directory() const {
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    return std::filesystem::absolute(above.empty() ? "." : above);
}

namespace {

/// What is larger has an own diagnostic.
constexpr std::size_t kFileBytesMax = 2 * DefinitionLimits::kDefinitionBytesMax;

/// What the handlers component says of the entries, with the places where they stand: below `key`.
void check_handlers(DefinitionFile& file, const HandlerSpecs& specs, const std::string& key) {
    constexpr std::string_view kHandlers = "/handlers";
    for (const auto& [name, spec] : specs) {
        for (Diagnostic& problem : validate_handler_spec(name, spec)) {
            problem.path.replace(0, kHandlers.size(), key);
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

/// The entries of `handlers:` in a file that is not valid otherwise, so that their problems are
/// reported as well. None if the text cannot be read at all.
HandlerSpecs written_handlers(const DefinitionFile& file) {
    HandlerSpecs specs;
    try {
        const model::Document document = yaml::parse_yaml_document(file.text, file.path);
        const model::Document* handlers = document.find("handlers");
        if (handlers == nullptr || !handlers->is_map()) return specs;
        for (const auto& member : handlers->members) {
            if (member.value.is_map()) specs[member.key] = member.value.to_json().dump();
        }
    } catch (const DefinitionError&) {
        // Already among the problems.
    }
    return specs;
}

TypeLibrary read_types(const std::vector<std::string>& paths) {
    TypeLibrary types;
    for (const std::string& path : paths) {
        DefinitionFile file{.path = path, .text = read_file(path, kFileBytesMax)};
        TypeLibrary of_file;
        try {
            add_types_yaml(of_file, file.text, path);
            check_handlers(file, of_file.specs(), "/types");
            if (file.problems.empty()) add_types_yaml(types, file.text, path);
        } catch (const DefinitionError& error) {
            file.problems = error.diagnostics();
        }
        if (!file.problems.empty()) throw InvalidDefinitionFile{std::move(file)};
    }
    return types;
}

/// The graph that a visual editor has written, if the file holds one.
std::optional<Definition> read_editor_graph(
    const std::string& text, const std::string& path, const TypeLibrary& types
) {
    const bool is_map = text.find_first_not_of(" \t\r\n") == text.find('{');
    if (!is_map || text.size() > DefinitionLimits::kDefinitionBytesMax ||
        json_depth(text) > DefinitionLimits::kDocumentDepthMax) {
        return std::nullopt;
    }
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !is_editor_graph(json)) return std::nullopt;
    const std::string stem = std::filesystem::path(path).stem().string();
    return import_graph(
        json,
        {.workflow = json.contains("name") ? std::string() : model::name_of(stem), .types = types}
    );
}

}  // namespace

DefinitionFile read_definition_file(const std::string& path, Session& session) {
    DefinitionFile file{.path = path};
    file.text = path == "-" ? session.streams().read_input() : read_file(path, kFileBytesMax);
    const TypeLibrary types = read_types(session.options().types);
    try {
        auto graph = read_editor_graph(file.text, path, types);
        file.definition = graph ? std::move(*graph) : parse_definition_yaml(file.text, path, types);
    } catch (const DefinitionError& error) {
        file.problems = error.diagnostics();
        for (Diagnostic& problem : file.problems) problem.file = path;
        const HandlerSpecs handlers = written_handlers(file);
        if (handlers.empty()) return file;
        check_handlers(file, handlers, "/handlers");
        std::stable_sort(
            file.problems.begin(),
            file.problems.end(),
            [](const Diagnostic& a, const Diagnostic& b) { return a.line < b.line; }
        );
        return file;
    }
    check_handlers(file, file.definition.handlers, "/handlers");
    return file;
}

DefinitionFile load_definition_file(const std::string& path, Session& session) {
    DefinitionFile file = read_definition_file(path, session);
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
