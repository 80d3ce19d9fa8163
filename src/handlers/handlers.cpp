#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/handlers.h>

#include "handlers/exec_handler.h"
#include "handlers/http_handler.h"
#include "handlers/spec.h"
#include "handlers/unbound.h"

namespace ebb {

namespace {

struct HandlerMaker {
    const std::string& name;

    Handler operator()(std::monostate) const { return {}; }

    Handler operator()(ExecSpec spec) const { return make_exec_handler(name, std::move(spec)); }

    Handler operator()(HttpSpec spec) const { return make_http_handler(name, std::move(spec)); }
};

struct Made {
    Handler handler;  ///< null if the entry has problems, or only a contract
    Duration grace{0};
};

Duration grace_of(const HandlerSpec& spec) {
    const auto* exec = std::get_if<ExecSpec>(&spec);
    return exec == nullptr ? Duration::zero() : exec->grace;
}

Made try_make(
    const std::string& name,
    const Payload& spec,
    const std::filesystem::path& base_directory,
    std::vector<Diagnostic>& problems
) {
    // Absolute now: the process may change its directory before the handler runs.
    const auto base = std::filesystem::absolute(base_directory);
    HandlerEntry entry = parse_handler_spec(name, spec, base, problems);
    Made made{.handler = {}, .grace = grace_of(entry.spec)};
    made.handler = std::visit(HandlerMaker{name}, std::move(entry.spec));
    if (made.handler) {
        made.handler = with_contract(name, std::move(made.handler), entry.contract);
    }
    return made;
}

/// The handlers of one name, by the workflow and version that they belong to.
using Versions = std::map<std::pair<std::string, int>, Handler>;

Handler dispatch(const std::string& name, Versions versions) {
    return [name, shared = std::make_shared<const Versions>(std::move(versions))](
               const Payload& input, const StepContext& context
           ) {
        const auto found = shared->find({context.workflow, context.workflow_version});
        if (found != shared->end()) return found->second(input, context);
        throw HandlerFailure(
            fmt::format(
                "This process has no handler \"{}\" of the workflow {} version {}.",
                name,
                context.workflow,
                context.workflow_version
            ),
            {.code = "handler_not_found"}
        );
    };
}

}  // namespace

std::vector<Diagnostic> validate_handler_spec(const std::string& name, const Payload& spec) {
    std::vector<Diagnostic> problems;
    parse_handler_spec(name, spec, {}, problems);
    if (problems.empty()) check_fields(name, Json::parse(spec), problems);
    return problems;
}

Handler make_handler(
    const std::string& name, const Payload& spec, const std::filesystem::path& base_directory
) {
    std::vector<Diagnostic> problems;
    Handler handler = try_make(name, spec, base_directory, problems).handler;
    if (problems.empty() && !handler) {
        problems.push_back(
            {.code = "missing_key",
             .path = "/handlers/" + name,
             .message = "This entry has neither \"exec\" nor \"http\": the application must "
                        "register the handler."}
        );
    }
    if (!problems.empty()) throw DefinitionError(std::move(problems));
    return handler;
}

void register_definition_handlers(
    HandlerRegistry& registry,
    const Definition& definition,
    const std::filesystem::path& base_directory
) {
    std::vector<Diagnostic> problems = find_unbound_inputs(definition);
    std::map<std::string, Made> made;
    for (const auto& [name, spec] : definition.handlers) {
        made[name] = try_make(name, spec, base_directory, problems);
    }
    if (!problems.empty()) throw DefinitionError(std::move(problems));
    for (auto& [name, each] : made) {
        if (!each.handler) continue;
        registry.add_raw(name, std::move(each.handler)).set_grace(name, each.grace);
    }
}

void register_definition_handlers(
    HandlerRegistry& registry, const std::vector<DefinitionSource>& sources
) {
    std::vector<Diagnostic> problems;
    std::map<std::string, Versions> made;
    std::map<std::string, Duration> graces;
    for (const DefinitionSource& source : sources) {
        const Definition& definition = *source.definition;
        const std::vector<Diagnostic> unbound = find_unbound_inputs(definition);
        problems.insert(problems.end(), unbound.begin(), unbound.end());
        for (const auto& [name, spec] : definition.handlers) {
            Made each = try_make(name, spec, source.base_directory, problems);
            if (!each.handler) continue;
            made[name][{definition.name, definition.version}] = std::move(each.handler);
            graces[name] = std::max(graces[name], each.grace);
        }
    }
    if (!problems.empty()) throw DefinitionError(std::move(problems));
    for (auto& [name, versions] : made) {
        registry.add_raw(name, dispatch(name, std::move(versions))).set_grace(name, graces[name]);
    }
}

}  // namespace ebb
