#include "cli/serving.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/handlers.h>
#include <ebb/log.h>

#include "store/store.h"
#include "store/stored_definition.h"
#include "support/sync.h"

namespace ebb::cli {

namespace {

std::filesystem::path directory_for(
    const std::string& workflow,
    const std::vector<DefinitionFile>& files,
    const std::filesystem::path& other
) {
    for (const DefinitionFile& file : files) {
        if (file.definition.name == workflow) return file.directory();
    }
    return other;
}

/// What was registered after this process had looked at the database.
class LaterHandlers {
 public:
    LaterHandlers(
        Store& store,
        const std::vector<DefinitionFile>& files,
        const ExecPolicy& policy,
        std::filesystem::path other
    )
        : store_(store), policy_(policy), other_(std::move(other)) {
        for (const DefinitionFile& file : files) {
            directories_.try_emplace(file.definition.name, file.directory());
        }
    }

    Payload call(const Payload& input, const StepContext& context) {
        const auto handlers = handlers_of(context.workflow, context.workflow_version);
        if (const Handler* handler = handlers->find(context.handler)) {
            return (*handler)(input, context);
        }
        throw HandlerFailure(
            fmt::format(
                "The workflow {} version {} does not describe its handler \"{}\".",
                context.workflow,
                context.workflow_version,
                context.handler
            ),
            {.code = "handler_not_found"}
        );
    }

 private:
    using Handlers = std::shared_ptr<const HandlerRegistry>;

    Handlers handlers_of(const std::string& workflow, int version) {
        const Lock lock(mutex_);
        Handlers& handlers = known_[{workflow, version}];
        if (handlers == nullptr) handlers = load(workflow, version);
        return handlers;
    }

    Handlers load(const std::string& workflow, int version) const {
        HandlerRegistry handlers;
        if (const auto row = store_.find_workflow(workflow, version)) {
            const Definition definition = stored_definition(*row);
            check_allowed(definition);
            const auto found = directories_.find(workflow);
            const bool is_given = found != directories_.end();
            register_definition_handlers(handlers, definition, is_given ? found->second : other_);
        }
        return std::make_shared<const HandlerRegistry>(std::move(handlers));
    }

    /// GuardedStore leaves such tasks to other workers; this is for those that get past it.
    void check_allowed(const Definition& definition) const {
        const auto refused = policy_.refused(definition);
        if (refused.empty()) return;
        throw HandlerFailure(
            fmt::format(
                "This worker may not run the program of the handler \"{}\" of {} v{}: only the "
                "database names it.",
                refused.front(),
                definition.name,
                definition.version
            ),
            {.code = "exec_not_allowed"}
        );
    }

    Store& store_;
    const ExecPolicy& policy_;
    std::map<std::string, std::filesystem::path> directories_;
    const std::filesystem::path other_;
    Mutex mutex_;
    std::map<std::pair<std::string, int>, Handlers> known_ EBB_GUARDED_BY(mutex_);
};

}  // namespace

ServedWorkflows served_workflows(
    Store& store, const std::vector<DefinitionFile>& files, const std::filesystem::path& other
) {
    ServedWorkflows served;
    for (const DefinitionFile& file : files) {
        served.all.push_back({file.definition, file.directory()});
    }
    for (const WorkflowRow& row : store.list_workflows()) {
        const bool is_given =
            std::any_of(files.begin(), files.end(), [&](const DefinitionFile& file) {
                return file.definition.name == row.name && file.definition.version == row.version;
            });
        if (is_given) continue;
        const auto whole = store.find_workflow(row.name, row.version);
        if (!whole) continue;
        try {
            served.all.push_back({stored_definition(*whole), directory_for(row.name, files, other)}
            );
        } catch (const UnreadableDefinition&) {
            served.unreadable.emplace_back(row.name, row.version);
        }
    }
    return served;
}

void tell_unreadable(Engine& engine, const ServedWorkflows& served) {
    for (const auto& [workflow, version] : served.unreadable) {
        try {
            engine.definition(workflow, version);
        } catch (const UnreadableDefinition&) {
            // The engine has logged it, and does so only once.
        }
    }
}

std::vector<RefusedWorkflow> take_refused(std::vector<Served>& served, const ExecPolicy& policy) {
    std::vector<RefusedWorkflow> refused;
    std::erase_if(served, [&](const Served& one) {
        auto handlers = policy.refused(one.definition);
        if (handlers.empty()) return false;
        refused.push_back({one.definition.name, one.definition.version, std::move(handlers)});
        return true;
    });
    return refused;
}

void report_refused(LogSink& log, const std::vector<RefusedWorkflow>& refused) {
    for (const RefusedWorkflow& workflow : refused) {
        const std::vector<LogField> fields{
            {"workflow", workflow.name},
            {"version", workflow.version},
            {"handlers", fmt::format("{}", fmt::join(workflow.handlers, ","))},
            {"hint", "only the database names these programs: give the file, or --allow-exec"},
        };
        log.write(LogLevel::Warning, "exec_refused", fields);
    }
}

HandlerRegistry handlers_of(
    Store& store,
    const std::vector<Served>& served,
    const std::vector<DefinitionFile>& files,
    const ExecPolicy& policy,
    const std::filesystem::path& other
) {
    std::vector<DefinitionSource> sources;
    std::set<std::pair<std::string, int>> versions;
    for (const Served& one : served) {
        sources.push_back({&one.definition, one.directory});
        versions.emplace(one.definition.name, one.definition.version);
    }
    const auto now = std::make_shared<HandlerRegistry>();
    register_definition_handlers(*now, sources);

    const auto later = std::make_shared<LaterHandlers>(store, files, policy, other);
    HandlerRegistry registry;
    for (const std::string& name : now->names()) {
        registry.add_raw(
            name,
            [now, later, versions, handler = now->find(name)](
                const Payload& input, const StepContext& context
            ) {
                const bool is_later =
                    !versions.contains({context.workflow, context.workflow_version});
                return is_later ? later->call(input, context) : (*handler)(input, context);
            }
        );
    }
    return registry;
}

}  // namespace ebb::cli
