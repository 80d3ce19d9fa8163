// The client of a database: the engine does everything, but for some pages that only lists need.

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/activity_source.h"
#include "cli/client.h"
#include "engine/bulk.h"
#include "engine/webhook.h"
#include "support/uuid.h"
#include "view/activity.h"
#include "view/bulks.h"
#include "view/deliveries.h"

namespace ebb::cli {

namespace {

class LocalClient : public Client, public ActivitySource {
 public:
    using Box = std::function<std::shared_ptr<const SecretBox>()>;

    LocalClient(Engine& engine, Store& store, const Clock& clock, Box box)
        : engine_(engine), store_(store), clock_(clock), box_(std::move(box)) {}

    Engine* engine() override { return &engine_; }

    std::optional<InstanceSummary> find(const InstanceId& id) override { return engine_.find(id); }

    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override {
        return engine_.find_key(workflow, key);
    }

    InstanceView show(const InstanceId& id) override { return engine_.show(id); }

    std::vector<InstanceSummary> list(const ListOptions& options) override {
        return engine_.list(options);
    }

    std::vector<view::Outline> outlines(const ListOptions& options) override {
        view::Outliner outliner(store_, clock_.now());
        std::vector<view::Outline> outlines;
        for (const InstanceRow& row : store_.list(engine::query_of(options))) {
            outlines.push_back(outliner.read(row));
        }
        return outlines;
    }

    OutlinePage outline_page(const ListOptions& options) override {
        view::Outliner outliner(store_, clock_.now());
        OutlinePage page;
        // The engine reads the rows that the outlines are made of once more: they are few.
        const InstancePage found = engine_.list_page(options);
        for (const InstanceSummary& summary : found.instances) {
            if (const auto row = store_.load(summary.id)) {
                page.outlines.push_back(outliner.read(*row));
            }
        }
        page.next = found.next;
        return page;
    }

    InstancePage list_page(const ListOptions& options) override {
        return engine_.list_page(options);
    }

    std::vector<InstanceCount> count(const ListOptions& options) override {
        return engine_.count(options);
    }

    std::vector<HistoryEntry> history(const InstanceId& id, std::int64_t after, int limit)
        override {
        return engine_.history(id, after, limit);
    }

    std::string why(const InstanceId& id) override { return engine_.why(id); }

    std::vector<std::string> notices() override {
        std::vector<std::string> texts;
        for (StoreNotice& notice : store_.take_notices()) {
            texts.push_back(std::move(notice.message));
        }
        return texts;
    }

    std::vector<InstanceCount> stats() override {
        std::vector<InstanceCount> counts = engine_.stats();
        std::erase_if(counts, [](const auto& count) { return is_system_workflow(count.workflow); });
        return counts;
    }

    view::Json activity(const view::ActivityQuery& query) override {
        // A wrong question is refused before anything is read.
        view::activity_span(query, store_.now());
        if (!query.workflow.empty() && !has_workflow(query.workflow)) {
            throw Error(
                ErrorCode::WorkflowNotFound, "There is no workflow \"" + query.workflow + "\"."
            );
        }
        constexpr int kLooksMax = 100;
        constexpr Duration kLookMax = std::chrono::milliseconds(250);
        view::Activity activity(store_, clock_);
        for (int looks = 0; looks < kLooksMax && !activity.is_complete(); ++looks) {
            activity.look(kLookMax);
        }
        return view::activity_json(activity.report(query, [](const std::string&) { return true; }));
    }

    Workflows workflows() override { return {store_.list_workflows(), store_.count_versions()}; }

    bool has_workflow(const std::string& name) override {
        return store_.find_workflow(name, std::nullopt).has_value();
    }

    std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version
    ) override {
        return engine_.definition(workflow, version);
    }

    void register_workflow(const Definition& definition) override {
        engine_.register_workflow(definition);
    }

    std::vector<AwaitedDecision> decisions(const DecisionQuery& query) override {
        return engine_.decisions(query);
    }

    FailureGroups failures(const FailureGroupQuery& query) override {
        return engine_.failures(query);
    }

    std::vector<FailedInstance> failed_instances(const FailureQuery& query) override {
        return engine_.failed_instances(query);
    }

    std::vector<WorkerView> workers() override { return engine_.workers(); }

    std::vector<UnservedTasks> unserved() override { return engine_.unserved(); }

    Delayed delayed() override {
        constexpr Duration kLookMax = std::chrono::milliseconds(100);
        delayed_.look(kLookMax);
        const auto is_of_user = [](const std::string& name) { return !is_system_workflow(name); };
        return {.tasks = delayed_.report(is_of_user), .is_complete = delayed_.is_complete()};
    }

