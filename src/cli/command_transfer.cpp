// `ebb export` and `ebb import`: an instance moves between the database and a file.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/definition_file.h"
#include "cli/instance_ref.h"
#include "cli/output_file.h"
#include "cli/payload_argument.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kSnapshotBytesMax = std::size_t{64} << 20;

}  // namespace

int export_instance(Session& session, const ExportCommandOptions& options) {
    Engine& engine = session.client("export");
    const InstanceId id = resolve_instance(engine, options.instance);
    const std::string text =
        engine.export_instance(id, {.wait = options.wait, .by = session.by(options.by)});
    if (options.output.empty()) {
        session.print(text + "\n");
        return kOk;
    }
    write_file(options.output, text + "\n");
    session.note(fmt::format("Moved {} to {}\n", id.to_string(), options.output));
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
