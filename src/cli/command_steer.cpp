// What operators, people and other systems do to an instance.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/instance_ref.h"
#include "cli/payload_argument.h"
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

/// A request that finds nothing to do is no error, as when it is repeated.
int tell_nothing(
    Session& session,
    Engine& engine,
    const InstanceId& id,
    std::string_view nothing,
    std::string_view state
) {
    return tell(
        session, engine, id, fmt::format("{}: {} was not {}", nothing, id.to_string(), state)
    );
}

}  // namespace

int cancel_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("cancel");
    const InstanceId id = resolve_instance(engine, options.instance);
    engine.cancel(id, session.by(options.by), options.reason);
    return confirm(session, engine, id, "Cancelled");
}

int abort_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("abort");
    const InstanceId id = resolve_instance(engine, options.instance);
    engine.abort(id, session.by(options.by), options.reason);
    return confirm(session, engine, id, "Aborted");
}

int pause_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("pause");
    const InstanceId id = resolve_instance(engine, options.instance);
    engine.pause(id, session.by(options.by), options.reason);
    return confirm(session, engine, id, "Paused");
}

int resume_instance(Session& session, const SteerOptions& options) {
    Engine& engine = session.client("resume");
    const InstanceId id = resolve_instance(engine, options.instance);
    const bool was_paused = engine.resume(id, session.by(options.by));
    if (!was_paused)
        return tell_nothing(session, engine, id, "There is nothing to resume", "paused");
    return confirm(session, engine, id, "Resumed");
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
    const InstanceId id = resolve_instance(engine, options.instance);
    const bool was_dead = engine.requeue(id, request);
    if (!was_dead) {
        return tell_nothing(session, engine, id, "There is nothing to requeue", "dead-lettered");
    }
    return confirm(session, engine, id, "Requeued");
}

}  // namespace ebb::cli
