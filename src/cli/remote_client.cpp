// The client of a server: every function is a request to its API.

#include "cli/remote_client.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>

#include "cli/api_views.h"
#include "support/clock.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

using Body = nlohmann::ordered_json;

constexpr int kPageMax = 1'000;
/// Of a page whose rows are looked at one by one.
constexpr int kOutlinesMax = 200;

std::string instance_path(const InstanceId& id, std::string_view rest = {}) {
    return fmt::format("/instances/{}{}", id.to_string(), rest);
}

std::string workflow_path(std::string_view name, std::string_view rest = {}) {
    return fmt::format("/workflows/{}{}", escape_segment(name), rest);
}

std::string hook_path(std::string_view name) {
    return fmt::format("/hooks/{}", escape_segment(name));
}

std::string webhook_path(std::string_view name, std::string_view rest = {}) {
    return fmt::format("/webhooks/{}{}", escape_segment(name), rest);
}

void add(Body& body, const char* name, std::string_view text) {
    if (!text.empty()) body[name] = text;
}

std::string tag_of(const std::optional<std::int64_t>& revision) {
    return revision ? fmt::format("\"{}\"", *revision) : std::string();
}

/// `body` with one more member whose value stands exactly as it is.
std::string with_payload(const Body& body, std::string_view name, const Payload& payload) {
    std::string text = body.dump();
    text.pop_back();
    if (text.size() > 1) text += ',';
    return fmt::format("{}\"{}\":{}}}", text, name, std::string_view(payload));
}

bool is_missing(const Error& error) {
    return error.code() == ErrorCode::InstanceNotFound ||
           error.code() == ErrorCode::WorkflowNotFound;
}

class RemoteClient : public Client {
 public:
    RemoteClient(ServerAddress address, std::string token)
        : calls_(std::move(address), std::move(token)) {}

    std::optional<InstanceSummary> find(const InstanceId& id) override {
        return find_path(instance_path(id));
    }

    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override {
        const std::string name = fmt::format("key:{}/{}", workflow, key);
        const auto found = find_path("/instances/" + escape_segment(name));
        if (!found) return std::nullopt;
        return found->id;
    }

    InstanceView show(const InstanceId& id) override {
        InstanceView view =
            instance_of(ApiObject(calls_.get(instance_path(id, "?payloads=full")).body));
        each_item(instance_path(id, "/steps"), UrlQuery().add("payloads", "full"), [&](auto& item) {
            view.steps.push_back(step_of(item));
        });
        return view;
    }

    std::vector<InstanceSummary> list(const ListOptions& options) override {
        const InstanceQuery query{
            .statuses = options.statuses,
            .workflow = options.workflow,
            .version = options.version,
            .key = options.key,
            .before = options.before,
            .limit = options.limit,
        };
        std::vector<InstanceSummary> summaries;
        each_instance(query, {.page_max = kPageMax}, [&](const ApiObject& item) {
            summaries.push_back(summary_of(item));
        });
        return summaries;
    }

    std::vector<view::Outline> outlines(const InstanceQuery& query) override {
        std::vector<view::Outline> outlines;
        const ListedPages pages{.page_max = kOutlinesMax, .has_outlines = true};
        each_instance(query, pages, [&](const ApiObject& item) {
            outlines.push_back(outline_of(item));
        });
        return outlines;
    }

    OutlinePage outline_page(const ListOptions& options) override {
        OutlinePage found;
        const ApiObject page = filtered_page(options, kOutlinesMax, true);
        for (const ApiObject& item : page.objects("items")) {
            found.outlines.push_back(outline_of(item));
        }
        found.next = InstanceId::parse(page.text("next_before"));
        return found;
    }

    InstancePage list_page(const ListOptions& options) override {
        InstancePage found;
        const ApiObject page = filtered_page(options, kPageMax, false);
        for (const ApiObject& item : page.objects("items")) {
            found.instances.push_back(summary_of(item));
        }
        found.next = InstanceId::parse(page.text("next_before"));
        return found;
    }

