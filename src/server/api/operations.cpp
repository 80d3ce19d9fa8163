// Routes about workers, queues, figures, and deleting what is old.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "engine/view.h"
#include "server/api/body.h"
#include "server/api/service.h"
#include "server/api/settings.h"
#include "server/live/hub.h"
#include "support/clock.h"
#include "view/delayed.h"
#include "view/instance_json.h"
#include "view/retention_json.h"
#include "view/worker_json.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr std::size_t kHitsMax = 20;

http::Response get_stats(Service& service, Call& call) {
    call.query.check_all_used();
    // What the system does for users is not what they ask about.
    const auto is_counted = [&](const std::string& workflow) {
        return !is_system_workflow(workflow) && call.principal.may_with("stats.read", workflow);
    };
    std::map<std::string, std::int64_t> instances;
    for (const StatusCount& count : service.reads.count()) {
        // A count is of one workflow.
        if (!is_counted(count.workflow)) continue;
        instances[std::string(to_string(count.status))] += count.count;
    }
    std::set<std::string> workflows;
    for (const WorkflowRow& row : service.reads.list_workflows()) {
        if (is_counted(row.name)) workflows.insert(row.name);
    }
    int alive = 0;
    int draining = 0;
    int dead = 0;
    for (const WorkerView& worker : service.reader.workers()) {
        int& count = !worker.is_alive ? dead : worker.is_draining ? draining : alive;
        ++count;
    }
    std::int64_t unserved = 0;
    for (const UnservedTasks& tasks : service.reader.unserved()) unserved += tasks.count;
    const EngineCounters counters = service.engine.counters();
    return json_response(
        200,
        Json{
            {"instances", std::move(instances)},
            {"workflows", workflows.size()},
            {"workers", {{"alive", alive}, {"draining", draining}, {"dead", dead}}},
            {"unserved", unserved},
            {"server",
             {{"started", counters.started},
              {"finished", counters.finished},
              {"steps", counters.steps},
              {"attempts_failed", counters.attempts_failed},
              {"in_flight", counters.in_flight},
              {"stuck_handlers", counters.stuck_handlers},
              {"watchers", service.hub.watchers()}}},
        }
    );
}

