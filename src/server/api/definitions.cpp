// The files of the definitions folder.

#include "server/api/service.h"
#include "view/payload_json.h"
#include "view/problem_json.h"

namespace ebb::server {

namespace {

using view::Json;

Json report_json(const DefinitionFileReport& report) {
    return {
        {"file", report.file},
        {"state", report.state},
        {"workflow", view::text_json(report.workflow)},
        {"version", report.version > 0 ? Json(report.version) : Json()},
        {"message", view::text_json(report.message)},
        {"problems", view::problems_json(report.problems)},
        {"since", view::time_json(report.since)},
    };
}

http::Response list_definition_files(Service& service, Call& call) {
    call.query.check_all_used();
    Json items = Json::array();
    if (service.definition_files) {
        for (const DefinitionFileReport& report : service.definition_files()) {
            items.push_back(report_json(report));
        }
    }
    return json_response(
        200, Json{{"has_folder", bool(service.definition_files)}, {"items", std::move(items)}}
    );
}

}  // namespace

void add_definition_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/admin/definitions",
         .operation = "listDefinitionFiles",
         .permission = "admin",
         .handle = [&service](Call& call) { return list_definition_files(service, call); }}
    );
}

}  // namespace ebb::server
