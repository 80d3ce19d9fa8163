// Routes about the server itself and its permissions.

#include <algorithm>

#include <fmt/format.h>

#include "server/api/body.h"
#include "server/api/me.h"
#include "server/api/service.h"
#include "support/clock.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kTokenNameBytesMax = 64;
constexpr std::size_t kDecisionRolesMax = 64;

http::Response get_server(Service& service, Call& call) {
    call.query.check_all_used();
    Json links = Json::array();
    for (const PageLink& link : service.links) {
        links.push_back({{"name", link.name}, {"url", link.url}});
    }
    return json_response(
        200,
        Json{
            {"name", "ebb"},
            {"version", service.version},
            {"api", "v1"},
            {"time", format_time(service.clock.now())},
            {"store", service.store.traits().name},
            {"is_dev", service.is_dev},
            {"worker", {{"id", service.engine.worker_id()}, {"is_enabled", service.has_worker}}},
            {"auth", {{"mode", service.needs_login ? "token" : "none"}}},
            {"ui",
             {{"title", view::text_json(service.title)},
              {"banner", nullptr},
              {"links", std::move(links)}}},
            {"capabilities", {"events"}},
            {"limits",
             {{"json_bytes_max", kJsonBytesMax},
              {"definition_bytes_max", kDefinitionBytesMax},
              {"batch_bytes_max", kBatchBytesMax},
              {"page_max", kPageMax}}},
        }
    );
}

http::Response get_openapi(Service& service, Call& call) {
    call.query.check_all_used();
    if (matches(call, service.openapi_etag)) return not_modified(service.openapi_etag);
    auto response = json_response(200, service.openapi);
    response.set("ETag", service.openapi_etag);
    return response;
}

http::Response get_me(Service& /*service*/, Call& call) {
    call.query.check_all_used();
    return json_response(200, me_json(call.principal));
}

http::Response list_tokens(Service& service, Call& call) {
    call.query.check_all_used();
    return json_response(200, Json{{"items", service.access.tokens()}});
}

Duration read_life(Body& body) {
    const auto text = body.text("expires", 32);
    if (!text) return Access::kTokenLife;
    if (*text == "never") return Duration::zero();
    const auto life = parse_duration(*text);
    if (!life || *life < std::chrono::minutes(1)) {
        throw Problem(
            "invalid_argument",
            "The member \"expires\" is not a duration of at least 1m, such as 2160h, or never."
        );
    }
    return *life;
}

http::Response put_token(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    NewCredential credential{.name = call.parameter("name"), .by = call.principal.name};
    const bool is_name = credential.name.size() <= kTokenNameBytesMax &&
                         std::all_of(credential.name.begin(), credential.name.end(), [](char c) {
                             return static_cast<unsigned char>(c) > 0x20 && c != 0x7f;
                         });
    if (!is_name) {
        throw Problem(
            "invalid_argument",
            fmt::format(
                "The name of a token has 1 to {} characters and no spaces.", kTokenNameBytesMax
            )
        );
    }
    const auto role = parse_role(body.required_text("role", 32));
    if (!role) {
        throw Problem(
            "invalid_argument",
            "The member \"role\" is not one of viewer, approver, operator, developer, admin, "
            "worker, starter."
        );
    }
    credential.role = *role;
    credential.project =
        body.text("project", GrantBook::kNameBytesMax).value_or(std::string(kEverything));
    credential.may_act_as = body.boolean("act_as", false);
    credential.life = read_life(body);
    credential.decision_roles = body.texts("decision_roles", kDecisionRolesMax);
    credential.handlers = body.texts("handlers", kDecisionRolesMax);
    credential.queues = body.texts("queues", kDecisionRolesMax);
    body.check_all_used();
    auto created = service.access.create_token(credential);
    if (!created) {
        throw Problem("conflict", fmt::format("The token \"{}\" already exists.", credential.name));
    }
    created->view["token"] = created->token;
    auto response = json_response(201, created->view);
    response.set("Cache-Control", "no-store");
    return response;
}

http::Response revoke_token(Service& service, Call& call) {
    call.query.check_all_used();
    service.access.revoke_token(call.parameter("name"));
    return {.status = 204};
}

}  // namespace

void add_server_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(
            {.method = "GET",
             .path = path,
             .operation = operation,
             .permission = "any",
             .handle = [&service, handle](Call& call) { return handle(service, call); }}
        );
    };
    add("/", "getServer", get_server);
    add("/openapi.json", "getOpenapi", get_openapi);
    add("/me", "getMe", get_me);
}

void add_access_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         Permission permission,
                         http::Response (*handle)(Service&, Call&)) {
        Route route{
            .method = method,
            .path = path,
            .operation = operation,
            .permission = permission,
            .handle = [&service, handle](Call& call) { return handle(service, call); }
        };
        if (method == "POST" || method == "PUT") {
            route.body_bytes_max = kJsonBytesMax;
            route.media_types = {"application/json"};
        }
        routes.push_back(std::move(route));
    };
    add("GET", "/tokens", "listTokens", "admin", list_tokens);
    add("PUT", "/tokens/{name}", "putToken", "admin", put_token);
    add("DELETE", "/tokens/{name}", "revokeToken", "admin", revoke_token);
}

}  // namespace ebb::server