    std::vector<QueueView> queues() override { return engine_.queues(); }

    void set_queue(std::string_view name, const QueueLimits& limits) override {
        engine_.set_queue(name, limits);
    }

    std::vector<Json> webhooks() override {
        std::vector<Json> all;
        for (const Subscription& each : store_.subscriptions()) {
            all.push_back(engine::webhook_json(each));
        }
        return all;
    }

    Json webhook(const std::string& name) override {
        return engine::webhook_json(engine::find_webhook(store_, name));
    }

    Json put_webhook(const std::string& name, const Json& settings) override {
        return engine::put_webhook(store_, engine::read_webhook(name, settings), box().get());
    }

    void remove_webhook(const std::string& name) override {
        engine::find_webhook(store_, name);
        store_.remove_subscription(name);
    }

    Json rotate_webhook(const std::string& name, Duration keep_old) override {
        return engine::rotate_webhook(store_, name, keep_old, box().get());
    }

    void ping_webhook(const std::string& name) override { engine::ping_webhook(store_, name); }

    std::vector<Json> deliveries(const std::string& webhook, const std::string& status, int limit)
        override {
        engine::find_webhook(store_, webhook);
        std::vector<Json> all;
        view::DeliveryQuery query{.webhook = webhook, .status = status};
        while (std::ssize(all) < limit) {
            query.limit = limit - static_cast<int>(all.size());
            view::DeliveryPage page = view::list_deliveries(engine_, store_, query);
            for (const auto& delivery : page.deliveries) all.emplace_back(delivery);
            query.before = page.next;
            if (!query.before) break;
        }
        return all;
    }

    void redeliver(const std::string& webhook, const InstanceId& delivery) override {
        view::redeliver(engine_, store_, webhook, delivery, "");
    }

    StartedInstance start(
        std::string_view workflow, const Payload& input, const StartOptions& options
    ) override {
        return engine_.start(workflow, input, options);
    }

    StartedInstance rerun(const InstanceId& id, const engine::RerunRequest& request) override {
        const auto row = store_.load(id);
        if (!row) {
            throw Error(
                ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", id.to_string())
            );
        }
        return engine::rerun(engine_, store_, *row, request);
    }

    bool decide(const InstanceId& id, const PersonalDecision& decision) override {
        return engine_.decide(id, decision);
    }

    void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload,
        const RequestOptions& options
    ) override {
        engine_.signal(id, name, payload, options);
    }

    bool write(const InstanceId& id, const Payload& attributes, const WriteOptions& options)
        override {
        return engine_.write(id, attributes, options);
    }

    void recover(const InstanceId& id, std::int64_t to, const RecoverOptions& options) override {
        engine_.recover(id, to, options);
    }

    bool cancel(const InstanceId& id, const RequestOptions& options) override {
        return engine_.cancel(id, options);
    }

    bool abort(const InstanceId& id, const RequestOptions& options) override {
        return engine_.abort(id, options);
    }

    bool pause(const InstanceId& id, const RequestOptions& options) override {
        return engine_.pause(id, options);
    }

    bool resume(const InstanceId& id, const RequestOptions& options) override {
        return engine_.resume(id, options);
    }

    bool requeue(const InstanceId& id, const RequeueOptions& options) override {
        return engine_.requeue(id, options);
    }

    Json start_bulk(engine::BulkJob job) override {
        job.at = store_.now();
        job.before = lowest_id_of(job.at + std::chrono::milliseconds(1));
        // Throws for a filter that cannot be used, before anything is stored.
        engine::bulk_search(job);
        const InstanceId id = engine::start_bulk(store_, job).id;
        return view::bulk_json(store_, engine_.find(id).value());
    }

    std::string export_instance(const InstanceId& id, const ExportOptions& options) override {
        return engine_.export_instance(id, options);
    }

    ImportedInstance import_snapshot(std::string_view json, const ImportOptions& options) override {
        return engine_.import_snapshot(json, options);
    }

 private:
    std::shared_ptr<const SecretBox> box() const { return box_ ? box_() : nullptr; }

    Engine& engine_;
    Store& store_;
    const Clock& clock_;
    const Box box_;
    view::Delayed delayed_{store_, clock_};
};

}  // namespace

std::unique_ptr<Client> make_local_client(
    Engine& engine,
    Store& store,
    const Clock& clock,
    std::function<std::shared_ptr<const SecretBox>()> box
) {
    return std::make_unique<LocalClient>(engine, store, clock, std::move(box));
}

}  // namespace ebb::cli
