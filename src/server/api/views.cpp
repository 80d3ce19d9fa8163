// Routes about views: saved filters of the lists, each of its owner, who may share it.

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "server/api/body.h"
#include "server/api/plain_route.h"
#include "server/api/service.h"
#include "support/unicode.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::string_view kKind = "view";
constexpr std::size_t kCountMax = 100;  ///< of one owner
constexpr std::size_t kNameBytesMax = 128;
constexpr std::size_t kQueryBytesMax = std::size_t{4} << 10;
constexpr std::array<std::string_view, 3> kPages = {"instances", "decisions", "failures"};

/// Sorted by name, and no two owners have one row. Neither part has a line break.
std::string row_name(const std::string& name, const std::string& owner) {
    return name + "\n" + owner;
}

/// `{name, owner, page, query, is_shared, updated_at}`.
Json document_of(const AdminRow& row) {
    return Json::parse(row.document);
}

bool is_of(const Json& view, const Principal& principal) {
    return view.at("owner") == principal.name;
}

bool may_see(const Json& view, const Principal& principal) {
    return is_of(view, principal) || view.at("is_shared") == true;
}

Json shown(Json view, const Principal& principal) {
    view["is_own"] = is_of(view, principal);
    return view;
}

/// The views with this name that the principal may see, its own first.
std::vector<Json> find(Service& service, const Principal& principal, const std::string& name) {
    std::vector<Json> found;
    for (const AdminRow& row : service.admin.list(kKind)) {
        Json view = document_of(row);
        if (view.at("name") != name || !may_see(view, principal)) continue;
        found.insert(is_of(view, principal) ? found.begin() : found.end(), std::move(view));
    }
    if (found.empty()) throw Problem("not_found", "There is no view of this name.");
    return found;
}

void check_name(const std::string& name) {
    bool is_valid = name.size() <= kNameBytesMax;
    for (std::size_t at = 0; is_valid && at < name.size();) {
        const DecodedCharacter next = decode_utf8(std::string_view(name).substr(at));
        is_valid = !is_control(next.code) && !is_rearranging(next.code) && next.code != '/';
        at += next.bytes;
    }
    if (is_valid) return;
    throw Problem(
        "invalid_argument",
        fmt::format(
            "The name of a view has at most {} bytes, without control characters and slashes.",
            kNameBytesMax
        )
    );
}

std::string read_page(Body& body) {
    std::string page = body.text("page", kNameBytesMax).value_or(std::string(kPages.front()));
    if (std::find(kPages.begin(), kPages.end(), page) != kPages.end()) return page;
    throw Problem(
        "invalid_argument",
        fmt::format("The member \"page\" is not one of {}.", fmt::join(kPages, ", "))
    );
}

http::Response list_views(Service& service, Call& call) {
    const auto page = call.query.text("page");
    call.query.check_all_used();
    Json items = Json::array();
    for (const AdminRow& row : service.admin.list(kKind)) {
        Json view = document_of(row);
        if (!may_see(view, call.principal) || (page && view.at("page") != *page)) continue;
        items.push_back(shown(std::move(view), call.principal));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

http::Response get_view(Service& service, Call& call) {
    call.query.check_all_used();
    Json view = find(service, call.principal, call.parameter("name")).front();
    return json_response(200, shown(std::move(view), call.principal));
}

http::Response put_view(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string& name = call.parameter("name");
    check_name(name);
    Body body(call.request.body);
    const std::string& owner = call.principal.name;
    Json view{{"name", name}, {"owner", owner}, {"page", read_page(body)}};
    view["query"] = body.required_text("query", kQueryBytesMax);
    view["is_shared"] = body.boolean("is_shared", false);
    view["updated_at"] = view::time_json(service.clock.now());
    body.check_all_used();
    const std::string key = row_name(name, owner);
    const auto rows = service.admin.list(kKind);
    const bool is_new = std::none_of(rows.begin(), rows.end(), [&](const AdminRow& row) {
        return row.name == key;
    });
    const auto own = std::count_if(rows.begin(), rows.end(), [&](const AdminRow& row) {
        return is_of(document_of(row), call.principal);
    });
    if (is_new && std::cmp_greater_equal(own, kCountMax)) {
        throw Problem(
            "limit_exceeded",
            fmt::format("{} has {} views, which is the limit. Delete one.", owner, kCountMax)
        );
    }
    service.admin.put({.kind = std::string(kKind), .name = key, .document = view.dump()});
    return json_response(is_new ? 201 : 200, shown(std::move(view), call.principal));
}

/// An administrator may also delete what others share: they may be gone.
http::Response delete_view(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string& name = call.parameter("name");
    const Json view = find(service, call.principal, name).front();
    if (!is_of(view, call.principal) && !call.principal.may_everywhere("admin")) {
        throw Problem(
            "not_allowed", "Only the owner of a view and an administrator may delete it."
        );
    }
    service.admin.remove(kKind, row_name(name, view.at("owner").get<std::string>()));
    return {.status = 204};
}

}  // namespace

void add_view_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(plain_route(service, method, path, operation, "any", handle));
    };
    add("GET", "/views", "listViews", list_views);
    add("GET", "/views/{name}", "getView", get_view);
    add("PUT", "/views/{name}", "putView", put_view);
    add("DELETE", "/views/{name}", "deleteView", delete_view);
}

}  // namespace ebb::server
