// What operators, people and other systems do to an instance.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/bulk.h"
#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/recovery_plan_text.h"
#include "cli/report.h"
#include "cli/text.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

/// Prints the present state of the instance: the document of `--json`, or one line on stderr that
/// begins with `what`.
int tell(Session& session, Client& engine, const InstanceId& id, const std::string& what) {
    const auto summary = engine.find(id);
    if (!summary) return kOk;
    if (session.options().is_json) {
        session.print_json(view::summary_json(*summary));
        return kOk;
    }
    session.note(
        fmt::format("{}; its status is now {}.\n", what, session.err().status(summary->status))
    );
    return kOk;
}

int confirm(Session& session, Client& engine, const InstanceId& id, std::string_view done) {
    return tell(session, engine, id, fmt::format("{} {}", done, id.to_string()));
}

/// What cancel, abort, pause and resume ask for.
RequestOptions request_of(const Session& session, const SteerOptions& options) {
    return {
        .by = session.by(options.by),
        .reason = options.reason,
        .expected_revision = options.if_revision,
    };
}

void check_if_revision(
    const std::vector<std::string>& instances, const std::optional<std::int64_t>& revision
) {
    if (!revision || instances.size() == 1) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("--if-revision is for one instance, not for {}.", instances.size())
    );
}

/// Does something to each instance. One that refuses does not keep the others from it: each error
/// is reported, and the first one decides the exit code.
template <typename Act>
int steer_each(Session& session, Client& engine, const std::vector<std::string>& names, Act act) {
    const std::vector<InstanceId> ids = resolve_instances(engine, names);
    if (ids.size() == 1) {
        const std::string what = act(ids.front());
        return tell(session, engine, ids.front(), what);
    }
    int code = kOk;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const InstanceId& id : ids) {
        try {
            const std::string what = act(id);
            const auto summary = engine.find(id);
            if (session.options().is_json && summary) all.push_back(view::summary_json(*summary));
            if (!session.options().is_json) tell(session, engine, id, what);
        } catch (const Error& error) {
            if (error.is_transient()) throw;
            const int failed = report_failure(session, std::current_exception());
            if (code == kOk) code = failed;
        }
    }
    if (session.options().is_json) session.print_json(all);
    return code;
}

int steer_all(Session& session, Client& engine, const SteerOptions& options, BulkVerb verb) {
    verb.by = session.by(options.by);
    verb.reason = options.reason;
    return run_bulk(session, engine, options.bulk, verb);
}

std::string done(std::string_view what, const InstanceId& id) {
    return fmt::format("{} {}", what, id.to_string());
}

/// A request that finds nothing to do is not an error, as when it is repeated.
std::string already(std::string_view state, const InstanceId& id) {
    return fmt::format("Nothing has changed: {} was already {}", id.to_string(), state);
}

std::string nothing(std::string_view what, const InstanceId& id, std::string_view state) {
    return fmt::format("There is nothing to {}: {} was not {}", what, id.to_string(), state);
}

}  // namespace

int cancel_instance(Session& session, const SteerOptions& options) {
    check_if_revision(options.instances, options.if_revision);
    check_named(options.instances, options.bulk, "cancel");
    Client& engine = session.connect("cancel");
    if (!options.bulk.where.empty()) {
        const auto act = [&](const InstanceId& id) {
            return engine.cancel(id, request_of(session, options));
        };
        return steer_all(session, engine, options, {"cancel", "Cancelled", act});
    }
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool has_changed = engine.cancel(id, request_of(session, options));
        return has_changed ? done("Cancelled", id) : already("cancelled", id);
    });
}

int abort_instance(Session& session, const SteerOptions& options) {
    check_if_revision(options.instances, options.if_revision);
    check_named(options.instances, options.bulk, "abort");
    Client& engine = session.connect("abort");
    if (!options.bulk.where.empty()) {
        const auto act = [&](const InstanceId& id) {
            return engine.abort(id, request_of(session, options));
        };
        return steer_all(session, engine, options, {"abort", "Aborted", act});
    }
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool has_changed = engine.abort(id, request_of(session, options));
        return has_changed ? done("Aborted", id) : already("aborted", id);
    });
}

int pause_instance(Session& session, const SteerOptions& options) {
    check_if_revision(options.instances, options.if_revision);
    check_named(options.instances, options.bulk, "pause");
    Client& engine = session.connect("pause");
    if (!options.bulk.where.empty()) {
        const auto act = [&](const InstanceId& id) {
            return engine.pause(id, request_of(session, options));
        };
        return steer_all(session, engine, options, {"pause", "Paused", act});
    }
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool has_changed = engine.pause(id, request_of(session, options));
        return has_changed ? done("Paused", id) : already("paused", id);
    });
}

int resume_instance(Session& session, const SteerOptions& options) {
    check_if_revision(options.instances, options.if_revision);
    check_named(options.instances, options.bulk, "resume");
    Client& engine = session.connect("resume");
    if (!options.bulk.where.empty()) {
        const auto act = [&](const InstanceId& id) {
            return engine.resume(id, request_of(session, options));
        };
        return steer_all(session, engine, options, {"resume", "Resumed", act});
    }
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool was_paused = engine.resume(id, request_of(session, options));
        return was_paused ? done("Resumed", id) : nothing("resume", id, "paused");
    });
}

