// The route that starts the work of an instance again.

#include "engine/rerun.h"

#include <fmt/format.h>

#include "server/api/plain_route.h"
#include "server/api/starting.h"

namespace ebb::server {

namespace {

/// The same work needs no right to start other work.
void check_may_differ(Service& service, const Call& call, const engine::RerunRequest& request) {
    if (!request.input && !request.version) return;
    if (may_also(service, call, "instances.start")) return;
    throw Problem(
        "not_allowed",
        fmt::format(
            "{} lacks the permission instances.start, which a rerun with {} needs.",
            call.principal.name,
            request.input ? "another input" : "another version"
        )
    );
}

engine::RerunRequest read_request(const Call& call) {
    Body body(call.request.body);
    engine::RerunRequest request{
        .input = body.payload("input"),
        .version = read_version(body),
        .key = read_start_key(body, call),
    };
    body.check_all_used();
    request.by = call.principal.name;
    return request;
}

/// Before anything is said of an instance that the key may belong to.
void check_visible(Service& service, const Call& call, const InstanceId& id) {
    const auto row = service.store.load(id);
    if (row && may_see(call.principal, *row)) return;
    throw Problem(
        "not_allowed",
        fmt::format("The key belongs to an instance that {} has not started.", call.principal.name)
    );
}

http::Response rerun_instance(Service& service, Call& call) {
    call.query.check_all_used();
    const InstanceId id = resolve(service, call);
    const engine::RerunRequest request = read_request(call);
    check_may_differ(service, call, request);
    const auto row = service.store.load(id);
    if (!row) throw Problem("instance_not_found", "There is no such instance any more.");
    check_reserved(service, request.key, row->workflow);
    const TimePoint begun = service.clock.now();
    const StartedInstance started = engine::rerun(service.engine, service.store, *row, request);
    if (!started.is_new) check_visible(service, call, started.id);
    // Only a caller with a trace of its own looks for it there.
    if (started.is_new && !call.trace.parent_id.empty()) {
        service.telemetry->on_requested_start(
            call.trace, row->workflow, started.id, begun, service.clock.now()
        );
    }
    check_same_start(started, request.key, request.version);
    auto response = json_response(started.is_new ? 201 : 200, started_json(started));
    if (started.is_new) {
        response.set("Location", call.href("/instances/" + started.id.to_string()));
    }
    return response;
}

}  // namespace

void add_rerun_routes(Routes& routes, Service& service) {
    Route route = plain_route(
        service, "POST", "/instances/{id}/rerun", "rerunInstance", "instances.rerun", rerun_instance
    );
    route.reach = Reach::Project;
    routes.push_back(std::move(route));
}

}  // namespace ebb::server
