#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/store.h>

#include "store/sqlite/database.h"
#include "store/sqlite/lease_dates.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb {

/// One SQLite file. All writes go through one connection behind a mutex, one IMMEDIATE transaction
/// per verb; reads have connections of their own and wait for nobody.
class SqliteStore final : public Store {
 public:
    /// Opens the file. `clock` must outlive the store.
    SqliteStore(const SqliteOptions& options, const Clock& clock);

    StoreTraits traits() const override;

    TimePoint now() const override { return clock_.now(); }

    void migrate() override;
    void register_workflow(const WorkflowRow& row) override;
    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override;
    std::vector<WorkflowRow> list_workflows() override;
    std::vector<StartResult> start(std::span<const NewInstance> instances) override;
    StartResult start_in(const Transaction& transaction, const NewInstance& instance) override;
    std::unique_ptr<StoreTransaction> begin_transaction() override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    void set_queue(const QueueRow& row) override;
    std::vector<QueueUse> queues(const QueueQuery& query) override;
    std::vector<CommitResult> commit(std::span<const Commit> commits) override;
    void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) override;
    void abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) override;
    void postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) override;
    std::optional<InstanceRow> load(const InstanceId& id) override;
    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override;
    std::vector<HistoryEvent> history(const HistoryQuery& query) override;
    std::vector<TaskRow> tasks(const InstanceId& id) override;
    std::vector<InstanceRow> list(const InstanceQuery& query) override;
    std::vector<StatusCount> count() override;
    std::vector<VersionCount> count_versions() override;
    std::vector<Unserved> unserved() override;
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;
    std::vector<WorkerRow> workers() override;
    std::map<std::string, std::int64_t> count_leases() override;
    void sign_off(const WorkerProcess& worker) override;
    MaintenanceResult maintain() override;
    std::vector<RetentionRule> retention() override;
    void set_retention(const RetentionRule& rule) override;
    bool clear_retention(std::string_view workflow) override;
    PurgeResult purge(const PurgeRequest& request) override;
    std::optional<SweepTurn> take_sweep(Duration hold) override;
    bool put_sweep(const SweepTurn& turn, Duration pause) override;

    /// Runs SQL on the writing connection: how tests provoke errors (a full disk, read-only).
    void execute_on_writer(std::string_view sql);

 private:
    class StepTransaction;

    // In the transaction that is open there.
    StartResult start_one(sqlite::Database& database, const NewInstance& instance);
    CommitResult commit_one(sqlite::Database& database, const Commit& commit);
    void add_history(
        sqlite::Database& database, std::string_view instance, std::span<const HistoryEvent> events
    );
    void apply(
        sqlite::Database& database,
        std::string_view instance,
        const TaskChange& change,
        std::string_view lease_owner
    );

    void hand_back(
        std::string_view statement, const WorkerProcess& worker, std::span<const TaskRef> tasks
    );
    bool has_work_for(const ClaimRequest& request);
    void checkpoint();
    /// Workers of other boots whose leases end before this date are dead; the earliest date while
    /// their dates say nothing.
    TimePoint find_dead_before(TimePoint now);

    /// Calls `use(Database&)` with a reading connection. One that failed is not used again.
    template <class Use>
    auto read(Use use) {
        std::unique_ptr<sqlite::Database> reader = take_reader();
        auto result = use(*reader);
        return_reader(std::move(reader));
        return result;
    }

    std::unique_ptr<sqlite::Database> take_transaction();
    void return_transaction(std::unique_ptr<sqlite::Database> database);
    std::unique_ptr<sqlite::Database> take_reader();
    void return_reader(std::unique_ptr<sqlite::Database> reader);

    const SqliteOptions options_;
    const Clock& clock_;
    const std::string boot_;  ///< what steady times of clock_ may be compared within
    Mutex writer_mutex_;
    sqlite::Database writer_ EBB_GUARDED_BY(writer_mutex_);
    /// The concurrency_key at which the last claim_limited ended its round, by queue.
    std::map<std::string, std::string> last_keys_ EBB_GUARDED_BY(writer_mutex_);
    sqlite::LeaseDates lease_dates_ EBB_GUARDED_BY(writer_mutex_);
    std::atomic<int> wal_pages_{0
    };  // of the write-ahead log, after the last commit of this process
    Mutex readers_mutex_;
    std::vector<std::unique_ptr<sqlite::Database>> readers_ EBB_GUARDED_BY(readers_mutex_);
    /// In which no transaction is open at the moment.
    std::vector<std::unique_ptr<sqlite::Database>> transactions_ EBB_GUARDED_BY(readers_mutex_);
};

/// A SQLite store with its own time. `clock` must outlive it.
StorePtr make_sqlite_store(const SqliteOptions& options, const Clock& clock);

}  // namespace ebb