int rematch_instance(Session& session, const SteerOptions& options) {
    check_if_revision(options.instances, options.if_revision);
    check_named(options.instances, options.bulk, "rematch");
    Client& engine = session.connect("rematch");
    const auto rematch = [&](const InstanceId& id) {
        return engine.write(
            id,
            Payload("null"),
            {.is_repair = true,
             .by = session.by(options.by),
             .request_id = {},
             .expected_revision = options.if_revision}
        );
    };
    if (!options.bulk.where.empty()) {
        return steer_all(
            session, engine, options, {"rematch", "Checked all conditions of", rematch}
        );
    }
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        return rematch(id) ? done("Checked all conditions of", id)
                           : fmt::format("Nothing new fires in {}", id.to_string());
    });
}

int decide_instance(Session& session, const DecideOptions& options) {
    Client& engine = session.connect("decide");
    const InstanceId id = resolve_instance(engine, options.instance);
    const bool is_confirmed = options.verdict == "confirm";
    using Verdict = PersonalDecision::Verdict;
    const bool has_changed = engine.decide(
        id,
        {
            .verdict = is_confirmed ? Verdict::Confirm : Verdict::Reject,
            .node = options.node,
            .by = session.by(options.by),
            .role = options.role,
            .comment = options.comment,
            .request_id = options.request_id,
            .expected_revision = options.if_revision,
        }
    );
    const std::string_view what = is_confirmed ? "confirmed" : "rejected";
    if (!has_changed) {
        const std::string by = session.by(options.by);
        // Over the API, only the server knows who it is.
        const std::string already = fmt::format(
            "Nothing has changed: {} had already {}", by.empty() ? "the same person" : by, what
        );
        return tell(session, engine, id, fmt::format("{} {}", already, id.to_string()));
    }
    return confirm(session, engine, id, is_confirmed ? "Confirmed" : "Rejected");
}

int signal_instance(Session& session, const SignalOptions& options) {
    Payload payload = "null";
    if (!options.payload.empty()) {
        payload = read_payload(options.payload, "--payload", session.streams());
    }
    Client& engine = session.connect("signal");
    const InstanceId id = resolve_instance(engine, options.instance);
    engine.signal(
        id,
        options.name,
        payload,
        {.by = session.by(options.by),
         .request_id = options.request_id,
         .expected_revision = options.if_revision}
    );
    return confirm(session, engine, id, fmt::format("Sent the signal \"{}\" to", options.name));
}

int recover_instance(Session& session, const RecoverCommandOptions& options) {
    using enum RecoverOptions::Then;
    Client& engine = session.connect("recover");
    const InstanceId id = resolve_instance(engine, options.instance);
    if (options.is_dry_run) {
        return print_recovery_plan(session, engine, id, options);
    }
    engine.recover(
        id,
        options.to,
        {.then = options.then == "stop" ? Stop : Rematch,
         .by = session.by(options.by),
         .request_id = options.request_id,
         .expected_revision = options.if_revision}
    );
    return tell(
        session,
        engine,
        id,
        fmt::format("Taking {} back to the event {}", id.to_string(), options.to)
    );
}

namespace {

/// Requeues the dead-lettered instances of a group, page by page. What leaves dead letter leaves
/// the group, and what has failed again is behind the page, so each is tried once.
int requeue_group(
    Session& session, Client& engine, const std::string& group, const RequeueOptions& request
) {
    FailureQuery query{
        .group = group,
        .statuses = {InstanceStatus::DeadLetter},
        .limit = FailureQuery::kLimitMax,
    };
    int code = kOk;
    std::int64_t requeued = 0;
    for (auto page = engine.failed_instances(query); !page.empty();
         page = engine.failed_instances(query)) {
        for (const FailedInstance& failed : page) {
            try {
                requeued += engine.requeue(failed.instance, request) ? 1 : 0;
            } catch (const Error& error) {
                if (error.is_transient()) throw;
                const int reported = report_failure(session, std::current_exception());
                if (code == kOk) code = reported;
            }
        }
        query.after = page.back().place();
    }
    if (session.options().is_json) {
        session.print_json({{"group", group}, {"requeued", requeued}});
    } else {
        session.note(fmt::format(
            "Requeued {} of the group {}.\n",
            requeued == 1 ? "1 instance" : fmt::format("{} instances", requeued),
            one_line(group)
        ));
    }
    return code;
}

}  // namespace

int requeue_instance(Session& session, const RequeueCommandOptions& options) {
    if (options.instances.empty() && options.group.empty() && options.bulk.where.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "Name the instances to requeue, their group (--group GROUP, see `ebb failures`), or a "
            "filter that finds them: --where FILTER."
        );
    }
    const bool is_named = options.group.empty() && options.bulk.where.empty();
    if (is_named || options.if_revision) {
        check_if_revision(options.instances, options.if_revision);
    }
    RequeueOptions request{
        .skip_compensation = options.skip_compensation,
        .by = session.by(options.by),
        .expected_revision = options.if_revision,
    };
    if (!options.input.empty()) {
        request.new_input = read_payload(options.input, "--input", session.streams());
    }
    Client& engine = session.connect("requeue");
    if (!options.bulk.where.empty()) {
        const auto act = [&](const InstanceId& id) { return engine.requeue(id, request); };
        if (options.bulk.is_detached && (request.new_input || request.skip_compensation)) {
            throw Error(
                ErrorCode::InvalidArgument,
                "--detach cannot be used with --input or --skip-compensation: a server requeues "
                "instances as they are."
            );
        }
        const BulkVerb verb{"requeue", "Requeued", act, request.by};
        return run_bulk(session, engine, options.bulk, verb);
    }
    if (!options.group.empty()) return requeue_group(session, engine, options.group, request);
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool was_dead = engine.requeue(id, request);
        return was_dead ? done("Requeued", id) : nothing("requeue", id, "dead-lettered");
    });
}

}  // namespace ebb::cli