http::Response list_workers(Service& service, Call& call) {
    call.query.check_all_used();
    Json items = Json::array();
    for (const WorkerView& worker : service.reader.workers()) {
        items.push_back(view::worker_json(worker));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

http::Response get_worker(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string& id = call.parameter("name");
    for (const WorkerView& worker : service.reader.workers()) {
        if (worker.id == id) return json_response(200, view::worker_json(worker));
    }
    throw Problem("not_found", fmt::format("There is no worker \"{}\".", id));
}

http::Response list_unserved(Service& service, Call& call) {
    call.query.check_all_used();
    Json items = Json::array();
    for (const UnservedTasks& tasks : service.reader.unserved()) {
        items.push_back(view::unserved_json(tasks));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

/// One look of the server, and how long it then leaves the store alone, however many ask.
constexpr Duration kDelayedLookMax = std::chrono::milliseconds(100);
constexpr Duration kDelayedPause = std::chrono::seconds(5);

http::Response list_delayed(view::Delayed& delayed, Call& call) {
    call.query.check_all_used();
    const auto is_visible = [&](const std::string& workflow) {
        return !is_system_workflow(workflow) && call.principal.may_with("workers.read", workflow);
    };
    delayed.look(kDelayedLookMax, delayed.is_complete() ? kDelayedPause : Duration::zero());
    auto tasks = delayed.report(is_visible);
    return json_response(200, view::delayed_json(tasks, delayed.is_complete()));
}

http::Response list_queues(Service& service, Call& call) {
    call.query.check_all_used();
    Json items = Json::array();
    for (const QueueView& queue : service.reader.queues()) {
        const bool is_visible = call.principal.may_with_queue("workers.read", queue.name);
        if (is_visible) items.push_back(view::queue_json(queue));
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

std::optional<QueueView> find_queue(Store& store, const std::string& name) {
    for (QueueUse& use : store.queues({.name = name})) {
        if (use.view.name == name) return std::move(use.view);
    }
    return std::nullopt;
}

void check_queue(const Call& call) {
    const std::string& name = call.parameter("name");
    if (call.principal.may_with_queue(call.permission, name)) return;
    throw Problem(
        "not_allowed",
        fmt::format(
            "{} lacks the permission {} for the queue {}.",
            call.principal.name,
            call.permission,
            name
        )
    );
}

http::Response get_queue(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string& name = call.parameter("name");
    const bool is_visible = call.principal.may_with_queue("workers.read", name);
    const auto queue = is_visible ? find_queue(service.reads, name) : std::nullopt;
    if (!queue) throw Problem("not_found", "There is no queue of this name with limits or tasks.");
    return json_response(200, view::queue_json(*queue));
}

http::Response set_queue(Service& service, Call& call) {
    call.query.check_all_used();
    check_queue(call);
    Body body(call.request.body);
    const QueueLimits limits = read_queue_limits(body);
    const std::string& name = call.parameter("name");
    service.engine.set_queue(name, limits);
    QueueView none;
    none.name = name;
    return json_response(200, view::queue_json(find_queue(service.store, name).value_or(none)));
}

http::Response clear_queue(Service& service, Call& call) {
    call.query.check_all_used();
    check_queue(call);
    service.engine.set_queue(call.parameter("name"), {});
    return {.status = 204};
}

/// What cannot be undone is done only to as many instances as the caller has seen.
void check_confirmed(Service& service, PurgeOptions options, std::int64_t confirmed) {
    options.only_counts = true;
    const std::int64_t matched = service.engine.purge(options).instances;
    if (matched == confirmed) return;
    throw Problem(
        "precondition_failed",
        fmt::format("The request confirms {} instances, and {} match.", confirmed, matched)
    )
        .with("matched", matched);
}

http::Response purge(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    PurgeOptions options{.workflow = body.text("workflow", 128).value_or("")};
    if (const auto text = body.text("older_than", 32)) {
        options.older_than = parse_duration(*text);
        if (!options.older_than) {
            throw Problem(
                "invalid_argument", "The member \"older_than\" is not a duration such as 30d."
            );
        }
    }
    options.only_counts = body.boolean("dry_run", false);
    const auto confirmed = body.integer("confirm", 0, std::numeric_limits<std::int64_t>::max());
    body.check_all_used();
    if (!options.workflow.empty()) {
        check_workflow(call, options.workflow);
    } else if (!call.principal.may_everywhere(call.permission)) {
        throw Problem("not_allowed", "The member \"workflow\" must name one of your workflows.");
    }
    if (confirmed) check_confirmed(service, options, *confirmed);
    const PurgeReport report = service.engine.purge(options);
    return json_response(200, view::purge_json(report, options.only_counts));
}

/// Whatever a person may type to find something; every look uses an index.
http::Response search(Service& service, Call& call) {
    const std::string text = call.query.text("q").value_or("");
    call.query.check_all_used();
    if (text.empty()) throw Problem("invalid_argument", "The parameter \"q\" is missing.");
    Json items = Json::array();
    std::set<InstanceId> seen;
    const auto add_instance = [&](const InstanceRow& row) {
        if (!may_see(call.principal, row)) return;
        if (items.size() >= kHitsMax || !seen.insert(row.id).second) return;
        items.push_back({
            {"kind", "instance"},
            {"title",
             fmt::format("{} {}", row.workflow, row.key.empty() ? row.id.to_string() : row.key)},
            {"instance", view::summary_json(engine::to_summary(row))},
        });
    };
    try {
        if (const auto row = service.reads.load(resolve(service, call.principal, text)))
            add_instance(*row);
    } catch (const Problem& problem) {
        const auto candidates = problem.members().find("candidates");
        if (candidates != problem.members().end()) {
            for (const Json& id : *candidates) {
                const auto parsed = InstanceId::parse(id.get<std::string>());
                if (const auto row = service.reads.load(parsed.value())) add_instance(*row);
            }
        }
    }
    std::set<std::string> names;
    for (const WorkflowRow& row : service.reads.list_workflows()) {
        if (!call.principal.may_with("workflows.read", row.name)) continue;
        if (!names.insert(row.name).second) continue;
        if (const auto id = service.reads.find_key(row.name, text)) {
            if (const auto found = service.reads.load(*id)) add_instance(*found);
        }
    }
    for (const std::string& name : names) {
        if (items.size() >= kHitsMax || name.find(text) == std::string::npos) continue;
        items.push_back({{"kind", "workflow"}, {"title", name}, {"workflow", name}});
    }
    return json_response(200, Json{{"items", std::move(items)}});
}

}  // namespace

void add_operation_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         Permission permission,
                         http::Response (*handle)(Service&, Call&),
                         Reach reach = Reach::Project) {
        Route route{
            .method = method,
            .path = path,
            .operation = operation,
            .permission = permission,
            .handle = [&service, handle](Call& call) { return handle(service, call); },
            .reach = reach
        };
        if (method == "POST" || method == "PUT") {
            route.body_bytes_max = kJsonBytesMax;
            route.media_types = {"application/json"};
        }
        routes.push_back(std::move(route));
    };
    add("GET", "/stats", "getStats", "stats.read", get_stats);
    add("GET", "/workers", "listWorkers", "workers.read", list_workers, Reach::Server);
    add("GET", "/workers/{name}", "getWorker", "workers.read", get_worker, Reach::Server);
    add("GET", "/unserved", "listUnserved", "workers.read", list_unserved, Reach::Server);
    auto delayed = std::make_shared<view::Delayed>(service.reads, service.clock);
    routes.push_back({
        .method = "GET",
        .path = "/delayed",
        .operation = "listDelayed",
        .permission = "workers.read",
        .handle = [delayed](Call& call) { return list_delayed(*delayed, call); },
        .reach = Reach::Project,
    });
    add("GET", "/queues", "listQueues", "workers.read", list_queues);
    add("GET", "/queues/{name}", "getQueue", "workers.read", get_queue);
    add("PUT", "/queues/{name}", "setQueue", "queues.write", set_queue);
    add("DELETE", "/queues/{name}", "clearQueue", "queues.write", clear_queue);
    add("POST", "/purge", "purge", "purge", purge);
    add("GET", "/search", "search", "instances.read", search);
}

}  // namespace ebb::server
