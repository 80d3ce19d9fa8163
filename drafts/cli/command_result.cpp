// `ebb result` and `ebb rerun`: what came of an instance, and the same once more.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/waiting.h"
#include "view/instance_json.h"

namespace ebb::cli {

int print_result(Session& session, const ResultOptions& options) {
    Engine& engine = session.client("result");
    const InstanceId id = resolve_instance(engine, options.instance);
    const InstanceView view = engine.show(id);
    const InstanceSummary& summary = view.summary;
    if (summary.status == "completed") {
        session.print_json(view::payload_json(view.output));
        return kOk;
    }
    const bool has_ended = summary.finished_at != TimePoint{};
    const std::string error = view.error.empty() ? "" : ": " + failure_text(view.error);
    return complain(
        session,
        {.exit_code = has_ended ? exit_code_of_status(summary.status) : int{kRefused},
         .code = has_ended ? std::string_view(summary.status) : std::string_view("invalid_state"),
         .message = has_ended
                        ? fmt::format("{} has no result{}", short_id(id), error)
                        : fmt::format("{} has no result yet: it is {}.", short_id(id), summary.status),
         .hint = fmt::format(
             "`ebb {} {}{}` {}",
             has_ended ? "show" : "wait",
             short_id(id),
             session.db_option(),
             has_ended ? "shows what happened" : "waits for its end"
         )}
    );
}

int rerun_instance(Session& session, const RerunOptions& options) {
    Engine& engine = session.client("rerun");
    const InstanceId old_id = resolve_instance(engine, options.instance);
    const InstanceView view = engine.show(old_id);
    Payload input = view.input;
    if (!options.input.empty()) input = read_payload(options.input, "--input", session.streams());
    // The key belongs to the old one. The newest version unless one is named: the old one may be
    // what failed.
    const StartedInstance started = engine.start(
        view.summary.workflow,
        std::move(input),
        {.version = options.version,
         .key = options.key,
         .priority = view.summary.priority,
         .by = session.by(options.by)}
    );
    if (options.waits) {
        if (!session.options().is_json) session.note(started.id.to_string() + "\n");
        return wait_for_end(session, engine, started.id, options.timeout);
    }
    if (session.options().is_json) {
        nlohmann::ordered_json json = view::summary_json(*engine.find(started.id));
        json["is_new"] = started.is_new;
        session.print_json(json);
        return kOk;
    }
    session.print(started.id.to_string() + "\n");
    return kOk;
}

}  // namespace ebb::cli
