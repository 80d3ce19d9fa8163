// Looking at a server: every function is a request to its API.

#include "cli/remote_reading.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>

#include "cli/api_views.h"
#include "cli/remote_paths.h"
#include "store/stored_definition.h"

namespace ebb::cli {

namespace {

constexpr int kPageMax = 1'000;
/// Of a page whose rows are looked at one by one.
constexpr int kOutlinesMax = 200;

bool is_missing(const Error& error) {
    return error.code() == ErrorCode::InstanceNotFound ||
           error.code() == ErrorCode::WorkflowNotFound;
}

void add_statuses(UrlQuery& query, const std::vector<InstanceStatus>& wanted) {
    std::vector<std::string_view> statuses;
    for (const InstanceStatus status : wanted) statuses.push_back(to_string(status));
    if (!statuses.empty()) query.add("status", fmt::format("{}", fmt::join(statuses, ",")));
}

std::string cursor_of(const WaitPlace& place) {
    return fmt::format(
        "{}.{}.{}", place.since.time_since_epoch().count(), place.instance.to_string(), place.token
    );
}

std::string cursor_of(const FailurePlace& place) {
    return fmt::format("{}.{}", place.at.time_since_epoch().count(), place.instance.to_string());
}

UrlQuery filter_query(const ListOptions& options) {
    UrlQuery query;
    add_statuses(query, options.statuses);
    if (!options.workflow.empty()) query.add("workflow", options.workflow);
    if (options.version) query.add("version", std::to_string(*options.version));
    if (!options.key.empty()) query.add("key", options.key);
    if (options.before) query.add("before", options.before->to_string());
    if (options.after) query.add("after", options.after->to_string());
    return query;
}

UrlQuery list_query(const ListOptions& options, int limit_max) {
    UrlQuery query = filter_query(options);
    if (options.order == InstanceOrder::OldestFirst) query.add("sort", "created");
    query.add("limit", std::to_string(std::min(options.limit, limit_max)));
    return query;
}

/// After which instance the next page of a list begins.
std::optional<InstanceId> next_of(const ApiObject& page) {
    const auto before = InstanceId::parse(page.text("next_before"));
    return before ? before : InstanceId::parse(page.text("next_after"));
}

struct ListedPages {
    int page_max = kPageMax;
    bool has_outlines = false;
};

/// As many as are wanted, however many pages that takes: a page may end early.
template <typename Take>
void each_instance(ApiCalls& calls, ListOptions wanted, const ListedPages& pages, Take take) {
    while (wanted.limit > 0) {
        UrlQuery url = list_query(wanted, pages.page_max);
        if (pages.has_outlines) url.add("outline", "true");
        const ApiObject page(calls.get("/instances" + url.text()).body);
        for (const ApiObject& item : page.objects("items")) {
            take(item);
            --wanted.limit;
        }
        const auto next = next_of(page);
        if (!next) return;
        wanted.go_on_after(*next);
    }
}

void add_where(UrlQuery& query, const ListOptions& options) {
    query.add("where", options.where.empty() ? "true" : options.where);
}

ApiObject filtered_page(
    ApiCalls& calls, const ListOptions& options, int limit_max, bool has_outlines
) {
    UrlQuery query = list_query(options, limit_max);
    add_where(query, options);
    if (has_outlines) query.add("outline", "true");
    return ApiObject(calls.get("/instances" + query.text()).body);
}

/// Of all pages.
template <typename Take>
void each_item(ApiCalls& calls, const std::string& path, UrlQuery query, Take take) {
    query.add("limit", std::to_string(kPageMax));
    std::string cursor;
    do {
        UrlQuery page_query = query;
        if (!cursor.empty()) page_query.add("cursor", cursor);
        const ApiObject page(calls.get(path + page_query.text()).body);
        for (const ApiObject& item : page.objects("items")) take(item);
        cursor = page.text("next_cursor");
    } while (!cursor.empty());
}

/// Of as many pages as hold `limit` items.
template <typename Take>
void take_items(
    ApiCalls& calls, const std::string& path, const UrlQuery& query, int limit, Take take
) {
    std::string cursor;
    while (limit > 0) {
        UrlQuery page_query = query;
        page_query.add("limit", std::to_string(std::min(limit, kPageMax)));
        if (!cursor.empty()) page_query.add("cursor", cursor);
        const ApiObject page(calls.get(path + page_query.text()).body);
        for (const ApiObject& item : page.objects("items")) {
            if (limit-- > 0) take(item);
        }
        cursor = page.text("next_cursor");
        if (cursor.empty()) return;
    }
}

}  // namespace

std::optional<InstanceSummary> RemoteReading::find(const InstanceId& id) {
    return find_path(instance_path(id));
}

std::optional<InstanceId> RemoteReading::find_key(std::string_view workflow, std::string_view key) {
    const std::string name = fmt::format("key:{}/{}", workflow, key);
    const auto found = find_path("/instances/" + escape_segment(name));
    if (!found) return std::nullopt;
    return found->id;
}

InstanceView RemoteReading::show(const InstanceId& id) {
    InstanceView view =
        instance_of(ApiObject(calls_.get(instance_path(id, "?payloads=full")).body));
    each_item(
        calls_,
        instance_path(id, "/steps"),
        UrlQuery().add("payloads", "full"),
        [&](auto& item) { view.steps.push_back(step_of(item)); }
    );
    return view;
}

std::vector<InstanceSummary> RemoteReading::list(const ListOptions& options) {
    std::vector<InstanceSummary> summaries;
    each_instance(calls_, options, {.page_max = kPageMax}, [&](const ApiObject& item) {
        summaries.push_back(summary_of(item));
    });
    return summaries;
}

std::vector<view::Outline> RemoteReading::outlines(const ListOptions& options) {
    std::vector<view::Outline> outlines;
    const ListedPages pages{.page_max = kOutlinesMax, .has_outlines = true};
    each_instance(calls_, options, pages, [&](const ApiObject& item) {
        outlines.push_back(outline_of(item));
    });
    return outlines;
}

Client::OutlinePage RemoteReading::outline_page(const ListOptions& options) {
    OutlinePage found;
    const ApiObject page = filtered_page(calls_, options, kOutlinesMax, true);
    for (const ApiObject& item : page.objects("items")) {
        found.outlines.push_back(outline_of(item));
    }
    found.next = next_of(page);
    return found;
}

InstancePage RemoteReading::list_page(const ListOptions& options) {
    InstancePage found;
    const ApiObject page = filtered_page(calls_, options, kPageMax, false);
    for (const ApiObject& item : page.objects("items")) {
        found.instances.push_back(summary_of(item));
    }
    found.next = next_of(page);
    return found;
}

std::vector<InstanceCount> RemoteReading::count(const ListOptions& options) {
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> sums;
    ListOptions rest = options;
    do {
        UrlQuery url = filter_query(rest);
        add_where(url, rest);
        const ApiObject page(calls_.get("/instances/count" + url.text()).body);
        for (const ApiObject& item : page.objects("counts")) {
            const auto status = parse_status(item.text("status"));
            if (status) sums[{item.text("workflow"), *status}] += item.integer("count");
        }
        rest.before = InstanceId::parse(page.text("next_before"));
    } while (rest.before);
    std::vector<InstanceCount> counts;
    for (const auto& [key, count] : sums) counts.push_back({key.first, key.second, count});
    return counts;
}

std::vector<HistoryEntry> RemoteReading::history(
    const InstanceId& id, std::int64_t after, int limit
) {
    UrlQuery query;
    query.add("after", std::to_string(after));
    query.add("limit", std::to_string(limit)).add("payloads", "full");
    const ApiObject page(calls_.get(instance_path(id, "/history") + query.text()).body);
    std::vector<HistoryEntry> entries;
    for (const ApiObject& item : page.objects("items")) entries.push_back(event_of(item));
    return entries;
}

std::string RemoteReading::why(const InstanceId& id) {
    return ApiObject(calls_.get(instance_path(id, "/why")).body).text("why");
}

std::vector<InstanceCount> RemoteReading::stats() {
    std::vector<InstanceCount> counts;
    each_item(calls_, "/workflows", {}, [&](const ApiObject& item) {
        const auto all = item.object("instances_of_all_versions");
        if (!all) return;
        for (const auto& [name, count] : all->integers()) {
            if (const auto status = parse_status(name)) {
                counts.push_back({item.text("name"), *status, count});
            }
        }
    });
    return counts;
}

Client::Workflows RemoteReading::workflows() {
    Workflows workflows;
    each_item(
        calls_,
        "/workflows",
        UrlQuery().add("versions", "all").add("system", "true"),
        [&](const ApiObject& item) {
            WorkflowRow row{
                .name = item.text("name"),
                .version = item.number("version").value_or(1),
                .definition = {},
                .checksum = item.text("checksum"),
                .created_at = item.time("created_at"),
            };
            if (const auto counts = item.object("instances")) {
                for (const auto& [name, count] : counts->integers()) {
                    if (const auto status = parse_status(name)) {
                        workflows.counts.push_back({row.name, row.version, *status, count});
                    }
                }
            }
            workflows.rows.push_back(std::move(row));
        }
    );
    return workflows;
}

bool RemoteReading::has_workflow(const std::string& name) {
    try {
        calls_.get(workflow_path(name, "/versions"));
        return true;
    } catch (const Error& error) {
        if (is_missing(error)) return false;
        throw;
    }
}

std::shared_ptr<const Definition> RemoteReading::definition(
    std::string_view workflow, std::optional<int> version
) {
    const std::string rest = version ? fmt::format("/versions/{}", *version) : "";
    const ApiObject answer(calls_.get(workflow_path(workflow, rest)).body);
    const WorkflowRow row{
        .name = answer.text("name"),
        .version = static_cast<int>(answer.integer("version")),
        .definition = answer.payload("definition"),
        .checksum = {},
    };
    return std::make_shared<const Definition>(stored_definition(row));
}

/// A request names one role, so several roles are several requests.
std::vector<AwaitedDecision> RemoteReading::decisions(const DecisionQuery& query) {
    UrlQuery url;
    if (!query.workflow.empty()) url.add("workflow", query.workflow);
    if (query.after) url.add("cursor", cursor_of(*query.after));
    // In the order of the list; a decision for several roles is found several times.
    std::map<std::tuple<TimePoint, InstanceId, std::string, std::int64_t>, AwaitedDecision> found;
    const auto take_all = [&](const UrlQuery& asked) {
        take_items(calls_, "/decisions", asked, query.limit, [&](const ApiObject& item) {
            AwaitedDecision decision = decision_of(item);
            std::tuple place(decision.since, decision.instance, decision.node, decision.visit);
            found.emplace(std::move(place), std::move(decision));
        });
    };
    if (!query.roles) take_all(url);
    for (const std::string& role : query.roles.value_or(std::vector<std::string>{})) {
        UrlQuery of_role = url;
        take_all(of_role.add("role", role));
    }
    std::vector<AwaitedDecision> decisions;
    for (auto& [place, decision] : found) {
        if (std::ssize(decisions) < query.limit) decisions.push_back(std::move(decision));
    }
    return decisions;
}

FailureGroups RemoteReading::failures(const FailureGroupQuery& query) {
    UrlQuery url;
    if (!query.workflow.empty()) url.add("workflow", query.workflow);
    add_statuses(url, query.statuses);
    const ApiObject page(calls_.get("/failures/groups" + url.text()).body);
    FailureGroups found{.groups = {}, .is_complete = page.boolean("complete")};
    for (const ApiObject& item : page.objects("items")) {
        found.groups.push_back(failure_group_of(item));
    }
    return found;
}

std::vector<FailedInstance> RemoteReading::failed_instances(const FailureQuery& query) {
    UrlQuery url;
    add_statuses(url, query.statuses);
    if (query.after) url.add("cursor", cursor_of(*query.after));
    std::vector<FailedInstance> failed;
    const std::string path = "/failures/" + escape_segment(query.group);
    take_items(calls_, path, url, query.limit, [&](const ApiObject& item) {
        failed.push_back(failed_instance_of(item));
    });
    return failed;
}

std::vector<WorkerView> RemoteReading::workers() {
    std::vector<WorkerView> workers;
    const ApiObject page(calls_.get("/workers").body);
    for (const ApiObject& item : page.objects("items")) workers.push_back(worker_of(item));
    return workers;
}

std::vector<UnservedTasks> RemoteReading::unserved() {
    std::vector<UnservedTasks> tasks;
    const ApiObject page(calls_.get("/unserved").body);
    for (const ApiObject& item : page.objects("items")) tasks.push_back(unserved_of(item));
    return tasks;
}

Client::Delayed RemoteReading::delayed() {
    const ApiObject page(calls_.get("/delayed").body);
    Delayed delayed{.tasks = {}, .is_complete = page.boolean("complete")};
    for (const ApiObject& item : page.objects("items")) delayed.tasks.push_back(delayed_of(item));
    return delayed;
}

std::vector<QueueView> RemoteReading::queues() {
    std::vector<QueueView> queues;
    const ApiObject page(calls_.get("/queues").body);
    for (const ApiObject& item : page.objects("items")) queues.push_back(queue_of(item));
    return queues;
}

/// What is asked for again and again is answered with 304 while nothing changes.
std::optional<InstanceSummary> RemoteReading::find_path(const std::string& path) {
    try {
        const bool is_known = path == found_path_;
        const auto answer = calls_.get(path + "?payloads=none", is_known ? found_etag_ : "");
        if (answer.status != 304) {
            found_ = summary_of(ApiObject(answer.body));
            found_path_ = path;
            found_etag_ = answer.etag;
        }
        return found_;
    } catch (const Error& error) {
        if (is_missing(error)) return std::nullopt;
        throw;
    }
}

}  // namespace ebb::cli
