#include "cli/serving.h"

#include <algorithm>
#include <filesystem>

#include <ebb/handlers.h>

#include "store/store.h"

namespace ebb::cli {

namespace {

std::filesystem::path directory_for(
    const std::string& workflow, const std::vector<DefinitionFile>& files
) {
    for (const DefinitionFile& file : files) {
        if (file.definition.name == workflow) return file.directory();
    }
    return std::filesystem::current_path();
}

}  // namespace

std::vector<Served> served_workflows(Store& store, const std::vector<DefinitionFile>& files) {
    std::vector<Served> served;
    for (const DefinitionFile& file : files) served.push_back({file.definition, file.directory()});
    for (const WorkflowRow& row : store.list_workflows()) {
        const bool is_given =
            std::any_of(files.begin(), files.end(), [&](const DefinitionFile& file) {
                return file.definition.name == row.name && file.definition.version == row.version;
            });
        if (is_given) continue;
        const auto whole = store.find_workflow(row.name, row.version);
        if (!whole) continue;
        served.push_back({parse_definition_json(whole->definition), directory_for(row.name, files)}
        );
    }
    return served;
}

HandlerRegistry handlers_of(const std::vector<Served>& served) {
    std::vector<DefinitionSource> sources;
    for (const Served& one : served) sources.push_back({&one.definition, one.directory});
    HandlerRegistry registry;
    register_definition_handlers(registry, sources);
    return registry;
}

}  // namespace ebb::cli