    std::vector<InstanceCount> count(const ListOptions& options) override {
        std::map<std::pair<std::string, InstanceStatus>, std::int64_t> sums;
        ListOptions rest = options;
        do {
            UrlQuery url = filter_query(rest);
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

    std::vector<HistoryEntry> history(const InstanceId& id, std::int64_t after, int limit)
        override {
        UrlQuery query;
        query.add("after", std::to_string(after));
        query.add("limit", std::to_string(limit)).add("payloads", "full");
        const ApiObject page(calls_.get(instance_path(id, "/history") + query.text()).body);
        std::vector<HistoryEntry> entries;
        for (const ApiObject& item : page.objects("items")) entries.push_back(event_of(item));
        return entries;
    }

    std::string why(const InstanceId& id) override {
        return ApiObject(calls_.get(instance_path(id, "/why")).body).text("why");
    }

    std::vector<InstanceCount> stats() override {
        std::vector<InstanceCount> counts;
        each_item("/workflows", {}, [&](const ApiObject& item) {
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

    Workflows workflows() override {
        Workflows workflows;
        each_item(
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

    bool has_workflow(const std::string& name) override {
        try {
            calls_.get(workflow_path(name, "/versions"));
            return true;
        } catch (const Error& error) {
            if (is_missing(error)) return false;
            throw;
        }
    }

    std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version
    ) override {
        const std::string rest = version ? fmt::format("/versions/{}", *version) : "";
        const ApiObject answer(calls_.get(workflow_path(workflow, rest)).body);
        return std::make_shared<const Definition>(parse_definition_json(answer.payload("definition")
        ));
    }

    void register_workflow(const Definition& definition) override {
        calls_.send({.path = "/workflows", .body = definition_to_json(definition).dump()});
    }

    /// A request names one role, so several roles are several requests.
    std::vector<AwaitedDecision> decisions(const DecisionQuery& query) override {
        UrlQuery url;
        if (!query.workflow.empty()) url.add("workflow", query.workflow);
        if (query.after) url.add("cursor", cursor_of(*query.after));
        // In the order of the list; a decision for several roles is found several times.
        std::map<std::tuple<TimePoint, InstanceId, std::string, std::int64_t>, AwaitedDecision>
            found;
        const auto take_all = [&](const UrlQuery& asked) {
            take_items("/decisions", asked, query.limit, [&](const ApiObject& item) {
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

    FailureGroups failures(const FailureGroupQuery& query) override {
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

    std::vector<FailedInstance> failed_instances(const FailureQuery& query) override {
        UrlQuery url;
        add_statuses(url, query.statuses);
        if (query.after) url.add("cursor", cursor_of(*query.after));
        std::vector<FailedInstance> failed;
        const std::string path = "/failures/" + escape_segment(query.group);
        take_items(path, url, query.limit, [&](const ApiObject& item) {
            failed.push_back(failed_instance_of(item));
        });
        return failed;
    }

    std::vector<WorkerView> workers() override {
        std::vector<WorkerView> workers;
        const ApiObject page(calls_.get("/workers").body);
        for (const ApiObject& item : page.objects("items")) workers.push_back(worker_of(item));
        return workers;
    }

    std::vector<UnservedTasks> unserved() override {
        std::vector<UnservedTasks> tasks;
        const ApiObject page(calls_.get("/unserved").body);
        for (const ApiObject& item : page.objects("items")) tasks.push_back(unserved_of(item));
        return tasks;
    }

    std::vector<QueueView> queues() override {
        std::vector<QueueView> queues;
        const ApiObject page(calls_.get("/queues").body);
        for (const ApiObject& item : page.objects("items")) queues.push_back(queue_of(item));
        return queues;
    }

    void set_queue(std::string_view name, const QueueLimits& limits) override {
        const std::string path = fmt::format("/queues/{}", escape_segment(name));
        if (limits.is_unlimited()) {
            calls_.send({.method = "DELETE", .path = path});
            return;
        }
        Body body = Body::object();
        if (limits.concurrency) body["concurrency"] = *limits.concurrency;
        if (limits.concurrency_per_key) body["concurrency_per_key"] = *limits.concurrency_per_key;
        if (limits.rate) {
            const std::string period = format_duration(limits.rate->period);
            body["rate"] = {{"starts", limits.rate->starts}, {"period", period}};
        }
        calls_.send({.method = "PUT", .path = path, .body = body.dump()});
    }

    std::vector<Json> hooks() override { return items_of("/hooks"); }

    Json hook(const std::string& name) override {
        return Json::parse(calls_.get(hook_path(name)).body);
    }

    Json put_hook(const std::string& name, const Json& settings) override {
        return Json::parse(
            calls_.send({.method = "PUT", .path = hook_path(name), .body = settings.dump()}).body
        );
    }

    void remove_hook(const std::string& name) override {
        calls_.send({.method = "DELETE", .path = hook_path(name)});
    }

    std::vector<Json> webhooks() override { return items_of("/webhooks"); }

    Json webhook(const std::string& name) override {
        return Json::parse(calls_.get(webhook_path(name)).body);
    }

    Json put_webhook(const std::string& name, const Json& settings) override {
        return Json::parse(
            calls_.send({.method = "PUT", .path = webhook_path(name), .body = settings.dump()}).body
        );
    }

    void remove_webhook(const std::string& name) override {
        calls_.send({.method = "DELETE", .path = webhook_path(name)});
    }

    Json rotate_webhook(const std::string& name, Duration keep_old) override {
        const Body body{{"keep_old", format_duration(keep_old)}};
        return Json::parse(
            calls_.send({.path = webhook_path(name, "/rotate"), .body = body.dump()}).body
        );
    }

    void ping_webhook(const std::string& name) override {
        calls_.send({.path = webhook_path(name, "/ping")});
    }

    std::vector<Json> deliveries(const std::string& webhook, const std::string& status, int limit)
        override {
        std::vector<Json> all;
        std::string cursor;
        do {
            constexpr int kPage = 200;
            const int rest = std::min(limit - static_cast<int>(all.size()), kPage);
            std::string path = webhook_path(webhook, fmt::format("/deliveries?limit={}", rest));
            if (!status.empty()) path += "&status=" + escape_segment(status);
            if (!cursor.empty()) path += "&cursor=" + escape_segment(cursor);
            const Json page = Json::parse(calls_.get(path).body);
            for (const Json& item : page.at("items")) all.push_back(item);
            const Json& next = page.at("next_cursor");
            cursor = next.is_string() ? next.get<std::string>() : std::string();
        } while (!cursor.empty() && std::ssize(all) < limit);
        return all;
    }

    void redeliver(const std::string& webhook, const InstanceId& delivery) override {
        const std::string rest = fmt::format("/deliveries/{}/redeliver", delivery.to_string());
        calls_.send({.path = webhook_path(webhook, rest)});
    }

    StartedInstance start(
        std::string_view workflow, const Payload& input, const StartOptions& options
    ) override {
        Body body{{"workflow", workflow}};
        if (options.version) body["version"] = *options.version;
        add(body, "key", options.key);
        if (options.priority) body["priority"] = *options.priority;
        if (!options.labels.empty()) body["labels"] = view::labels_json(options.labels);
        const Payload& given = input.empty() ? Payload("null") : input;
        const ApiObject answer(
            calls_.send({.path = "/instances", .body = with_payload(body, "input", given)}).body
        );
        StartedInstance started{started_id(answer), answer.boolean("is_new")};
        // An older server does not compare.
        if (answer.has("has_same_input")) {
            started.has_same_input = answer.boolean("has_same_input");
            started.has_same_version = answer.boolean("has_same_version");
        }
        return started;
    }

    bool decide(const InstanceId& id, const PersonalDecision& decision) override {
        const bool is_confirmed = decision.verdict == PersonalDecision::Verdict::Confirm;
        Body body{{"verdict", is_confirmed ? "confirm" : "reject"}};
        add(body, "node", decision.node);
        add(body, "role", decision.role);
        add(body, "comment", decision.comment);
        add(body, "request_id", decision.request_id);
        return steer(id, "/decide", body.dump(), decision.expected_revision);
    }

    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload,
        const RequestOptions& options
    ) override {
        Body body{{"name", name}};
        add(body, "request_id", options.request_id);
        const Payload& given = payload.empty() ? Payload("null") : payload;
        steer(id, "/signal", with_payload(body, "payload", given), options.expected_revision);
    }

    bool write(const InstanceId& id, const Payload& attributes, const WriteOptions& options)
        override {
        Body body = Body::object();
        if (options.is_repair) body["repair"] = true;
        add(body, "request_id", options.request_id);
        const std::string text = with_payload(body, "values", attributes);
        return steer(id, "/write", text, options.expected_revision);
    }

    void recover(const InstanceId& id, std::int64_t to, const RecoverOptions& options) override {
        Body body{{"to", to}};
        if (options.then == RecoverOptions::Then::Stop) body["then"] = "stop";
        add(body, "request_id", options.request_id);
        steer(id, "/recover", body.dump(), options.expected_revision);
    }

    void cancel(const InstanceId& id, const RequestOptions& options) override {
        ask(id, "/cancel", options);
    }

    void abort(const InstanceId& id, const RequestOptions& options) override {
        ask(id, "/abort", options);
    }

    void pause(const InstanceId& id, const RequestOptions& options) override {
        ask(id, "/pause", options);
    }

    bool resume(const InstanceId& id, const RequestOptions& options) override {
        return steer(id, "/resume", "{}", options.expected_revision);
    }

    bool requeue(const InstanceId& id, const RequeueOptions& options) override {
        Body body = Body::object();
        if (options.skip_compensation) body["skip_compensation"] = true;
        const std::string text =
            options.new_input ? with_payload(body, "input", *options.new_input) : body.dump();
        return steer(id, "/requeue", text, options.expected_revision);
    }

    std::string export_instance(const InstanceId& id, const ExportOptions& options) override {
        UrlQuery query;
        if (options.wait > Duration::zero()) query.add("wait", format_duration(options.wait));
        constexpr auto kMargin = std::chrono::seconds(60);
        return calls_
            .send({
                .path = instance_path(id, "/export") + query.text(),
                .timeout = options.wait + kMargin,
            })
            .body;
    }

    ImportedInstance import_snapshot(std::string_view json, const ImportOptions&) override {
        const ApiObject answer(
            calls_.send({.path = "/instances/import", .body = std::string(json)}).body
        );
        return {started_id(answer), answer.boolean("is_new")};
    }

 private:
    std::vector<Json> items_of(const char* path) {
        std::vector<Json> all;
        const Json page = Json::parse(calls_.get(path).body);
        for (const Json& item : page.at("items")) all.push_back(item);
        return all;
    }

    static InstanceId started_id(const ApiObject& answer) {
        if (const auto id = InstanceId::parse(answer.text("id"))) return *id;
        throw Error(ErrorCode::StoreError, "The server's answer has no instance's id.");
    }

    /// What is asked for again and again is answered with 304 while nothing changes.
    std::optional<InstanceSummary> find_path(const std::string& path) {
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

    static void add_statuses(UrlQuery& query, const std::vector<InstanceStatus>& wanted) {
        std::vector<std::string_view> statuses;
        for (const InstanceStatus status : wanted) statuses.push_back(to_string(status));
        if (!statuses.empty()) query.add("status", fmt::format("{}", fmt::join(statuses, ",")));
    }

    static std::string cursor_of(const WaitPlace& place) {
        return fmt::format(
            "{}.{}.{}",
            place.since.time_since_epoch().count(),
            place.instance.to_string(),
            place.token
        );
    }

    static std::string cursor_of(const FailurePlace& place) {
        return fmt::format(
            "{}.{}", place.at.time_since_epoch().count(), place.instance.to_string()
        );
    }

    struct ListedPages {
        int page_max = kPageMax;
        bool has_outlines = false;
    };

    /// As many as are wanted, however many pages that takes: a page may end early.
    template <typename Take>
    void each_instance(InstanceQuery wanted, const ListedPages& pages, Take take) {
        while (wanted.limit > 0) {
            UrlQuery url = list_query(wanted, pages.page_max);
            if (pages.has_outlines) url.add("outline", "true");
            const ApiObject page(calls_.get("/instances" + url.text()).body);
            for (const ApiObject& item : page.objects("items")) {
                take(item);
                --wanted.limit;
            }
            wanted.before = InstanceId::parse(page.text("next_before"));
            if (!wanted.before) return;
        }
    }

    static UrlQuery list_query(const InstanceQuery& wanted, int limit_max) {
        UrlQuery query;
        add_statuses(query, wanted.statuses);
        if (!wanted.workflow.empty()) query.add("workflow", wanted.workflow);
        if (wanted.version) query.add("version", std::to_string(*wanted.version));
        if (!wanted.key.empty()) query.add("key", wanted.key);
        if (wanted.before) query.add("before", wanted.before->to_string());
        query.add("limit", std::to_string(std::min(wanted.limit, limit_max)));
        return query;
    }

    static UrlQuery filter_query(const ListOptions& options) {
        UrlQuery query;
        add_statuses(query, options.statuses);
        if (!options.workflow.empty()) query.add("workflow", options.workflow);
        if (options.version) query.add("version", std::to_string(*options.version));
        if (!options.key.empty()) query.add("key", options.key);
        if (options.before) query.add("before", options.before->to_string());
        query.add("where", options.where.empty() ? "true" : options.where);
        return query;
    }

    ApiObject filtered_page(const ListOptions& options, int limit_max, bool has_outlines) {
        UrlQuery query = filter_query(options);
        query.add("limit", std::to_string(std::min(options.limit, limit_max)));
        if (has_outlines) query.add("outline", "true");
        return ApiObject(calls_.get("/instances" + query.text()).body);
    }

    /// Of all pages.
    template <typename Take>
    void each_item(const std::string& path, UrlQuery query, Take take) {
        query.add("limit", std::to_string(kPageMax));
        std::string cursor;
        do {
            UrlQuery page_query = query;
            if (!cursor.empty()) page_query.add("cursor", cursor);
            const ApiObject page(calls_.get(path + page_query.text()).body);
            for (const ApiObject& item : page.objects("items")) take(item);
            cursor = page.text("next_cursor");
        } while (!cursor.empty());
    }

    /// Of as many pages as hold `limit` items.
    template <typename Take>
    void take_items(const std::string& path, const UrlQuery& query, int limit, Take take) {
        std::string cursor;
        while (limit > 0) {
            UrlQuery page_query = query;
            page_query.add("limit", std::to_string(std::min(limit, kPageMax)));
            if (!cursor.empty()) page_query.add("cursor", cursor);
            const ApiObject page(calls_.get(path + page_query.text()).body);
            for (const ApiObject& item : page.objects("items")) {
                if (limit-- > 0) take(item);
            }
            cursor = page.text("next_cursor");
            if (cursor.empty()) return;
        }
    }

    bool steer(
        const InstanceId& id,
        std::string_view verb,
        std::string body,
        const std::optional<std::int64_t>& revision
    ) {
        const auto answer = calls_.send({
            .path = instance_path(id, verb),
            .body = std::move(body),
            .if_match = tag_of(revision),
        });
        const ApiObject instance(answer.body);
        return !instance.has("changed") || instance.boolean("changed");
    }

    void ask(const InstanceId& id, std::string_view verb, const RequestOptions& options) {
        Body body = Body::object();
        add(body, "reason", options.reason);
        steer(id, verb, body.dump(), options.expected_revision);
    }

    ApiCalls calls_;
    std::string found_path_;
    std::string found_etag_;
    std::optional<InstanceSummary> found_;
};

}  // namespace

std::unique_ptr<Client> make_remote_client(ServerAddress address, std::string token) {
    return std::make_unique<RemoteClient>(std::move(address), std::move(token));
}

}  // namespace ebb::cli
