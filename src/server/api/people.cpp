// Routes for people who look after instances: what waits for a decision, and what has failed.

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "server/api/payloads.h"
#include "server/api/service.h"
#include "store/stored_definition.h"
#include "view/triage_json.h"

namespace ebb::server {

namespace {

using view::Json;

/// Whether the principal reads the messages of failures of this workflow.
bool reads_messages(Service& service, const Principal& principal, const FailureNote& note) {
    return !payload_view(service, principal, {note.workflow, note.version}).is_hidden;
}

constexpr int kPageDefault = 50;

[[noreturn]] void refuse_cursor() {
    throw Problem("invalid_argument", "The cursor is not one of this server.");
}

/// The part of a cursor up to the next dot, which is taken away with it.
std::string_view take_part(std::string_view& cursor) {
    const std::size_t dot = cursor.find('.');
    const std::string_view part = cursor.substr(0, dot);
    cursor.remove_prefix(dot == std::string_view::npos ? cursor.size() : dot + 1);
    return part;
}

std::int64_t take_number(std::string_view& cursor) {
    const std::string_view part = take_part(cursor);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) refuse_cursor();
    return number;
}

InstanceId take_id(std::string_view& cursor) {
    const auto id = InstanceId::parse(take_part(cursor));
    if (!id) refuse_cursor();
    return *id;
}

TimePoint take_time(std::string_view& cursor) {
    return TimePoint(Duration(take_number(cursor)));
}

std::int64_t micros(TimePoint time) {
    return time.time_since_epoch().count();
}

/// One row more is read, to know whether there is another page.
int page_size(Call& call) {
    const auto limit = call.query.integer("limit", 1, kPageMax).value_or(kPageDefault);
    return std::min(static_cast<int>(limit), DecisionQuery::kLimitMax - 1);
}

std::vector<InstanceStatus> failure_statuses(Call& call) {
    std::vector<InstanceStatus> statuses;
    for (const std::string& status : call.query.list("status")) {
        const auto parsed = parse_status(status);
        if (parsed != InstanceStatus::DeadLetter && parsed != InstanceStatus::Failed) {
            throw Problem(
                "invalid_argument", "The parameter \"status\" is not dead_letter or failed."
            );
        }
        statuses.push_back(*parsed);
    }
    return statuses;
}

/// `rows` has one more than the page when there is a next page.
template <class Row, class View, class Cursor>
http::Response page_of(std::vector<Row> rows, int limit, View view, Cursor cursor_of) {
    const bool has_more = std::ssize(rows) > limit;
    if (has_more) rows.resize(static_cast<std::size_t>(limit));
    Json items = Json::array();
    for (const Row& row : rows) items.push_back(view(row));
    return json_response(
        200,
        {{"items", std::move(items)},
         {"next_cursor", has_more ? Json(cursor_of(rows.back())) : Json(nullptr)},
         {"complete", true}}
    );
}

http::Response list_decisions(Service& service, Call& call) {
    const int limit = page_size(call);
    DecisionQuery query{.limit = limit + 1};
    const auto wanted = call.query.text("workflow").value_or("");
    const auto workflows = visible_workflows(service, call.principal, "decisions.read", wanted);
    query.workflow = workflows.value_or("");
    if (const auto role = call.query.text("role")) query.roles = {*role};
    query.deadline_before = call.query.time("deadline_before").value_or(kNever);
    if (const auto text = call.query.text("cursor")) {
        std::string_view cursor = *text;
        query.after = WaitPlace{
            .since = take_time(cursor), .instance = take_id(cursor), .token = take_number(cursor)
        };
    }
    call.query.check_all_used();
    return page_of(
        workflows ? service.reader.decisions(query) : std::vector<AwaitedDecision>(),
        limit,
        view::decision_json,
        [](const AwaitedDecision& last) {
            return fmt::format(
                "{}.{}.{}", micros(last.since), last.instance.to_string(), last.token
            );
        }
    );
}

http::Response list_failure_groups(Service& service, Call& call) {
    FailureGroupQuery query{
        .workflow = call.query.text("workflow").value_or(""), .statuses = failure_statuses(call)
    };
    call.query.check_all_used();
    const auto workflows =
        visible_workflows(service, call.principal, "instances.read", query.workflow);
    query.workflow = workflows.value_or("");
    const FailureGroups found = workflows ? service.reader.failures(query) : FailureGroups();
    Json items = Json::array();
    for (const FailureGroup& group : found.groups) {
        items.push_back(view::failure_group_json(group));
        if (!reads_messages(service, call.principal, group.newest)) {
            items.back()["message"] = nullptr;
        }
    }
    return json_response(
        200, {{"items", std::move(items)}, {"complete", found.is_complete}, {"scanned_to", nullptr}}
    );
}

http::Response list_failures(Service& service, Call& call) {
    const int limit = page_size(call);
    FailureQuery query{
        .group = call.parameter("group"), .statuses = failure_statuses(call), .limit = limit + 1
    };
    if (const auto text = call.query.text("cursor")) {
        std::string_view cursor = *text;
        query.after = FailurePlace{.at = take_time(cursor), .instance = take_id(cursor)};
    }
    call.query.check_all_used();
    auto failures = service.reader.failed_instances(query);
    // All failures of a group are of one workflow.
    const bool is_visible =
        failures.empty() ||
        call.principal.may_with("instances.read", failures.front().note.workflow);
    if (!is_visible) failures.clear();
    return page_of(
        std::move(failures),
        limit,
        [&](const FailedInstance& failed) {
            Json json = view::failed_instance_json(failed);
            if (!reads_messages(service, call.principal, failed.note)) json["message"] = nullptr;
            return json;
        },
        [](const FailedInstance& last) {
            return fmt::format("{}.{}", micros(last.note.at), last.instance.to_string());
        }
    );
}

}  // namespace

std::vector<std::string> awaited_roles(
    Service& service, const InstanceId& id, std::string_view node
) {
    const auto row = service.store.load(id);
    const auto kept = row ? service.store.find_workflow(row->workflow, row->version) : std::nullopt;
    if (!kept) return {};
    const auto program = stored_program(*kept);
    const InstanceState state = decode_state(row->state, *program);
    std::vector<const ProgramNode*> found;
    for (const Token& token : state.tokens) {
        const ProgramNode& at = program->node(token.node);
        const bool is_meant = node.empty() || at.name == node;
        if (token.status == TokenStatus::WaitingDecision && is_meant) found.push_back(&at);
    }
    return found.size() == 1 ? found.front()->human.roles : std::vector<std::string>{};
}

void add_people_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/decisions",
         .operation = "listDecisions",
         .permission = "decisions.read",
         .handle = [&service](Call& call) { return list_decisions(service, call); },
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/failures/groups",
         .operation = "listFailureGroups",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return list_failure_groups(service, call); },
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/failures/{group}",
         .operation = "listFailures",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return list_failures(service, call); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
