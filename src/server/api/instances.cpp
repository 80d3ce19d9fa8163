// Routes that show instances.

#include "call/event_view.h"
#include "engine/core.h"
#include "engine/view.h"
#include "server/api/listing.h"
#include "server/api/payloads.h"
#include "server/api/router.h"
#include "server/api/service.h"
#include "server/api/unblock.h"
#include "view/instance_json.h"

namespace ebb::server {

namespace {

using view::Json;

/// Its sentences tell no more of payloads than the caller may read.
InstanceView show_to(Service& service, const Call& call, const InstanceId& id) {
    return Engine::Core::of(service.reader).show(id, shown_payloads(service, call.principal));
}

http::Response get_instance(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    // Answered from the row alone, without its history.
    if (!call.request.header("If-None-Match").empty()) {
        const auto found = service.reader.find(id);
        if (found && matches(call, etag_of(found->revision))) {
            return not_modified(etag_of(found->revision));
        }
    }
    const InstanceView view = show_to(service, call, id);
    PayloadDocument document(
        payload_view(service, call, id, {view.summary.workflow, view.summary.version})
    );
    call.query.check_all_used();
    Json json = view::summary_json(view.summary);
    json["input"] = document.value(
        view.input, call.href("/instances/" + id.to_string() + "/history/1/payload")
    );
    json["output"] = document.value(view.output);
    json["error"] = document.value(view.error);
    if (!view.attributes.empty()) json["attributes"] = document.value(view.attributes);
    json["waiting_for"] = Json::array();
    for (const WaitingFor& wait : view.waiting_for) {
        json["waiting_for"].push_back(view::waiting_json(wait));
    }
    json["steps"] = Json::object();
    for (const StepView& step : view.steps) {
        Json& count = json["steps"][std::string(to_string(step.status))];
        count = count.is_null() ? 1 : count.get<int>() + 1;
    }
    auto response = json_response(200, document.text(json));
    response.set("ETag", etag_of(view.summary.revision));
    return response;
}

http::Response list_steps(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    const auto node = call.query.text("node");
    const auto status = call.query.text("status");
    const auto limit = call.query.integer("limit", 1, kPageMax).value_or(50);
    const auto after = call.query.integer("cursor", 0, 1'000'000'000).value_or(0);
    const InstanceView view = show_to(service, call, id);
    PayloadDocument document(
        payload_view(service, call, id, {view.summary.workflow, view.summary.version})
    );
    call.query.check_all_used();
    Json items = Json::array();
    Json next = nullptr;
    for (std::size_t at = static_cast<std::size_t>(after); at < view.steps.size(); ++at) {
        const StepView& step = view.steps[at];
        if (node && step.node != *node) continue;
        if (status && to_string(step.status) != *status) continue;
        if (static_cast<std::int64_t>(items.size()) == limit) {
            next = std::to_string(at);
            break;
        }
        items.push_back(document.step(step));
    }
    return json_response(
        200, document.text({{"items", std::move(items)}, {"next_cursor", std::move(next)}})
    );
}

http::Response get_graph(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    InstanceView view = show_to(service, call, id);
    const PayloadView payloads = payload_view(
        service, call.principal, {view.summary.workflow, view.summary.version}, call.is_own
    );
    for (StepView& step : view.steps) {
        if (payloads.is_hidden && !step.error.empty()) {
            step.error = engine::without_message(step.error);
        }
    }
    Json marks = Json::object();
    for (const auto& [node, mark] : marks_of(view)) {
        marks[node] = {
            {"status", to_string(mark.state)},
            {"attempts", mark.attempts},
            {"note", view::text_json(mark.note)},
        };
    }
    auto response = json_response(
        200,
        Json{
            {"workflow", view.summary.workflow},
            {"version", view.summary.version},
            {"revision", view.summary.revision},
            {"status", view.summary.status},
            {"marks", std::move(marks)},
        }
    );
    response.set("ETag", etag_of(view.summary.revision));
    return response;
}

http::Response get_why(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    const InstanceView view = show_to(service, call, id);
    Json waiting = Json::array();
    for (const WaitingFor& wait : view.waiting_for) waiting.push_back(view::waiting_json(wait));
    return json_response(
        200,
        Json{
            {"id", id.to_string()},
            {"why",
             Engine::Core::of(service.reader).why(id, shown_payloads(service, call.principal))},
            {"waiting_for", std::move(waiting)},
            {"unblock", unblocking_requests(view, call)},
        }
    );
}

}  // namespace

void add_instance_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(
            {.method = "GET",
             .path = path,
             .operation = operation,
             .permission = "instances.read",
             .handle = [&service, handle](Call& call) { return handle(service, call); },
             .reach = Reach::Project}
        );
    };
    add("/instances", "listInstances", list_instances);
    add("/instances/{id}", "getInstance", get_instance);
    add("/instances/{id}/steps", "listSteps", list_steps);
    add("/instances/{id}/graph", "getGraph", get_graph);
    add("/instances/{id}/why", "getWhy", get_why);
}

}  // namespace ebb::server
