#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>

#include "engine/bulk_job.h"
#include "engine/rerun.h"
#include "store/store.h"
#include "support/secret_box.h"
#include "view/delayed.h"
#include "view/outline.h"

namespace ebb::cli {

/// What the commands that look and steer ask for, of a database or of a server (`--server`). Both
/// give the same answers, so a command does not know which of them it has. Every function throws
/// Error. Those that Engine has, too, do the same here. Not thread-safe.
class Client {
 public:
    virtual ~Client() = default;

    /// The engine on the database; null for a server, whose API has no trace of writes yet.
    virtual Engine* engine() { return nullptr; }

    virtual std::optional<InstanceSummary> find(const InstanceId& id) = 0;
    virtual std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) = 0;
    virtual InstanceView show(const InstanceId& id) = 0;
    virtual std::vector<InstanceSummary> list(const ListOptions& options) = 0;
    /// A page of instances with what each waits for.
    virtual std::vector<view::Outline> outlines(const ListOptions& options) = 0;

    struct OutlinePage {
        std::vector<view::Outline> outlines;
        std::optional<InstanceId> next;  ///< as InstancePage
    };

    /// The same with a filter.
    virtual OutlinePage outline_page(const ListOptions& options) = 0;
    virtual InstancePage list_page(const ListOptions& options) = 0;
    virtual std::vector<InstanceCount> count(const ListOptions& options) = 0;
    virtual std::vector<HistoryEntry> history(
        const InstanceId& id, std::int64_t after, int limit
    ) = 0;
    virtual std::string why(const InstanceId& id) = 0;

    /// What the database has noticed since the last call that an operator should know, such as a
    /// clock that is wrong; nothing for a server, which logs it.
    virtual std::vector<std::string> notices() { return {}; }

    virtual std::vector<InstanceCount> stats() = 0;

    /// The registered versions by name and version, without their definitions, and how many
    /// instances each has by status.
    struct Workflows {
        std::vector<WorkflowRow> rows;
        std::vector<VersionCount> counts;
    };

    virtual Workflows workflows() = 0;
    virtual bool has_workflow(const std::string& name) = 0;
    virtual std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version
    ) = 0;
    virtual void register_workflow(const Definition& definition) = 0;

    virtual std::vector<AwaitedDecision> decisions(const DecisionQuery& query) = 0;
    virtual FailureGroups failures(const FailureGroupQuery& query) = 0;
    virtual std::vector<FailedInstance> failed_instances(const FailureQuery& query) = 0;

    virtual std::vector<WorkerView> workers() = 0;
    virtual std::vector<UnservedTasks> unserved() = 0;

    /// The tasks that have been due for long.
    struct Delayed {
        std::vector<view::DelayedTasks> tasks;
        bool is_complete = false;  ///< if not, the next call reads on
    };

    virtual Delayed delayed() = 0;
    virtual std::vector<QueueView> queues() = 0;
    virtual void set_queue(std::string_view name, const QueueLimits& limits) = 0;

    // As the API shows them: JSON without secrets, but for one that has just been made.
    virtual std::vector<Json> webhooks() = 0;
    /// Throws Error if there is none.
    virtual Json webhook(const std::string& name) = 0;
    virtual Json put_webhook(const std::string& name, const Json& settings) = 0;
    virtual void remove_webhook(const std::string& name) = 0;
    virtual Json rotate_webhook(const std::string& name, Duration keep_old) = 0;
    virtual void ping_webhook(const std::string& name) = 0;
    /// The newest; `status` may be empty.
    virtual std::vector<Json> deliveries(
        const std::string& webhook, const std::string& status, int limit
    ) = 0;
    virtual void redeliver(const std::string& webhook, const InstanceId& delivery) = 0;

    // The same of hooks, which only a server has.
    virtual std::vector<Json> hooks() { return {}; }

    virtual Json hook(const std::string& /*name*/) { return {}; }

    virtual Json put_hook(const std::string& /*name*/, const Json& /*settings*/) { return {}; }

    virtual void remove_hook(const std::string& /*name*/) {}

    /// Of a server, `by` of all that follow is the owner of the token.
    virtual StartedInstance start(
        std::string_view workflow, const Payload& input, const StartOptions& options
    ) = 0;
    /// Starts the work of an instance again, with its stored input, which the caller need not be
    /// allowed to see.
    virtual StartedInstance rerun(const InstanceId& id, const engine::RerunRequest& request) = 0;
    virtual bool decide(const InstanceId& id, const PersonalDecision& decision) = 0;
    virtual void signal(
        const InstanceId& id,
        std::string_view name,
        const Payload& payload,
        const RequestOptions& options
    ) = 0;
    virtual bool write(
        const InstanceId& id, const Payload& attributes, const WriteOptions& options
    ) = 0;
    virtual void recover(const InstanceId& id, std::int64_t to, const RecoverOptions& options) = 0;
    virtual bool cancel(const InstanceId& id, const RequestOptions& options) = 0;
    virtual bool abort(const InstanceId& id, const RequestOptions& options) = 0;
    virtual bool pause(const InstanceId& id, const RequestOptions& options) = 0;
    virtual bool resume(const InstanceId& id, const RequestOptions& options) = 0;
    virtual bool requeue(const InstanceId& id, const RequeueOptions& options) = 0;
    /// Leaves it to the servers of the database, which continue it after a crash. Its instances are
    /// those that were started until now. The operation as the API shows it.
    virtual Json start_bulk(engine::BulkJob job) = 0;
    virtual std::string export_instance(const InstanceId& id, const ExportOptions& options) = 0;
    virtual ImportedInstance import_snapshot(
        std::string_view json, const ImportOptions& options
    ) = 0;
};

/// A client of the database itself. All three must outlive it; `clock` judges what is due.
/// `box` is asked for only when a secret is written; null = there is none.
std::unique_ptr<Client> make_local_client(
    Engine& engine,
    Store& store,
    const Clock& clock,
    std::function<std::shared_ptr<const SecretBox>()> box = nullptr
);

}  // namespace ebb::cli
