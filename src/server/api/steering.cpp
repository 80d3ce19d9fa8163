// Routes that act on one instance.

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "call/event_view.h"
#include "core/kernel/event_author.h"
#include "server/api/body.h"
#include "server/api/payloads.h"
#include "server/api/reserved_key.h"
#include "server/api/service.h"
#include "view/instance_json.h"

namespace ebb::server {

namespace {

constexpr std::size_t kReasonBytesMax = 1'024;
constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kRequestIdBytesMax = 128;
/// What a refused If-Match shows of what has happened.
constexpr int kNewestEvents = 5;

std::optional<std::int64_t> expected_revision(const Call& call) {
    const std::string_view tag = call.request.header("If-Match");
    if (tag.empty() || tag == "*") return std::nullopt;
    std::int64_t revision = 0;
    const char* last = tag.data() + tag.size() - 1;
    const bool is_quoted = tag.size() > 2 && tag.front() == '"' && tag.back() == '"';
    const auto [end, error] =
        is_quoted ? std::from_chars(tag.data() + 1, last, revision) : std::from_chars_result{};
    if (end != last) {
        throw Problem("invalid_argument", "If-Match is not a revision in quotes, such as \"17\".");
    }
    if (error == std::errc()) return revision;
    throw Problem(
        "invalid_argument",
        fmt::format(
            "The revision in If-Match is not a number up to {}.",
            std::numeric_limits<std::int64_t>::max()
        )
    );
}

/// The act and what it needs.
struct Steering {
    Service& service;
    Call& call;
    InstanceId id;
    Body body;
    RequestOptions options{};
};

/// Whether anything has changed, where the act can tell.
using Acted = std::optional<bool>;
using Act = Acted (*)(Steering&);

Acted cancel(Steering& steer) {
    steer.options.reason = steer.body.text("reason", kReasonBytesMax).value_or("");
    steer.body.check_all_used();
    return steer.service.engine.cancel(steer.id, steer.options);
}

Acted abort(Steering& steer) {
    steer.options.reason = steer.body.text("reason", kReasonBytesMax).value_or("");
    steer.body.check_all_used();
    return steer.service.engine.abort(steer.id, steer.options);
}

Acted pause(Steering& steer) {
    steer.options.reason = steer.body.text("reason", kReasonBytesMax).value_or("");
    steer.body.check_all_used();
    return steer.service.engine.pause(steer.id, steer.options);
}

Acted resume(Steering& steer) {
    steer.body.check_all_used();
    return steer.service.engine.resume(steer.id, steer.options);
}

Acted requeue(Steering& steer) {
    RequeueOptions options{
        .new_input = steer.body.payload("input"),
        .skip_compensation = steer.body.boolean("skip_compensation", false),
        .by = steer.options.by,
        .expected_revision = steer.options.expected_revision,
    };
    steer.body.check_all_used();
    return steer.service.engine.requeue(steer.id, options);
}

std::string request_id(Steering& steer) {
    auto given = steer.body.text("request_id", kRequestIdBytesMax);
    if (given) return std::move(*given);
    return idempotency_key(steer.call);
}

/// The role in which the principal decides. If the request names none, it is the only one in which
/// the principal may make this decision.
std::string decision_role(Steering& steer, const PersonalDecision& decision) {
    const auto limited = steer.call.principal.decision_roles(steer.call.workflow);
    const std::vector<std::string> granted = limited.value_or(std::vector<std::string>());
    const auto is_granted = [&](const std::string& role) {
        return !limited || std::find(granted.begin(), granted.end(), role) != granted.end();
    };
    std::vector<std::string> roles = granted;
    if (!decision.role.empty() && is_granted(decision.role)) return decision.role;
    if (decision.role.empty()) {
        roles = awaited_roles(steer.service, steer.id, decision.node);
        // Every role may decide, or the engine says why none can.
        if (roles.empty()) return granted.empty() ? std::string() : granted.front();
        std::erase_if(roles, [&](const std::string& role) { return !is_granted(role); });
        if (roles.size() == 1) return roles.front();
        if (roles.empty()) roles = granted;
    }
    throw Problem(
        "not_allowed",
        fmt::format("You may decide as {}; say in which role.", fmt::join(roles, ", "))
    )
        .with("roles", roles);
}

Acted decide(Steering& steer) {
    const std::string verdict = steer.body.required_text("verdict", kNameBytesMax);
    if (verdict != "confirm" && verdict != "reject") {
        throw Problem("invalid_argument", "The member \"verdict\" is not confirm or reject.");
    }
    PersonalDecision decision{
        .verdict = verdict == "confirm" ? PersonalDecision::Verdict::Confirm
                                        : PersonalDecision::Verdict::Reject,
        .node = steer.body.text("node", kNameBytesMax).value_or(""),
        .by = steer.options.by,
        .role = steer.body.text("role", kNameBytesMax).value_or(""),
        .comment = steer.body.text("comment", kReasonBytesMax).value_or(""),
        .request_id = request_id(steer),
        .expected_revision = steer.options.expected_revision,
    };
    steer.body.check_all_used();
    decision.role = decision_role(steer, decision);
    return steer.service.engine.decide(steer.id, decision);
}

Acted signal(Steering& steer) {
    const std::string name = steer.body.required_text("name", kNameBytesMax);
    const Payload payload = steer.body.payload("payload").value_or("null");
    steer.options.request_id = request_id(steer);
    steer.body.check_all_used();
    steer.service.engine.signal(steer.id, name, payload, steer.options);
    return std::nullopt;
}

Acted write(Steering& steer) {
    const auto values = steer.body.payload("values");
    const bool is_repair = steer.body.boolean("repair", false);
    // An operator may also only ask all conditions again.
    const bool is_rematch = is_repair && values && *values == "null";
    if (!is_rematch && (!values || values->front() != '{')) {
        throw Problem("invalid_argument", "The member \"values\" is not an object of attributes.");
    }
    if (is_repair && !may_also(steer.service, steer.call, "instances.requeue")) {
        throw Problem("not_allowed", "A repair needs the permission instances.requeue.");
    }
    const WriteOptions options{
        .is_repair = is_repair,
        .by = steer.options.by,
        .request_id = request_id(steer),
        .expected_revision = steer.options.expected_revision,
    };
    steer.body.check_all_used();
    return steer.service.engine.write(steer.id, *values, options);
}

Acted recover(Steering& steer) {
    const auto to = steer.body.integer("to", 1, std::numeric_limits<std::int64_t>::max());
    if (!to)
        throw Problem("invalid_argument", "The member \"to\" is missing: the event of a write.");
    const std::string then = steer.body.text("then", kNameBytesMax).value_or("rematch");
    if (then != "rematch" && then != "stop") {
        throw Problem("invalid_argument", "The member \"then\" is not rematch or stop.");
    }
    using enum RecoverOptions::Then;
    const RecoverOptions options{
        .then = then == "stop" ? Stop : Rematch,
        .by = steer.options.by,
        .request_id = request_id(steer),
        .expected_revision = steer.options.expected_revision,
    };
    steer.body.check_all_used();
    steer.service.engine.recover(steer.id, *to, options);
    return std::nullopt;
}

/// Who caused the event; null if the instance went on by itself. The name is shown without
/// `payloads.read`, too.
view::Json author_json(const HistoryEntry& event) {
    if (!says_who(event.type)) return {};
    const auto payload = view::Json::parse(event.payload, nullptr, false);
    const auto by = payload.is_object() ? payload.find("by") : payload.end();
    return by != payload.end() && by->is_string() ? *by : view::Json();
}

/// Says what the instance has become: its row, and the last things that happened to it.
Problem revision_problem(Service& service, const InstanceId& id, const std::string& detail) {
    Problem problem("precondition_failed", detail);
    const auto now = service.engine.find(id);
    if (!now) return problem;
    view::Json events = view::Json::array();
    HistoryQuery newest{.instance = id, .limit = kNewestEvents};
    newest.order = HistoryQuery::Order::Backward;
    PayloadDocument document({.mode = "none"});
    for (const HistoryEvent& event : service.store.history(newest)) {
        const HistoryEntry entry = to_entry(event);
        events.push_back(document.event(entry));
        events.back()["by"] = author_json(entry);
    }
    return std::move(problem)
        .with("revision", now->revision)
        .with("instance_status", to_string(now->status))
        .with("updated_at", view::time_json(now->updated_at))
        .with("newest_events", std::move(events));
}

/// In whose name the act is recorded: the principal's, unless it acts for a user of its own.
std::string author(Steering& steer) {
    const std::string& own = steer.call.principal.name;
    const auto by = steer.body.text("by", kNameBytesMax);
    if (!by || by->empty() || *by == own) return own;
    if (may_also(steer.service, steer.call, "act_as")) {
        AuditEntry entry = steer.call.audit_entry("actAs");
        entry.detail = view::Json{{"by", *by}}.dump();
        steer.service.audit.write(std::move(entry));
        return *by;
    }
    throw Problem(
        "not_allowed",
        fmt::format("{} may not act as {}: it lacks the permission act_as.", own, *by)
    );
}

http::Response act_on(Service& service, Call& call, Act act) {
    call.query.check_all_used();
    Steering steer{service, call, resolve(service, call), Body(call.request.body)};
    steer.options.by = author(steer);
    steer.options.expected_revision = expected_revision(call);
    Acted changed;
    try {
        changed = act(steer);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::RevisionChanged) throw;
        throw revision_problem(service, steer.id, error.what());
    }
    const auto summary = service.engine.find(steer.id);
    if (!summary) {
        throw Problem("instance_not_found", "The instance was deleted in the meantime.");
    }
    view::Json json = view::summary_json(*summary);
    if (changed) json["changed"] = *changed;
    auto response = json_response(200, json);
    response.set("ETag", etag_of(summary->revision));
    return response;
}

http::Response export_instance(Service& service, Call& call) {
    const ExportOptions options{
        .wait = call.query.duration("wait", kWaitMax).value_or(Duration::zero()),
        .by = call.principal.name,
    };
    call.query.check_all_used();
    return json_response(200, service.engine.export_instance(resolve(service, call), options));
}

}  // namespace

