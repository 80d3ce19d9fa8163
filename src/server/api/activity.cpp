// The route that says what happened by spans of time.

#include "view/activity.h"

#include <memory>

#include "server/api/activity.h"

namespace ebb::server {

namespace {

/// One look of the server, and how long it then leaves the store alone, however many ask.
constexpr Duration kLookMax = std::chrono::milliseconds(150);
constexpr Duration kPause = std::chrono::seconds(2);
/// While it still counts back.
constexpr Duration kCountingPause = std::chrono::milliseconds(500);

view::ActivityQuery read_query(Query& query) {
    view::ActivityQuery wanted;
    const Duration most = view::ActivityQuery::kWindowMax;
    if (const auto window = query.duration("window", most)) wanted.window = *window;
    wanted.step = query.duration("step", most);
    wanted.until = query.time("until");
    wanted.workflow = query.text("workflow").value_or("");
    query.check_all_used();
    return wanted;
}

http::Response get_activity(Service& service, view::Activity& activity, Call& call) {
    const view::ActivityQuery query = read_query(call.query);
    // What the system does for users is not what they ask about.
    const auto is_visible = [&](const std::string& workflow) {
        return !is_system_workflow(workflow) && call.principal.may_with("stats.read", workflow);
    };
    // A wrong question is refused before anything is read.
    view::activity_span(query, service.reads.now());
    if (!query.workflow.empty()) {
        const bool is_known = is_visible(query.workflow) &&
                              service.reads.find_workflow(query.workflow, std::nullopt).has_value();
        if (!is_known) throw Problem("workflow_not_found", "There is no workflow of this name.");
    }
    activity.look(kLookMax, activity.is_complete() ? kPause : kCountingPause);
    return json_response(200, view::activity_json(activity.report(query, is_visible)));
}

}  // namespace

void add_activity_routes(Routes& routes, Service& service) {
    auto activity = std::make_shared<view::Activity>(service.reads, service.clock);
    routes.push_back({
        .method = "GET",
        .path = "/stats/activity",
        .operation = "getActivity",
        .permission = "stats.read",
        .handle = [&service,
                   activity](Call& call) { return get_activity(service, *activity, call); },
        .reach = Reach::Project,
    });
}

}  // namespace ebb::server
