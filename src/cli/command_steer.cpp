// What operators, people and other systems do to an instance.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/definition_names.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
#include "cli/report.h"
#include "cli/text.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

/// Says how the instance stands now: the document of `--json`, or one line on stderr that begins
/// with `what`.
int tell(Session& session, Engine& engine, const InstanceId& id, const std::string& what) {
    const auto summary = engine.find(id);
    if (!summary) return kOk;
    if (session.options().is_json) {
        session.print_json(view::summary_json(*summary));
        return kOk;
    }
    session.note(fmt::format("{}; it is {} now.\n", what, session.err().status(summary->status)));
    return kOk;
}

int confirm(Session& session, Engine& engine, const InstanceId& id, std::string_view done) {
    return tell(session, engine, id, fmt::format("{} {}", done, id.to_string()));
}

/// Does something to each instance. One that refuses does not keep the others from it: each error
/// is reported, and the first one decides the exit code.
template <typename Act>
int steer_each(Session& session, Engine& engine, const std::vector<std::string>& names, Act act) {
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

std::string done(std::string_view what, const InstanceId& id) {
    return fmt::format("{} {}", what, id.to_string());
}

/// A request that finds nothing to do is not an error, as when it is repeated.
std::string nothing(std::string_view what, const InstanceId& id, std::string_view state) {
    return fmt::format("There is nothing to {}: {} was not {}", what, id.to_string(), state);
}

/// Refuses a signal that no node of the workflow will ever wait for: its name is misspelled.
void check_signal(Engine& engine, const InstanceId& id, const std::string& name) {
    const auto summary = engine.find(id);
    if (!summary) return;
    std::vector<std::string> known;
    const auto definition = engine.definition(summary->workflow, summary->version);
    for (const auto& [node, facts] : index_nodes(*definition)) {
        // A step that pauses waits for a signal with the step's name.
        if (node == name || facts.signal == name) return;
        if (!facts.signal.empty()) known.push_back(fmt::format("\"{}\"", facts.signal));
    }
    const std::string meant = closest(fmt::format("\"{}\"", name), known);
    std::string hint = " This workflow waits for no signals.";
    if (!known.empty()) hint = fmt::format(" It waits for {}.", fmt::join(known, ", "));
    if (!meant.empty()) hint = fmt::format(" Did you mean {}?", meant);
    throw Error(
        ErrorCode::NotWaiting,
        fmt::format(
            "No node of {} v{} waits for the signal \"{}\".{}",
            summary->workflow,
            summary->version,
            one_line(name),
            hint
        )
    );
}

}  // namespace

int cancel_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("cancel");
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        engine.cancel(id, session.by(options.by), options.reason);
        return done("Cancelled", id);
    });
}

int abort_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("abort");
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        engine.abort(id, session.by(options.by), options.reason);
        return done("Aborted", id);
    });
}

int pause_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("pause");
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        engine.pause(id, session.by(options.by), options.reason);
        return done("Paused", id);
    });
}

int resume_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("resume");
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool was_paused = engine.resume(id, session.by(options.by));
        return was_paused ? done("Resumed", id) : nothing("resume", id, "paused");
    });
}

int decide_instance(Session& session, const DecideOptions& options) {
    Engine& engine = session.client("decide");
    const InstanceId id = resolve_instance(engine, options.instance);
    const bool is_confirmed = options.verdict == "confirm";
    using Verdict = PersonalDecision::Verdict;
    engine.decide(
        id,
        {
            .verdict = is_confirmed ? Verdict::Confirm : Verdict::Reject,
            .node = options.node,
            .by = session.by(options.by),
            .role = options.role,
            .comment = options.comment,
            .request_id = options.request_id,
        }
    );
    return confirm(session, engine, id, is_confirmed ? "Confirmed" : "Rejected");
}

int signal_instance(Session& session, const SignalOptions& options) {
    Payload payload = "null";
    if (!options.payload.empty()) {
        payload = read_payload(options.payload, "--payload", session.streams());
    }
    Engine& engine = session.client("signal");
    const InstanceId id = resolve_instance(engine, options.instance);
    check_signal(engine, id, options.name);
    engine.signal(id, options.name, std::move(payload), options.request_id);
    return confirm(session, engine, id, fmt::format("Sent the signal \"{}\" to", options.name));
}

int requeue_instance(Session& session, const RequeueCommandOptions& options) {
    RequeueOptions request{
        .skip_compensation = options.skip_compensation,
        .by = session.by(options.by),
    };
    if (!options.input.empty()) {
        request.new_input = read_payload(options.input, "--input", session.streams());
    }
    Engine& engine = session.client("requeue");
    return steer_each(session, engine, options.instances, [&](const InstanceId& id) {
        const bool was_dead = engine.requeue(id, request);
        return was_dead ? done("Requeued", id) : nothing("requeue", id, "dead-lettered");
    });
}

}  // namespace ebb::cli
