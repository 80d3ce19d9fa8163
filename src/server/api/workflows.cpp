// Routes about definitions, and how long their instances are kept.

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include <ebb/diagram.h>
#include <ebb/handlers.h>
#include <ebb/yaml.h>

#include "core/model/difference.h"
#include "core/model/reader.h"
#include "server/api/body.h"
#include "server/api/layout.h"
#include "server/api/router.h"
#include "server/api/service.h"
#include "server/api/settings.h"
#include "store/stored_definition.h"
#include "support/clock.h"
#include "support/sha256.h"
#include "view/difference_json.h"
#include "view/problem_json.h"
#include "view/retention_json.h"
#include "view/step_stats.h"
#include "view/workflow_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::string_view kYaml = "application/yaml";

/// Throws DefinitionError with all problems, those of its handlers included.
Definition read_definition(const Call& call) {
    const std::string_view type = call.request.header("Content-Type");
    Definition definition = type.starts_with(kYaml) ? parse_definition_yaml(call.request.body)
                                                    : parse_definition_json(call.request.body);
    std::vector<Diagnostic> problems;
    for (const auto& [name, spec] : definition.handlers) {
        for (Diagnostic& problem : validate_handler_spec(name, spec)) {
            problems.push_back(std::move(problem));
        }
    }
    if (!problems.empty()) throw DefinitionError(std::move(problems));
    return definition;
}

DiagramOptions::Direction direction_of(Call& call) {
    return call.query.choice("direction", {"down", "right"}) == "right"
               ? DiagramOptions::Direction::Right
               : DiagramOptions::Direction::Down;
}

/// By name, each with its newest version and how many there are.
struct Newest {
    WorkflowRow row;
    int versions = 0;
};

/// `12:order`: behind that version of that workflow. Empty text is the beginning.
std::pair<std::string, int> read_place(const std::string& cursor) {
    if (cursor.empty()) return {"", 0};
    int version = 0;
    const std::size_t colon = std::min(cursor.find(':'), cursor.size());
    const char* end = cursor.data() + colon;
    if (std::from_chars(cursor.data(), end, version).ptr != end || colon + 1 >= cursor.size()) {
        throw Problem("invalid_argument", "The cursor is not one of this server.");
    }
    return {cursor.substr(colon + 1), version};
}

/// The workflows that the caller may see; those of the system only on request.
std::vector<WorkflowRow> listed_workflows(Service& service, Call& call) {
    const bool has_system = call.query.flag("system");
    std::vector<WorkflowRow> rows = service.reads.list_workflows();
    std::erase_if(rows, [&](const WorkflowRow& row) {
        return (!has_system && is_system_workflow(row.name)) ||
               !call.principal.may_with(call.permission, row.name);
    });
    return rows;
}

http::Response list_all_versions(Service& service, const std::string& prefix, Call& call) {
    std::vector<WorkflowRow> listed = listed_workflows(service, call);
    const auto after = read_place(call.query.text("cursor").value_or(""));
    const auto limit = call.query.integer("limit", 1, kPageMax).value_or(50);
    call.query.check_all_used();
    std::map<std::pair<std::string, int>, WorkflowRow> rows;
    std::map<std::string, int> versions;
    for (WorkflowRow& row : listed) {
        ++versions[row.name];
        std::pair<std::string, int> place{row.name, row.version};
        if (row.name.starts_with(prefix) && place > after) rows.emplace(place, std::move(row));
    }
    const auto counts = service.reads.count_versions();
    Json items = Json::array();
    Json next = nullptr;
    for (const auto& [place, row] : rows) {
        if (static_cast<std::int64_t>(items.size()) == limit) {
            const Json& last = items.back();
            next =
                fmt::format("{}:{}", last["version"].get<int>(), last["name"].get<std::string>());
            break;
        }
        items.push_back(view::workflow_json(row, counts));
        items.back()["versions"] = versions[row.name];
    }
    return json_response(200, Json{{"items", std::move(items)}, {"next_cursor", std::move(next)}});
}

