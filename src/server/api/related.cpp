// The route that shows what else has to do with an instance.

#include "view/related.h"

#include <set>

#include "server/api/service.h"
#include "view/deliveries.h"
#include "view/instance_json.h"

namespace ebb::server {

namespace {

using view::Json;

/// The names of the registered workflows of which the principal may see instances.
std::vector<std::string> visible_names(Service& service, const Principal& principal) {
    std::set<std::string> names;
    for (WorkflowRow& row : service.reads.list_workflows()) {
        const bool is_visible = principal.may_with("instances.read", row.name) ||
                                principal.may_with_own("instances.read", row.name);
        if (is_visible && !is_system_workflow(row.name)) names.insert(std::move(row.name));
    }
    return {names.begin(), names.end()};
}

Json failure_group_json(Service& service, const InstanceRow& row) {
    if (row.status != InstanceStatus::Failed && row.status != InstanceStatus::DeadLetter) {
        return nullptr;
    }
    return view::text_json(view::failure_group_of(row.workflow, service.reader.show(row.id).error));
}

/// Null: it is not for the principal to see.
Json deliveries_json(Service& service, const Call& call, const InstanceId& id) {
    if (!call.principal.may_everywhere("webhooks.write")) return nullptr;
    view::InstanceDeliveries found = view::deliveries_of(service.reader, service.reads, id);
    Json items = Json::array();
    for (Json& delivery : found.deliveries) items.push_back(std::move(delivery));
    return {{"items", std::move(items)}, {"complete", found.is_complete}};
}

http::Response get_related(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    const auto row = service.reads.load(id);
    if (!row) throw Problem("instance_not_found", "There is no such instance any more.");
    const auto is_visible = [&](const InstanceRow& other) {
        return may_see(call.principal, other);
    };
    return json_response(
        200,
        Json{
            {"id", id.to_string()},
            {"started_by", view::text_json(view::started_by(service.reads, id))},
            {"same_key",
             view::same_key_json(
                 service.reads, *row, visible_names(service, call.principal), is_visible
             )},
            {"rerun_of", view::rerun_of_json(*row)},
            {"reruns", view::reruns_json(service.reads, *row, is_visible)},
            {"failure_group", failure_group_json(service, *row)},
            {"bulks", view::bulk_acts_json(service.reads, id)},
            {"deliveries", deliveries_json(service, call, id)},
        }
    );
}

}  // namespace

void add_related_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/related",
         .operation = "getRelated",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return get_related(service, call); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
