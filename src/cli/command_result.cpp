// `ebb result` and `ebb rerun`: what an instance returned, and the same work once more.

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

namespace {

int report_no_result(Session& session, const InstanceView& view) {
    const InstanceSummary& summary = view.summary;
    const std::string id = short_id(summary.id);
    const std::string_view status = to_string(summary.status);
    // Without an operator's act it will not have one.
    const bool is_stuck = summary.status == InstanceStatus::DeadLetter;
    if (!is_terminal(summary.status) && !is_stuck) {
        return complain(
            session,
            {.exit_code = kRefused,
             .code = to_string(ErrorCode::InvalidState),
             .message = fmt::format("{} has no result yet: it is {}.", id, status),
             .hint = fmt::format("`ebb wait {}{}` waits for its end", id, session.db_option())}
        );
    }
    const std::string of = id + session.db_option();
    std::string hint = fmt::format("`ebb show {}` shows what happened", of);
    if (is_stuck) hint += fmt::format("; `ebb requeue {}` continues it", of);
    return complain(
        session,
        {.exit_code = exit_code_of_status(summary.status),
         .code = status,
         .message = view.error.empty() ? fmt::format("{} has no result: it is {}.", id, status)
                                       : cause_text(view.error),
         .hint = hint}
    );
}

}  // namespace

int print_result(Session& session, const ResultOptions& options) {
    Client& engine = session.connect("result");
    const InstanceView view = engine.show(resolve_instance(engine, options.instance));
    if (view.summary.status != InstanceStatus::Completed) return report_no_result(session, view);
    session.print_json(view::payload_json(view.output));
    return kOk;
}

int rerun_instance(Session& session, const RerunOptions& options) {
    Client& engine = session.connect("rerun");
    const InstanceView view = engine.show(resolve_instance(engine, options.instance));
    Payload input = view.input;
    if (!options.input.empty()) input = read_payload(options.input, "--input", session.streams());
    // The newest version unless one is named: the old one may be what failed. The key stays with
    // the old instance.
    const StartedInstance started = engine.start(
        view.summary.workflow,
        input,
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
