// `ebb export` and `ebb import`: an instance moves between the database and a file.

#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/definition_file.h"
#include "cli/instance_ref.h"
#include "cli/output_file.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/text.h"
#include "support/terminal.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kSnapshotBytesMax = std::size_t{64} << 20;

/// The instance is moved already, and its snapshot is nowhere but in the database.
int tell_unwritten(
    Session& session, const InstanceId& id, ExitCode exit_code, const std::string& what
) {
    const std::string message = fmt::format(
        "{} The instance {} is moved: it goes on from its snapshot only.", what, id.to_string()
    );
    const std::string hint = fmt::format(
        "`ebb export {0}{1}` prints the snapshot again, as often as you like; `ebb export {0}{1} | "
        "ebb import -{1}` lets it go on here",
        id.to_string(),
        session.db_option()
    );
    return complain(
        session, {.exit_code = exit_code, .code = "output", .message = message, .hint = hint}
    );
}

}  // namespace

int export_instance(Session& session, const ExportCommandOptions& options) {
    Engine& engine = session.client("export");
    const InstanceId id = resolve_instance(engine, options.instance);
    // Opened first: an instance whose snapshot has nowhere to go must not be moved.
    std::optional<OutputFile> file;
    if (!options.output.empty()) file.emplace(options.output, OutputFile::Readers::Owner);
    const std::string text =
        engine.export_instance(id, {.wait = options.wait, .by = session.by(options.by)}) + "\n";
    try {
        if (file) {
            file->write(text);
        } else {
            session.print(terminal_json(text));
        }
    } catch (const OutputClosed&) {
        return tell_unwritten(session, id, kOutputClosed, "Nobody read the snapshot.");
    } catch (const std::system_error& error) {
        return tell_unwritten(session, id, kOutput, fmt::format("{}.", error.what()));
    }
    if (file)
        session.note(fmt::format("Moved {} to {}\n", id.to_string(), one_line(options.output)));
    return kOk;
}

int import_snapshot(Session& session, const ImportCommandOptions& options) {
    const std::string text = options.file == "-" ? session.streams().read_input()
                                                 : read_file(options.file, kSnapshotBytesMax);
    const bool may_create = !options.workflow.empty();
    session.shared_store("import", may_create ? OpenMode::MayCreate : OpenMode::MustExist);
    Engine& engine = session.client("import");
    if (may_create) {
        engine.register_workflow(load_definition_file(options.workflow, session).definition);
    }
    const ImportedInstance imported = engine.import_snapshot(text, {.by = session.by(options.by)});
    const std::string id = imported.id.to_string();
    if (session.options().is_json) {
        session.print_json({{"id", id}, {"is_new", imported.is_new}});
        return kOk;
    }
    session.print(id + "\n");
    if (!imported.is_new) session.note("This snapshot had been imported before.\n");
    return kOk;
}

}  // namespace ebb::cli