void add_steering_routes(Routes& routes, Service& service) {
    const auto add =
        [&](std::string_view path, std::string_view operation, Permission permission, Act act) {
            routes.push_back(
                {.method = "POST",
                 .path = path,
                 .operation = operation,
                 .permission = permission,
                 .handle = [&service, act](Call& call) { return act_on(service, call, act); },
                 .body_bytes_max = kJsonBytesMax,
                 .media_types = {"application/json"},
                 .reach = Reach::Project}
            );
        };
    add("/instances/{id}/cancel", "cancelInstance", "instances.cancel", cancel);
    add("/instances/{id}/abort", "abortInstance", "instances.cancel", abort);
    add("/instances/{id}/pause", "pauseInstance", "instances.pause", pause);
    add("/instances/{id}/resume", "resumeInstance", "instances.pause", resume);
    add("/instances/{id}/requeue", "requeueInstance", "instances.requeue", requeue);
    add("/instances/{id}/decide", "decideInstance", "decisions.decide", decide);
    add("/instances/{id}/signal", "signalInstance", "instances.signal", signal);
    add("/instances/{id}/write", "writeAttributes", "instances.write", write);
    add("/instances/{id}/recover", "recoverInstance", "instances.requeue", recover);
    routes.push_back(
        {.method = "POST",
         .path = "/instances/{id}/export",
         .operation = "exportInstance",
         .permission = "instances.move",
         .handle = [&service](Call& call) { return export_instance(service, call); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
