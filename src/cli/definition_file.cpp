#include "cli/definition_file.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/handlers.h>
#include <ebb/node_graph.h>
#include <ebb/yaml.h>

#include "cli/current_config.h"
#include "cli/definition_names.h"
#include "cli/payload_argument.h"
#include "core/model/document.h"
#include "core/model/editor_graph.h"
#include "core/model/placing.h"
#include "core/model/walk.h"
#include "core/model/words.h"
#include "handlers/unbound.h"
#include "source/workflow_text.h"
#include "support/json.h"
#include "yaml/yaml_document.h"

namespace ebb::cli {

std::filesystem::path DefinitionFile::directory() const {
    const std::filesystem::path above = std::filesystem::path(path).parent_path();
    return std::filesystem::absolute(above.empty() ? "." : above);
}

void locate_problems(DefinitionFile& file) {
    if (file.problems.empty()) return;
    const model::Document document = yaml::parse_yaml_document(file.text, file.path);
    const auto range_at = [&](const std::string& path) -> std::optional<SourceRange> {
        const model::Location location = model::locate(document, path);
        if (location.document == nullptr) return std::nullopt;
        return model::range_of(*location.document);
    };
    for (Diagnostic& problem : file.problems) {
        if (problem.line > 0) continue;
        if (const auto range = range_at(problem.path)) model::set_range(problem, *range);
        problem.file = file.path;
        for (Diagnostic::Related& related : problem.related) {
            if (const auto range = range_at(related.path)) related.range = *range;
        }
    }
}

namespace {

/// What is larger has an own diagnostic.
constexpr std::size_t kFileBytesMax = 2 * DefinitionLimits::kDefinitionBytesMax;

/// The files that --types names, or else `.ebbrc.yaml`.
std::vector<std::string> type_files(Session& session) {
    if (!session.options().types.empty()) return session.options().types;
    return read_current_config().types;
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

void check_workflow(DefinitionFile& file, Session& session, bool with_lints) {
    const TypeLibrary types = read_types(session);
    try {
        if (auto graph = read_editor_graph(file.text, file.path, types)) {
            file.definition = std::move(*graph);
            file.problems = find_unbound_inputs(file.definition);
            for (const auto& [name, spec] : file.definition.handlers) {
                for (Diagnostic& problem : validate_handler_spec(name, spec)) {
                    file.problems.push_back(std::move(problem));
                }
            }
            return locate_problems(file);
        }
    } catch (const DefinitionError& error) {
        file.problems = error.diagnostics();
        for (Diagnostic& problem : file.problems) problem.file = file.path;
        return;
    }
    source::CheckedText checked = source::check_workflow(
        file.text, {.file = file.path, .types = &types, .with_lints = with_lints}
    );
    file.definition = std::move(checked.definition);
    file.problems = std::move(checked.problems);
}

}  // namespace

DefinitionFile read_text_of(const std::string& path, Session& session) {
    DefinitionFile file{.path = path};
    file.text = path == "-" ? session.streams().read_input() : read_file(path, kFileBytesMax);
    return file;
}

DefinitionFile read_definition_file(const std::string& path, Session& session) {
    DefinitionFile file = read_text_of(path, session);
    check_workflow(file, session, false);
    return file;
}

std::optional<DefinitionFile> check_definition_file(
    DefinitionFile file, Session& session, const DefinitionFileOptions& options
) {
    const source::TextKind kind = source::kind_of(file.path, file.text);
    if (options.only_workflows && kind == source::TextKind::Other) return std::nullopt;
    file.holds_types = kind == source::TextKind::Types;
    if (file.holds_types) {
        file.problems = source::check_types_text(file.text, {.file = file.path}).problems;
        return file;
    }
    check_workflow(file, session, options.with_lints);
    check_types(file, session);
    return file;
}

void check_types(DefinitionFile& file, Session& session) {
    const bool is_valid =
        std::none_of(file.problems.begin(), file.problems.end(), [](const Diagnostic& problem) {
            return problem.severity == Diagnostic::Severity::Error;
        });
    if (session.options().types.empty() || !is_valid) return;
    const TypeLibrary types = read_types(session);
    const std::vector<std::string> names = types.names();
    const std::vector<std::string_view> known(names.begin(), names.end());
    const auto check = [&](const std::string& type, std::string path) {
        // What the steps call of the types has become a part of the definition.
        if (file.definition.handlers.contains(type)) return;
        file.problems.push_back(
            {.code = "unknown_node_type",
             .path = std::move(path),
             .message = fmt::format(
                 "There is no node type {} in the files of --types, nor in handlers:.{}",
                 model::in_quotes(type),
                 model::hint(type, known)
             )}
        );
    };
    const model::Walk walk(file.definition);
    for (const model::Placed& placed : walk.nodes()) {
        const auto* step = std::get_if<Step>(&placed.node->kind);
        if (step == nullptr) continue;
        if (step->handler.empty()) {
            check(placed.node->name, placed.path + "/step");
        } else {
            check(step->handler, placed.path + "/handler");
        }
        if (step->compensate) check(step->compensate->handler, placed.path + "/compensate");
    }
    locate_problems(file);
}

TypeLibrary read_types(const std::vector<std::string>& paths) {
    TypeLibrary types;
    for (const std::string& path : paths) {
        DefinitionFile file{.path = path, .text = read_file(path, kFileBytesMax)};
        file.problems = source::check_types_text(file.text, {.file = path}).problems;
        try {
            if (file.problems.empty()) add_types_yaml(types, file.text, path);
        } catch (const DefinitionError& error) {
            // What an earlier file has already.
            file.problems = error.diagnostics();
        }
        if (!file.problems.empty()) throw InvalidDefinitionFile{std::move(file)};
    }
    return types;
}

TypeLibrary read_types(Session& session) {
    return read_types(type_files(session));
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
