// `ebb export` and `ebb import`: move an instance between the database and a file.

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

/// The instance is already moved, and only the database has its snapshot.
int tell_unwritten(
    Session& session, const InstanceId& id, ExitCode exit_code, const std::string& what
) {
    const std::string message = fmt::format(
        "{} The instance {} is moved: it continues only from its snapshot.", what, id.to_string()
    );
    const std::string hint = fmt::format(
        "`ebb export {0}{1}` prints the snapshot again, as often as you like; `ebb export {0}{1} | "
        "ebb import -{1}` continues it here",
        id.to_string(),
        session.db_option()
    );
    return complain(
        session, {.exit_code = exit_code, .code = "output", .message = message, .hint = hint}
    );
}

}  // namespace

int export_instance(Session& session, const ExportCommandOptions& options) {
    Client& engine = session.connect("export");
    const InstanceId id = resolve_instance(engine, options.instance);
    // Open the file first: an instance must not be moved if its snapshot cannot be written.
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
        return tell_unwritten(
            session, id, kOutputClosed, "The output was closed before the snapshot was written."
        );
    } catch (const std::system_error& error) {
        return tell_unwritten(session, id, kOutput, fmt::format("{}.", error.what()));
    }
    if (file)
        session.note(fmt::format("Moved {} to {}\n", id.to_string(), one_line(options.output)));
    return kOk;
}

namespace {

ImportedInstance imported_from(
    Session& session, Client& engine, const std::string& text, const ImportCommandOptions& options
) {
    try {
        return engine.import_snapshot(text, {.by = session.by(options.by)});
    } catch (const Error& error) {
        if (error.code() != ErrorCode::InvalidPayload) throw;
        const std::string file = options.file == "-" ? "The input" : one_line(options.file);
        throw Error(error.code(), fmt::format("{} cannot be imported: {}", file, error.what()));
    }
}

}  // namespace

int import_snapshot(Session& session, const ImportCommandOptions& options) {
    const std::string text = options.file == "-" ? session.streams().read_input()
                                                 : read_file(options.file, kSnapshotBytesMax);
    const bool may_create = !options.workflow.empty();
    const OpenMode mode = may_create ? OpenMode::MayCreate : OpenMode::MustExist;
    Client& engine = session.connect("import", mode);
    if (may_create) {
        engine.register_workflow(load_definition_file(options.workflow, session).definition);
    }
    const ImportedInstance imported = imported_from(session, engine, text, options);
    const std::string id = imported.id.to_string();
    if (session.options().is_json) {
        session.print_json({{"id", id}, {"is_new", imported.is_new}});
        return kOk;
    }
    session.print(id + "\n");
    if (!imported.is_new) session.note("This snapshot was already imported.\n");
    return kOk;
}

}  // namespace ebb::cli
