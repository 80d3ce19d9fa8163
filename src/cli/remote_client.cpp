// The client of a server: every function is a request to its API.

#include "cli/remote_client.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>

#include "cli/activity_source.h"
#include "cli/api_object.h"
#include "cli/remote_paths.h"
#include "cli/remote_reading.h"
#include "support/clock.h"
#include "view/instance_json.h"

namespace ebb::cli {

namespace {

using Body = nlohmann::ordered_json;

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

class RemoteClient final : public RemoteReading, public ActivitySource {
 public:
    using RemoteReading::RemoteReading;

    view::Json activity(const view::ActivityQuery& wanted) override {
        UrlQuery query;
        query.add("window", format_duration(wanted.window));
        if (wanted.step) query.add("step", format_duration(*wanted.step));
        if (!wanted.workflow.empty()) query.add("workflow", wanted.workflow);
        return view::Json::parse(calls().get("/stats/activity" + query.text()).body);
    }

    void register_workflow(const Definition& definition) override {
        calls().send({.path = "/workflows", .body = definition_to_json(definition).dump()});
    }

    void set_queue(std::string_view name, const QueueLimits& limits) override {
        const std::string path = fmt::format("/queues/{}", escape_segment(name));
        if (limits.is_unlimited()) {
            calls().send({.method = "DELETE", .path = path});
            return;
        }
        Body body = Body::object();
        if (limits.concurrency) body["concurrency"] = *limits.concurrency;
        if (limits.concurrency_per_key) body["concurrency_per_key"] = *limits.concurrency_per_key;
        if (limits.rate) {
            const std::string period = format_duration(limits.rate->period);
            body["rate"] = {{"starts", limits.rate->starts}, {"period", period}};
        }
        calls().send({.method = "PUT", .path = path, .body = body.dump()});
    }

    std::vector<Json> hooks() override { return items_of("/hooks"); }

    Json hook(const std::string& name) override {
        return Json::parse(calls().get(hook_path(name)).body);
    }

    Json put_hook(const std::string& name, const Json& settings) override {
        return Json::parse(
            calls().send({.method = "PUT", .path = hook_path(name), .body = settings.dump()}).body
        );
    }

    void remove_hook(const std::string& name) override {
        calls().send({.method = "DELETE", .path = hook_path(name)});
    }

    std::vector<Json> webhooks() override { return items_of("/webhooks"); }

    Json webhook(const std::string& name) override {
        return Json::parse(calls().get(webhook_path(name)).body);
    }

    Json put_webhook(const std::string& name, const Json& settings) override {
        return Json::parse(
            calls()
                .send({.method = "PUT", .path = webhook_path(name), .body = settings.dump()})
                .body
        );
    }

    void remove_webhook(const std::string& name) override {
        calls().send({.method = "DELETE", .path = webhook_path(name)});
    }

    Json rotate_webhook(const std::string& name, Duration keep_old) override {
        const Body body{{"keep_old", format_duration(keep_old)}};
        return Json::parse(
            calls().send({.path = webhook_path(name, "/rotate"), .body = body.dump()}).body
        );
    }

    void ping_webhook(const std::string& name) override {
        calls().send({.path = webhook_path(name, "/ping")});
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
            const Json page = Json::parse(calls().get(path).body);
            for (const Json& item : page.at("items")) all.push_back(item);
            const Json& next = page.at("next_cursor");
            cursor = next.is_string() ? next.get<std::string>() : std::string();
        } while (!cursor.empty() && std::ssize(all) < limit);
        return all;
    }

    void redeliver(const std::string& webhook, const InstanceId& delivery) override {
        const std::string rest = fmt::format("/deliveries/{}/redeliver", delivery.to_string());
        calls().send({.path = webhook_path(webhook, rest)});
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
        return started_of(
            calls().send({.path = "/instances", .body = with_payload(body, "input", given)}).body
        );
    }

    StartedInstance rerun(const InstanceId& id, const engine::RerunRequest& request) override {
        Body body = Body::object();
        if (request.version) body["version"] = *request.version;
        add(body, "key", request.key);
        const std::string text =
            request.input ? with_payload(body, "input", *request.input) : body.dump();
        return started_of(calls().send({.path = instance_path(id, "/rerun"), .body = text}).body);
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

    bool cancel(const InstanceId& id, const RequestOptions& options) override {
        return ask(id, "/cancel", options);
    }

    bool abort(const InstanceId& id, const RequestOptions& options) override {
        return ask(id, "/abort", options);
    }

    bool pause(const InstanceId& id, const RequestOptions& options) override {
        return ask(id, "/pause", options);
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

    Json start_bulk(engine::BulkJob job) override {
        Body body{{"action", engine::to_string(job.action)}, {"where", job.where}};
        add(body, "reason", job.reason);
        if (job.rate) body["rate"] = job.rate->text();
        // The server aborts only as many as the caller has seen.
        if (job.action == engine::BulkAction::Abort) {
            Body dry = body;
            dry["dry_run"] = true;
            body["confirm"] = post_bulk(dry).at("matched");
        }
        return post_bulk(body);
    }

    std::string export_instance(const InstanceId& id, const ExportOptions& options) override {
        UrlQuery query;
        if (options.wait > Duration::zero()) query.add("wait", format_duration(options.wait));
        constexpr auto kMargin = std::chrono::seconds(60);
        return calls()
            .send({
                .path = instance_path(id, "/export") + query.text(),
                .timeout = options.wait + kMargin,
            })
            .body;
    }

    ImportedInstance import_snapshot(std::string_view json, const ImportOptions&) override {
        const ApiObject answer(
            calls().send({.path = "/instances/import", .body = std::string(json)}).body
        );
        return {started_id(answer), answer.boolean("is_new")};
    }

 private:
    Json post_bulk(const Body& body) {
        return Json::parse(calls().send({.path = "/bulk", .body = body.dump()}).body);
    }

    std::vector<Json> items_of(const char* path) {
        std::vector<Json> all;
        const Json page = Json::parse(calls().get(path).body);
        for (const Json& item : page.at("items")) all.push_back(item);
        return all;
    }

    static StartedInstance started_of(const std::string& body) {
        const ApiObject answer(body);
        StartedInstance started{started_id(answer), answer.boolean("is_new")};
        // An older server does not compare.
        if (answer.has("has_same_input")) {
            started.has_same_input = answer.boolean("has_same_input");
            started.has_same_version = answer.boolean("has_same_version");
        }
        return started;
    }

    static InstanceId started_id(const ApiObject& answer) {
        if (const auto id = InstanceId::parse(answer.text("id"))) return *id;
        throw Error(ErrorCode::StoreError, "The server's answer has no instance's id.");
    }

    bool steer(
        const InstanceId& id,
        std::string_view verb,
        std::string body,
        const std::optional<std::int64_t>& revision
    ) {
        const auto answer = calls().send({
            .path = instance_path(id, verb),
            .body = std::move(body),
            .if_match = tag_of(revision),
        });
        const ApiObject instance(answer.body);
        return !instance.has("changed") || instance.boolean("changed");
    }

    bool ask(const InstanceId& id, std::string_view verb, const RequestOptions& options) {
        Body body = Body::object();
        add(body, "reason", options.reason);
        return steer(id, verb, body.dump(), options.expected_revision);
    }
};

}  // namespace

std::unique_ptr<Client> make_remote_client(ServerAddress address, std::string token) {
    return std::make_unique<RemoteClient>(std::move(address), std::move(token));
}

}  // namespace ebb::cli
