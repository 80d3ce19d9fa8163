// The route that shows who did what.

#include <fmt/format.h>

#include "server/api/service.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kIdSize = 36;

std::string join(const std::vector<AuditRow>& rows, std::string_view between) {
    std::string text;
    for (const AuditRow& row : rows) {
        if (!text.empty()) text += between;
        text += audit_json(row);
    }
    return text;
}

http::Response list_audit(Service& service, Call& call) {
    AuditQuery query{
        .principal = call.query.text("who").value_or(""),
        .action = call.query.text("action").value_or(""),
        .target = call.query.text("target").value_or(""),
        .since = call.query.time("since").value_or(TimePoint{}),
        .place = call.query.text("cursor").value_or(""),
    };
    const auto workflows = visible_workflows(
        service, call.principal, call.permission, call.query.text("workflow").value_or("")
    );
    const auto limit = static_cast<int>(call.query.integer("limit", 1, kPageMax).value_or(50));
    const bool is_lines = call.query.choice("format", {"json", "ndjson"}) == "ndjson";
    call.query.check_all_used();
    if (!query.place.empty() && query.place.size() != kIdSize) {
        throw Problem("invalid_argument", "The cursor is not one of this server.");
    }
    query.workflows = workflows.value_or("");
    // One row more tells whether there is another page.
    query.limit = limit + 1;
    auto rows = workflows ? service.admin.list_audit(query) : std::vector<AuditRow>();
    const bool has_more = std::ssize(rows) > limit;
    if (has_more) rows.resize(static_cast<std::size_t>(limit));
    if (is_lines) {
        http::Response response{.status = 200};
        response.set("Content-Type", "application/x-ndjson");
        response.body = join(rows, "\n");
        if (!rows.empty()) response.body += '\n';
        return response;
    }
    const Json next = has_more ? Json(rows.back().id) : Json();
    return json_response(
        200, fmt::format("{{\"items\":[{}],\"next_cursor\":{}}}", join(rows, ","), next.dump())
    );
}

}  // namespace

void add_audit_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/audit",
         .operation = "listAudit",
         .permission = "audit.read",
         .handle = [&service](Call& call) { return list_audit(service, call); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
