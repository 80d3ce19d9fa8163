// Routes about projects and grants: who may do what, and with which workflows.

#include <fmt/format.h>

#include "server/api/body.h"
#include "server/api/plain_route.h"
#include "server/api/service.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

http::Response list_projects(Service& service, Call& call) {
    call.query.check_all_used();
    return json_response(200, Json{{"items", service.access.book().projects()}});
}

http::Response put_project(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const Project project{
        .name = call.parameter("name"),
        .title = body.text("title", GrantBook::kTitleBytesMax).value_or(""),
        .workflows = body.texts("workflows", GrantBook::kPatternsMax),
        .queues = body.texts("queues", GrantBook::kPatternsMax),
    };
    body.check_all_used();
    const auto put = service.access.book().put_project(project, call.principal.name);
    service.access.forget();
    return json_response(put.is_new ? 201 : 200, put.view);
}

http::Response remove_project(Service& service, Call& call) {
    call.query.check_all_used();
    try {
        service.access.book().remove_project(call.parameter("name"));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::InvalidState) throw;
        throw Problem("conflict", error.what());
    }
    service.access.forget();
    return {.status = 204};
}

http::Response list_grants(Service& service, Call& call) {
    const auto subject = call.query.text("subject");
    const auto project = call.query.text("project");
    call.query.check_all_used();
    Json items = Json::array();
    for (Json& grant : service.access.book().grants()) {
        if (subject && grant.at("subject") != *subject) continue;
        if (project && grant.at("project") != *project) continue;
        items.push_back(std::move(grant));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

http::Response put_grant(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    Grant grant{
        .id = call.parameter("id"),
        .subject = body.required_text("subject", GrantBook::kSubjectBytesMax),
    };
    const auto role = parse_role(body.required_text("role", 32));
    if (!role) {
        throw Problem(
            "invalid_argument",
            "The member \"role\" is not one of viewer, approver, operator, developer, admin, "
            "worker, starter."
        );
    }
    grant.role = *role;
    grant.project =
        body.text("project", GrantBook::kNameBytesMax).value_or(std::string(kEverything));
    grant.decision_roles = body.texts("decision_roles", GrantBook::kPatternsMax);
    grant.handlers = body.texts("handlers", GrantBook::kPatternsMax);
    grant.queues = body.texts("queues", GrantBook::kPatternsMax);
    grant.may_act_as = body.boolean("act_as", false);
    body.check_all_used();
    const auto put = service.access.book().put_grant(grant, call.principal.name);
    service.access.forget();
    return json_response(put.is_new ? 201 : 200, put.view);
}

http::Response remove_grant(Service& service, Call& call) {
    call.query.check_all_used();
    service.access.book().remove_grant(call.parameter("id"));
    service.access.forget();
    return {.status = 204};
}

}  // namespace

void add_project_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(plain_route(service, method, path, operation, "admin", handle));
    };
    add("GET", "/projects", "listProjects", list_projects);
    add("PUT", "/projects/{name}", "putProject", put_project);
    add("DELETE", "/projects/{name}", "removeProject", remove_project);
    add("GET", "/grants", "listGrants", list_grants);
    add("PUT", "/grants/{id}", "putGrant", put_grant);
    add("DELETE", "/grants/{id}", "removeGrant", remove_grant);
}

}  // namespace ebb::server
