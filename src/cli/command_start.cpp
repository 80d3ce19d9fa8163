#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/compare_commands.h"
#include "cli/definition_file.h"
#include "cli/definition_names.h"
#include "cli/input_argument.h"
#include "cli/known_key.h"
#include "cli/label_argument.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/text.h"
#include "cli/waiting.h"

namespace ebb::cli {

namespace {

/// The name and version to start: of a file, which is registered first, or as given.
struct Target {
    std::string workflow;
    std::optional<int> version;
};

void check_version(const StartCommandOptions& options, const std::string& what, int version) {
    if (!options.version || *options.version == version) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "{} is version {}, not {}; leave --version out, or give the workflow's name.",
            what,
            version,
            *options.version
        )
    );
}

/// Registers the definition of a file.
Target target_of(
    Client& engine, const StartCommandOptions& options, const std::optional<DefinitionFile>& file
) {
    if (!file) {
        std::string name = options.workflow;
        const std::optional<int> version = split_version(name);
        if (!version) return {name, options.version};
        check_version(options, one_line(options.workflow), *version);
        return {name, version};
    }
    check_version(options, file->path, file->definition.version);
    engine.register_workflow(file->definition);
    return {file->definition.name, file->definition.version};
}

/// Says so if a step's handler has no worker while other handlers have one: its name may be
/// misspelled. With no worker alive, the workers will come later.
void note_unserved(Session& session, Client& engine, const Target& target) {
    std::vector<std::string> served;
    for (const WorkerView& worker : engine.workers()) {
        if (!worker.is_alive) continue;
        served.insert(served.end(), worker.handlers.begin(), worker.handlers.end());
    }
    if (served.empty()) return;
    const auto definition = engine.definition(target.workflow, target.version);
    std::set<std::string> lacking;
    for (const auto& [node, facts] : index_nodes(*definition)) {
        if (!facts.handler.empty()) lacking.insert(facts.handler);
    }
    for (const std::string& name : served) lacking.erase(name);
    for (const std::string& name : lacking) {
        const std::string meant = closest(name, served);
        session.note(fmt::format(
            "No worker has the handler \"{}\" now.{}\n",
            one_line(name),
            meant.empty() ? "" : fmt::format(" Did you mean \"{}\"?", one_line(meant))
        ));
    }
}

/// Empty if the workflow is not in a file that can be read again.
std::string text_of_file(const std::string& workflow) {
    if (!names_file(workflow) || workflow == "-") return {};
    return read_file(workflow, DefinitionLimits::kDefinitionBytesMax);
}

}  // namespace

int start_instance(Session& session, const StartCommandOptions& options) {
    Payload input = "null";
    if (!options.input.empty()) {
        input = read_input(options.input, text_of_file(options.workflow), session.streams());
    }
    const Labels labels = read_labels(options.labels);
    std::optional<DefinitionFile> file;
    if (names_file(options.workflow)) file = load_definition_file(options.workflow, session);
    // A database is made only for what can be started.
    Client& engine = session.connect("start", file ? OpenMode::MayCreate : OpenMode::MustExist);
    const Target target = target_of(engine, options, file);
    const StartOptions wanted{
        .version = target.version,
        .key = options.key,
        .priority = options.priority,
        .by = session.by(options.by),
        .labels = labels,
    };
    StartedInstance started;
    try {
        started = engine.start(target.workflow, input, wanted);
    } catch (const Error& error) {
        // The hint of this code names the instance, which does not exist.
        if (error.code() != ErrorCode::InvalidState) throw;
        return complain(
            session,
            {.exit_code = exit_code_of(error.code()),
             .code = to_string(error.code()),
             .message = error.what(),
             .hint = "`--input` gives the attributes with which something can happen"}
        );
    }
    const std::string id = started.id.to_string();
    if (options.waits) {
        if (!session.options().is_json) session.note(id + "\n");
        return wait_for_end(session, engine, started.id, options.timeout);
    }
    if (session.options().is_json) {
        session.print_json({
            {"id", id},
            {"is_new", started.is_new},
            {"has_same_input", started.has_same_input},
            {"has_same_version", started.has_same_version},
            {"workflow", target.workflow},
        });
        return kOk;
    }
    session.print(id + "\n");
    if (started.is_new && names_file(options.workflow)) note_unserved(session, engine, target);
    if (!started.is_new) {
        session.note(fmt::format(
            "The key \"{}\" exists: this is its instance.{}\n",
            one_line(options.key),
            known_key_difference(started)
        ));
    }
    return kOk;
}

}  // namespace ebb::cli
