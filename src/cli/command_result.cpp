// `ebb result` and `ebb rerun`: what an instance returned, and the same work once more.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bulk.h"
#include "cli/commands.h"
#include "cli/failure_text.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/waiting.h"
#include "engine/rerun.h"
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

/// Starts the work of each instance once, however often the command is repeated.
int rerun_all(Session& session, Client& engine, const RerunOptions& options) {
    const std::string by = session.by(options.by);
    const auto act = [&](const InstanceId& id) {
        if (const auto summary = engine.find(id)) {
            engine::check_rerun(summary->status, engine::RerunScope::Many);
        }
        return engine.rerun(id, {.key = engine::rerun_key(id), .by = by}).is_new;
    };
    return run_bulk(session, engine, options.bulk, {"rerun", "Rerun", act, by});
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
    if (options.instance.empty()) {
        check_named({}, options.bulk, "rerun");
        return rerun_all(session, session.connect("rerun"), options);
    }
    Client& engine = session.connect("rerun");
    engine::RerunRequest request{
        .version = options.version, .key = options.key, .by = session.by(options.by)
    };
    if (!options.input.empty()) {
        request.input = read_payload(options.input, "--input", session.streams());
    }
    const StartedInstance started =
        engine.rerun(resolve_instance(engine, options.instance), request);
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
