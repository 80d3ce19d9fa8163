// Routes that show what has happened to an instance.

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "call/event_view.h"
#include "engine/core.h"
#include "server/api/payloads.h"
#include "server/api/service.h"
#include "view/timeline.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::int64_t kSeqMax = std::int64_t{1} << 53;

void require(Service& service, const InstanceId& id) {
    if (service.reads.load(id)) return;
    throw Problem("instance_not_found", fmt::format("There is no instance {}.", id.to_string()));
}

http::Response get_history(Service& service, Call& call) {
    HistoryQuery query{.instance = resolve(service, call)};
    query.after = call.query.integer("after", 0, kSeqMax).value_or(0);
    query.before = call.query.integer("before", 1, kSeqMax).value_or(0);
    const bool is_backward = call.query.choice("order", {"forward", "backward"}) == "backward";
    query.order = is_backward ? HistoryQuery::Order::Backward : HistoryQuery::Order::Forward;
    query.node = call.query.text("node").value_or("");
    for (const std::string& name : call.query.list("type")) {
        const auto type = parse_history_type(name);
        if (!type) throw Problem("invalid_argument", "The parameter \"type\" has an unknown type.");
        query.types.push_back(*type);
    }
    const auto limit = static_cast<int>(call.query.integer("limit", 1, kPageMax).value_or(200));
    PayloadDocument document(payload_view(service, call, query.instance));
    call.query.check_all_used();
    query.limit = limit + 1;
    auto events = service.reads.history(query);
    if (events.empty()) require(service, query.instance);
    const bool has_more = static_cast<int>(events.size()) > limit;
    if (has_more) events.pop_back();
    Json items = Json::array();
    for (const HistoryEvent& event : events) {
        items.push_back(document.event(to_entry(event)));
    }
    return json_response(
        200, document.text({{"items", std::move(items)}, {"complete", !has_more}})
    );
}

http::Response get_payload(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    const PayloadView view = payload_view(service, call, id);
    call.query.check_all_used();
    Query path("seq=" + call.parameter("seq"));
    const std::int64_t seq = *path.integer("seq", 1, kSeqMax);
    const auto events =
        service.reads.history({.instance = id, .after = seq - 1, .before = seq + 1, .limit = 1});
    if (events.empty()) {
        require(service, id);
        throw Problem("not_found", fmt::format("The instance has no event {}.", seq));
    }
    Payload payload = to_entry(events.front()).payload;
    if (view.is_hidden) throw Problem("not_allowed", "This server shows no payloads.");
    if (view.redaction != nullptr) payload = view.redaction->apply(payload, view.of);
    auto response = json_response(200, payload.empty() ? "null" : payload);
    response.set(
        "Content-Disposition",
        fmt::format("attachment; filename=\"{}-{}.json\"", id.to_string(), seq)
    );
    response.set("Content-Security-Policy", "sandbox; default-src 'none'");
    return response;
}

/// The code of a failure; empty if the event has none, or if its payload is redacted there.
std::string code_of(const HistoryEntry& event, const PayloadView& payloads) {
    constexpr std::array<std::string_view, 4> kFailures{
        "step_retried", "step_failed", "compensation_retried", "compensation_failed"
    };
    if (std::find(kFailures.begin(), kFailures.end(), event.type) == kFailures.end()) return {};
    // A code says what kind of failure it was. Lists show it to the same callers.
    const Payload failure = payloads.is_hidden ? event.payload : payloads.shown(event.payload);
    const Json json = Json::parse(failure, nullptr, false);
    const auto found = json.is_object() ? json.find("code") : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

http::Response get_timeline(Service& service, Call& call) {
    constexpr int kPage = 1'000;
    constexpr std::int64_t kEventsMax = 20'000;
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    const InstanceView view =
        Engine::Core::of(service.reader).show(id, shown_payloads(service, call.principal));
    const InstanceSummary& summary = view.summary;
    const PayloadView payloads =
        payload_view(service, call.principal, {summary.workflow, summary.version}, call.is_own);
    view::Timeline timeline;
    HistoryQuery query{.instance = id, .limit = kPage};
    bool is_complete = false;
    for (std::int64_t seen = 0; seen < kEventsMax && !is_complete; seen += kPage) {
        const auto events = service.reads.history(query);
        for (const HistoryEvent& event : events) {
            const HistoryEntry entry = to_entry(event);
            timeline.add(entry, code_of(entry, payloads));
            query.after = entry.seq;
        }
        is_complete = std::ssize(events) < kPage;
    }
    const bool is_over =
        is_terminal(summary.status) || summary.status == InstanceStatus::DeadLetter;
    timeline.finish(view.steps, service.clock.now(), is_over);
    Json json = timeline.json();
    json["is_over"] = is_over;
    json["complete"] = is_complete;
    return json_response(200, json);
}

}  // namespace

void add_history_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/history",
         .operation = "getHistory",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return get_history(service, call); },
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/timeline",
         .operation = "getTimeline",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return get_timeline(service, call); },
         .reach = Reach::Project}
    );
    routes.push_back(
        {.method = "GET",
         .path = "/instances/{id}/history/{seq}/payload",
         .operation = "getPayload",
         .permission = "payloads.read",
         .handle = [&service](Call& call) { return get_payload(service, call); },
         .reach = Reach::Project,
         .audited = Audited::Always}
    );
}

}  // namespace ebb::server