http::Response list_workflows(Service& service, Call& call) {
    const std::string prefix = call.query.text("prefix").value_or("");
    if (call.query.choice("versions", {"newest", "all"}) == "all") {
        return list_all_versions(service, prefix, call);
    }
    const std::string after = call.query.text("cursor").value_or("");
    const auto limit = call.query.integer("limit", 1, kPageMax).value_or(50);
    std::vector<WorkflowRow> listed = listed_workflows(service, call);
    call.query.check_all_used();
    std::map<std::string, Newest> newest;
    for (WorkflowRow& row : listed) {
        if (!row.name.starts_with(prefix) || row.name <= after) continue;
        Newest& known = newest[row.name];
        ++known.versions;
        if (known.row.name.empty() || row.version > known.row.version) known.row = std::move(row);
    }
    const auto counts = service.reads.count_versions();
    Json items = Json::array();
    Json next = nullptr;
    for (const auto& [name, one] : newest) {
        if (static_cast<std::int64_t>(items.size()) == limit) {
            next = items.back()["name"];
            break;
        }
        Json item = view::workflow_json(one.row, counts);
        item["versions"] = one.versions;
        items.push_back(std::move(item));
    }
    return json_response(200, Json{{"items", std::move(items)}, {"next_cursor", std::move(next)}});
}

http::Response list_versions(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string& name = call.parameter("name");
    check_workflow(call, name);
    const auto counts = service.reads.count_versions();
    std::vector<WorkflowRow> rows = service.reads.list_workflows();
    std::erase_if(rows, [&](const WorkflowRow& row) { return row.name != name; });
    if (rows.empty()) {
        throw Problem("workflow_not_found", fmt::format("There is no workflow \"{}\".", name));
    }
    std::sort(rows.begin(), rows.end(), [](const WorkflowRow& left, const WorkflowRow& right) {
        return left.version > right.version;
    });
    Json items = Json::array();
    for (const WorkflowRow& row : rows) items.push_back(view::workflow_json(row, counts));
    return json_response(200, Json{{"items", std::move(items)}});
}

