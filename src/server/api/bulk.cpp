// Routes about bulk operations: acts on all instances that a filter or a list names.

#include "server/api/bulk.h"

#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/bulk.h"
#include "server/api/body.h"
#include "server/api/plain_route.h"
#include "server/api/reserved_key.h"
#include "server/api/where.h"
#include "support/clock.h"
#include "support/uuid.h"
#include "view/bulks.h"

namespace ebb::server {

namespace {

using engine::BulkAction;
using engine::BulkJob;
using view::Json;

constexpr Permission kBulk = "bulk";
constexpr std::size_t kWhereBytesMax = 8'192;
constexpr int kBulksMax = 100;

Permission permission_of(BulkAction action) {
    switch (action) {
        case BulkAction::Cancel:
        case BulkAction::Abort:
            return "instances.cancel";
        case BulkAction::Pause:
        case BulkAction::Resume:
            return "instances.pause";
        case BulkAction::Requeue:
            return "instances.requeue";
        case BulkAction::Rerun:
            return "instances.rerun";
    }
    return "admin";
}

[[noreturn]] void refuse(const std::string& why) {
    throw Problem("invalid_argument", why);
}

/// The workflows with which the principal may do it in bulk, between commas; empty = all.
std::string allowed_workflows(Service& service, const Principal& principal, BulkAction action) {
    const Permission needed = permission_of(action);
    if (!principal.may(needed)) {
        throw Problem(
            "not_allowed", fmt::format("{} lacks the permission {}.", principal.name, needed)
        );
    }
    if (principal.may_everywhere(kBulk) && principal.may_everywhere(needed)) return {};
    std::set<std::string> names;
    for (WorkflowRow& row : service.reads.list_workflows()) {
        const bool is_allowed = !is_system_workflow(row.name) &&
                                principal.may_with(kBulk, row.name) &&
                                principal.may_with(needed, row.name);
        if (is_allowed) names.insert(std::move(row.name));
    }
    if (names.empty()) {
        throw Problem(
            "not_allowed",
            fmt::format("{} may do this with no workflow that is registered.", principal.name)
        );
    }
    return fmt::format("{}", fmt::join(names, ","));
}

std::vector<InstanceId> read_ids(Body& body) {
    std::vector<InstanceId> ids;
    std::set<InstanceId> known;
    for (const std::string& text : body.texts("ids", BulkJob::kIdsMax)) {
        const auto id = InstanceId::parse(text);
        if (!id) {
            refuse(fmt::format(
                "The member \"ids\" has an item {} that is not the whole id of an instance.",
                ids.size()
            ));
        }
        if (known.insert(*id).second) ids.push_back(*id);
    }
    return ids;
}

std::optional<engine::BulkCanary> read_canary(Body& body, BulkAction action) {
    using engine::BulkCanary;
    auto members = body.object("canary");
    if (!members) return std::nullopt;
    if (action != BulkAction::Requeue && action != BulkAction::Rerun) {
        refuse("The member \"canary\" is only for requeue and rerun.");
    }
    BulkCanary canary;
    canary.count = members->integer("count", 1, BulkCanary::kCountMax).value_or(canary.count);
    if (const auto text = members->text("wait", 32)) {
        const auto wait = parse_duration(*text);
        if (!wait || *wait <= Duration::zero() || *wait > BulkCanary::kWaitMax) {
            refuse("The member \"canary.wait\" is not a duration such as 60s, of at most 24h.");
        }
        canary.wait = *wait;
    }
    members->check_all_used();
    return canary;
}

/// What the request asks for besides the job itself.
struct BulkRequest {
    BulkJob job{};
    bool is_dry_run = false;
    std::optional<std::int64_t> confirm{};
};

void read_targets(Body& body, BulkJob& job) {
    const auto where = body.text("where", kWhereBytesMax);
    const bool has_ids = body.has("ids");
    if (where.has_value() == has_ids) {
        refuse("Give either \"where\" (a filter) or \"ids\" (instances), and not both.");
    }
    if (!where) {
        job.ids = read_ids(body);
        if (job.ids.empty()) refuse("The member \"ids\" names no instance.");
        return;
    }
    // An empty filter may be a mistake, and all instances are worth a word.
    if (where->empty()) refuse("The member \"where\" is empty; the filter \"true\" means all.");
    compile_where(*where, job.at);
    job.where = *where;
}

BulkRequest read_request(Service& service, const Call& call) {
    Body body(call.request.body);
    BulkRequest request;
    BulkJob& job = request.job;
    const std::string name = body.required_text("action", 32);
    const auto action = engine::parse_bulk_action(name);
    if (!action) {
        refuse(fmt::format("The member \"action\" is not one of {}.", engine::bulk_action_names()));
    }
    job.action = *action;
    job.at = service.store.now();
    job.before = engine::bulk_limit(service.clock, job.at);
    job.by = call.principal.name;
    job.reason = body.text("reason", BulkJob::kReasonBytesMax).value_or("");
    read_targets(body, job);
    if (const auto rate = body.text("rate", 64)) {
        job.rate = engine::parse_bulk_rate(*rate);
        if (!job.rate) {
            refuse("The member \"rate\" is not a number in a time, such as 100/1s or 600/1m.");
        }
    }
    job.canary = read_canary(body, job.action);
    request.is_dry_run = body.boolean("dry_run", false);
    request.confirm = body.integer("confirm", 0, std::numeric_limits<std::int64_t>::max());
    body.check_all_used();
    return request;
}

/// What cannot be undone is done only to as many instances as the caller has seen.
void check_confirmed(Service& service, const BulkRequest& request) {
    if (request.job.action != BulkAction::Abort && !request.confirm) return;
    if (!request.confirm) {
        refuse(
            "An abort needs the member \"confirm\": the number of instances that match, as a dry "
            "run shows it."
        );
    }
    const view::BulkPreview preview = view::preview_bulk(service.reads, request.job);
    if (preview.is_complete && preview.matched == *request.confirm) return;
    if (!preview.is_complete) {
        refuse("Too many instances match to count them now; name fewer of them.");
    }
    throw Problem(
        "precondition_failed",
        fmt::format(
            "The request confirms {} instances, and {} match.", *request.confirm, preview.matched
        )
    )
        .with("matched", preview.matched);
}

InstanceSummary find_summary(Service& service, const InstanceId& id) {
    auto summary = service.engine.find(id);
    if (!summary)
        throw Problem("instance_not_found", "The bulk operation was deleted in the meantime.");
    return *std::move(summary);
}

http::Response bulk_response(Service& service, int status, const InstanceId& id) {
    return json_response(status, view::bulk_json(service.store, find_summary(service, id)));
}

/// A key names one request: another one with the same key is a mistake of the client.
void check_same(Service& service, const InstanceId& id, BulkJob job) {
    const auto events = service.store.history({.instance = id, .limit = 1});
    if (events.empty()) return;
    const BulkJob known = engine::parse_bulk_job(events.front().payload);
    job.at = known.at;
    job.before = known.before;
    if (job == known) return;
    throw Problem(
        "idempotency_key_reused",
        fmt::format("The Idempotency-Key was used for the bulk operation {}.", id.to_string())
    );
}

/// Writes the operation `id`, its action and its filter (or the number of ids) to the audit, before
/// it starts. A dry run changes nothing and has no row.
void write_audit(Service& service, Call& call, const BulkJob& job, const InstanceId& id) {
    AuditEntry entry = call.audit_entry("startBulk");
    Json detail{{"bulk", id.to_string()}, {"action", to_string(job.action)}};
    if (job.ids.empty()) {
        detail["where"] = job.where;
    } else {
        detail["instances"] = job.ids.size();
        // One is named; of many, the operation itself has the list.
        if (job.ids.size() == 1) detail["instance"] = job.ids.front().to_string();
    }
    if (job.canary) detail["canary"] = job.canary->count;
    if (!job.reason.empty()) detail["reason"] = job.reason;
    entry.detail = detail.dump();
    service.audit.write(std::move(entry));
    call.is_allowed = true;
}

http::Response start_bulk(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string key = reserved_key(call);
    BulkRequest request = read_request(service, call);
    request.job.workflows = allowed_workflows(service, call.principal, request.job.action);
    if (request.is_dry_run) {
        return json_response(
            200, view::preview_json(view::preview_bulk(service.reads, request.job))
        );
    }
    if (!key.empty()) {
        // It may have changed what the filter finds.
        if (const auto id = service.store.find_key(engine::kBulkWorkflow, key)) {
            check_same(service, *id, request.job);
            return bulk_response(service, 202, *id);
        }
    }
    check_confirmed(service, request);
    const InstanceId id = make_instance_id(service.clock);
    write_audit(service, call, request.job, id);
    const StartedInstance started = engine::start_bulk(service.store, request.job, key, id);
    service.engine.wake_workers();
    if (!started.is_new) {
        check_same(service, started.id, request.job);
        // Another request with the key came first, so the one of the audit does not exist.
        AuditEntry entry = call.audit_entry("startBulk");
        entry.outcome = "failed";
        entry.detail = Json{{"bulk", started.id.to_string()}, {"status", 202}}.dump();
        service.audit.note(std::move(entry));
    }
    auto response = bulk_response(service, 202, started.id);
    response.set("Location", call.href("/bulk/" + started.id.to_string()));
    return response;
}

http::Response list_bulks(Service& service, Call& call) {
    view::BulkListQuery query;
    query.limit = static_cast<int>(call.query.integer("limit", 1, kBulksMax).value_or(query.limit));
    if (const auto cursor = call.query.text("cursor")) {
        query.before = InstanceId::parse(*cursor);
        if (!query.before) refuse("The cursor is not one of this server.");
    }
    call.query.check_all_used();
    const InstancePage page = visible_bulks(service, call.principal, query);
    Json items = Json::array();
    for (const InstanceSummary& each : page.instances) {
        items.push_back(view::bulk_json(service.reads, each));
    }
    const bool has_more = page.next && std::ssize(page.instances) == query.limit;
    return json_response(
        200,
        Json{
            {"items", std::move(items)},
            {"next_cursor", has_more ? Json(page.next->to_string()) : Json(nullptr)}
        }
    );
}

http::Response get_bulk(Service& service, Call& call) {
    call.query.check_all_used();
    return bulk_response(service, 200, visible_bulk(service, call.principal, call.parameter("id")));
}

using Steer = void (*)(Engine&, const InstanceId&, const RequestOptions&);

template <Steer steer>
http::Response steer_bulk(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const RequestOptions options{
        .by = call.principal.name,
        .reason = body.text("reason", BulkJob::kReasonBytesMax).value_or(""),
    };
    body.check_all_used();
    const InstanceId id = visible_bulk(service, call.principal, call.parameter("id"));
    steer(service.engine, id, options);
    return bulk_response(service, 200, id);
}

void pause(Engine& engine, const InstanceId& id, const RequestOptions& options) {
    engine.pause(id, options);
}

void resume(Engine& engine, const InstanceId& id, const RequestOptions& options) {
    engine.resume(id, options);
}

void cancel(Engine& engine, const InstanceId& id, const RequestOptions& options) {
    engine.cancel(id, options);
}

http::Response continue_bulk(Service& service, Call& call) {
    call.query.check_all_used();
    Body(call.request.body).check_all_used();
    const InstanceId id = visible_bulk(service, call.principal, call.parameter("id"));
    if (view::bulk_json(service.store, find_summary(service, id)).at("status") != "canary_failed") {
        throw Problem("invalid_state", "The bulk operation does not wait for an operator.");
    }
    service.engine.signal(id, engine::kBulkTurn, Payload::text("{}"), {.by = call.principal.name});
    return bulk_response(service, 200, id);
}

}  // namespace

InstanceId visible_bulk(Service& service, const Principal& principal, const std::string& text) {
    const auto id = InstanceId::parse(text);
    const auto bulk = id ? service.engine.find(*id) : std::nullopt;
    bool is_visible = bulk && bulk->workflow == engine::kBulkWorkflow;
    if (is_visible && !principal.may_everywhere(kBulk)) {
        const auto by = bulk->labels.find("by");
        is_visible = by != bulk->labels.end() &&
                     by->second == LabelValue(engine::bulk_owner(principal.name));
    }
    if (!is_visible) throw Problem("instance_not_found", "There is no such bulk operation.");
    return *id;
}

InstancePage visible_bulks(
    Service& service, const Principal& principal, view::BulkListQuery query
) {
    if (!principal.may_everywhere(kBulk)) query.by = engine::bulk_owner(principal.name);
    return view::list_bulks(service.reader, query);
}

void add_bulk_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        Route route = plain_route(service, method, path, operation, kBulk, handle);
        route.reach = Reach::Project;
        if (operation == "startBulk") route.audited = Audited::Inside;
        routes.push_back(std::move(route));
    };
    add("POST", "/bulk", "startBulk", start_bulk);
    add("GET", "/bulk", "listBulks", list_bulks);
    add("GET", "/bulk/{id}", "getBulk", get_bulk);
    add("POST", "/bulk/{id}/pause", "pauseBulk", steer_bulk<pause>);
    add("POST", "/bulk/{id}/resume", "resumeBulk", steer_bulk<resume>);
    add("POST", "/bulk/{id}/cancel", "cancelBulk", steer_bulk<cancel>);
    add("POST", "/bulk/{id}/continue", "continueBulk", continue_bulk);
}

}  // namespace ebb::server