std::optional<int> version_of(const Call& call) {
    if (!call.parameters.contains("version")) return std::nullopt;
    Query query("version=" + percent_encode(call.parameter("version")));
    return static_cast<int>(*query.integer("version", 1, 2'147'483'647));
}

WorkflowRow find_version(Service& service, const Call& call, std::optional<int> version) {
    check_workflow(call, call.parameter("name"));
    auto row = service.reads.find_workflow(call.parameter("name"), version);
    if (row) return std::move(*row);
    throw Problem(
        "workflow_not_found",
        version
            ? fmt::format(
                  "There is no version {} of the workflow \"{}\".", *version, call.parameter("name")
              )
            : fmt::format("There is no workflow \"{}\".", call.parameter("name"))
    );
}

/// Of the version in the path, or of the newest one.
WorkflowRow find_version(Service& service, const Call& call) {
    return find_version(service, call, version_of(call));
}

/// The version that a parameter of the query names.
std::optional<int> asked_version(Call& call, std::string_view name) {
    const auto version = call.query.integer(name, 1, DefinitionLimits::kVersionMax);
    if (!version) return std::nullopt;
    return static_cast<int>(*version);
}

http::Response get_version(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string type = negotiate(
        call.request,
        {"application/json",
         std::string(kYaml),
         "image/svg+xml",
         "text/vnd.mermaid",
         "text/vnd.graphviz"}
    );
    const WorkflowRow row = find_version(service, call);
    const std::string etag = fmt::format("\"{}\"", row.checksum);
    http::Response response{.status = 200};
    const auto definition = [&] { return stored_definition(row); };
    if (type == "application/json") {
        Json json = view::workflow_json(row, service.reads.count_versions());
        json["definition"] = Json::parse(row.definition);
        response = json_response(200, json);
    } else if (type == kYaml) {
        response.body = definition_to_yaml(definition());
    } else if (type == "image/svg+xml") {
        response.body = to_svg(definition());
    } else if (type == "text/vnd.mermaid") {
        response.body = to_mermaid(definition());
    } else {
        response.body = to_dot(definition());
    }
    response.set("Content-Type", type);
    response.set("Vary", "Accept");
    response.set("ETag", etag);
    return response;
}

http::Response get_layout(Service& service, Call& call) {
    const auto direction = direction_of(call);
    call.query.check_all_used();
    const WorkflowRow row = find_version(service, call);
    // The layout is a pure function of the definition, the direction, and this program.
    const std::string seed =
        fmt::format("{} {} {}", row.checksum, static_cast<int>(direction), service.version);
    std::string etag = fmt::format("\"{}\"", sha256_hex(seed).substr(0, 16));
    if (matches(call, etag)) return not_modified(std::move(etag));
    auto response = json_response(200, layout_json(stored_definition(row), direction));
    response.set("ETag", std::move(etag));
    return response;
}

http::Response get_input_schema(Service& service, Call& call) {
    const auto version = asked_version(call, "version");
    call.query.check_all_used();
    const WorkflowRow row = find_version(service, call, version);
    std::string etag = fmt::format("\"{}\"", row.checksum);
    if (matches(call, etag)) return not_modified(std::move(etag));
    const Definition definition = stored_definition(row);
    const Payload& schema = definition.input_schema;
    auto response = json_response(200, schema.empty() ? std::string("{}") : std::string(schema));
    response.set("ETag", std::move(etag));
    return response;
}

Json compared_json(const Definition& definition) {
    return {
        {"workflow", definition.name},
        {"version", definition.version},
        {"yaml", definition_to_yaml(definition)},
    };
}

http::Response get_difference(Service& service, Call& call) {
    check_workflow(call, call.parameter("name"));
    const auto from = asked_version(call, "from");
    const auto to = asked_version(call, "to");
    call.query.check_all_used();
    if (!from || !to) {
        throw Problem(
            "invalid_argument", "The parameters \"from\" and \"to\" must each name a version."
        );
    }
    const WorkflowRow before = find_version(service, call, from);
    const WorkflowRow after = find_version(service, call, to);
    // The answer is a pure function of both definitions and this program.
    const std::string seed =
        fmt::format("{} {} {}", before.checksum, after.checksum, service.version);
    std::string etag = fmt::format("\"{}\"", sha256_hex(seed).substr(0, 16));
    if (matches(call, etag)) return not_modified(std::move(etag));
    const Definition first = stored_definition(before);
    const Definition second = stored_definition(after);
    Json json = {{"before", compared_json(first)}, {"after", compared_json(second)}};
    json.update(view::difference_json(model::compare(first, second)));
    auto response = json_response(200, json);
    response.set("ETag", std::move(etag));
    return response;
}

http::Response get_step_stats(Service& service, Call& call) {
    call.query.check_all_used();
    const WorkflowRow row = find_version(service, call);
    return json_response(
        200,
        view::step_stats_json(service.reader, service.reads, service.clock, row.name, row.version)
    );
}

http::Response register_workflow(Service& service, Call& call) {
    call.query.check_all_used();
    const Definition definition = read_definition(call);
    check_workflow(call, definition.name);
    const bool was_known =
        service.store.find_workflow(definition.name, definition.version).has_value();
    service.engine.register_workflow(definition);
    const auto row = service.store.find_workflow(definition.name, definition.version);
    auto response = json_response(
        was_known ? 200 : 201, view::workflow_json(row.value(), service.store.count_versions())
    );
    if (!was_known) {
        response.set(
            "Location",
            call.href(fmt::format(
                "/workflows/{}/versions/{}", percent_encode(definition.name), definition.version
            ))
        );
    }
    return response;
}

http::Response validate_workflow(Service& /*service*/, Call& call) {
    call.query.check_all_used();
    Json json = {
        {"valid", false}, {"problems", Json::array()}, {"definition", nullptr}, {"layout", nullptr}
    };
    try {
        const Definition definition = read_definition(call);
        json["valid"] = true;
        json["definition"] = Json::parse(definition_to_json(definition).dump());
        json["layout"] = layout_json(definition, DiagramOptions::Direction::Down);
    } catch (const DefinitionError& error) {
        json["problems"] = view::problems_json(error.diagnostics());
    }
    return json_response(200, json);
}

Json rule_json(Service& service, const std::string& workflow) {
    for (const RetentionRule& rule : service.store.retention()) {
        if (rule.workflow == workflow) {
            return view::retention_json(rule, service.store.partitions());
        }
    }
    throw Problem("not_found", "The rule was removed in the meantime.");
}

http::Response set_retention(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    check_workflow(call, call.parameter("name"));
    const Retention keep = read_retention(body);
    service.engine.set_retention(call.parameter("name"), keep);
    return json_response(200, rule_json(service, call.parameter("name")));
}

http::Response clear_retention(Service& service, Call& call) {
    call.query.check_all_used();
    check_workflow(call, call.parameter("name"));
    service.engine.clear_retention(call.parameter("name"));
    return {.status = 204};
}

http::Response list_retention(Service& service, Call& call) {
    call.query.check_all_used();
    const auto partitions = service.reads.partitions();
    Json items = Json::array();
    for (const RetentionRule& rule : service.reads.retention()) {
        const bool is_visible = rule.workflow == kOtherWorkflows ||
                                call.principal.may_with(call.permission, rule.workflow);
        if (!is_visible) continue;
        items.push_back(view::retention_json(rule, partitions));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

void add_retention_routes(const auto& add) {
    add("PUT",
        "/workflows/{name}/retention",
        "setRetention",
        "retention.write",
        set_retention,
        kJsonBytesMax,
        std::vector<std::string_view>{"application/json"});
    add("DELETE",
        "/workflows/{name}/retention",
        "clearRetention",
        "retention.write",
        clear_retention);
    add("GET", "/retention", "listRetention", "workflows.read", list_retention);
}

}  // namespace

void add_workflow_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         Permission permission,
                         http::Response (*handle)(Service&, Call&),
                         std::size_t body_bytes_max = 0,
                         std::vector<std::string_view> media_types = {}) {
        routes.push_back(
            {.method = method,
             .path = path,
             .operation = operation,
             .permission = permission,
             .handle = [&service, handle](Call& call) { return handle(service, call); },
             .body_bytes_max = body_bytes_max,
             .media_types = std::move(media_types),
             .reach = Reach::Project,
             .audited = operation == "validateWorkflow" ? Audited::Never : Audited::Acts}
        );
    };
    const std::vector<std::string_view> definitions{"application/json", kYaml};
    add("GET", "/workflows", "listWorkflows", "workflows.read", list_workflows);
    add("POST",
        "/workflows",
        "registerWorkflow",
        "workflows.write",
        register_workflow,
        kDefinitionBytesMax,
        definitions);
    add("POST",
        "/workflows/validate",
        "validateWorkflow",
        "workflows.read",
        validate_workflow,
        kDefinitionBytesMax,
        definitions);
    add("GET", "/workflows/{name}", "getWorkflow", "workflows.read", get_version);
    add("GET", "/workflows/{name}/versions", "listWorkflowVersions", "workflows.read", list_versions
    );
    add("GET", "/workflows/{name}/diff", "getWorkflowDifference", "workflows.read", get_difference);
    add("GET",
        "/workflows/{name}/input-schema",
        "getInputSchema",
        "workflows.read",
        get_input_schema);
    add("GET",
        "/workflows/{name}/versions/{version}",
        "getWorkflowVersion",
        "workflows.read",
        get_version);
    add("GET",
        "/workflows/{name}/versions/{version}/layout",
        "getWorkflowLayout",
        "workflows.read",
        get_layout);
    add("GET",
        "/workflows/{name}/versions/{version}/steps",
        "getStepStats",
        "stats.read",
        get_step_stats);
    add_retention_routes(add);
}

}  // namespace ebb::server
