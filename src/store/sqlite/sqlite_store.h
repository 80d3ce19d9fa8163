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

/// One SQLite file. All writes use one connection behind a mutex, with one IMMEDIATE transaction
/// for each verb. Reads have their own connections and never wait for a writer.
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
    std::unique_ptr<BorrowedTransaction> borrow(const Transaction& transaction) override;
    std::unique_ptr<StoreTransaction> begin_transaction() override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    void set_queue(const QueueRow& row) override;
    std::vector<QueueUse> queues(const QueueQuery& query) override;
    std::vector<CommitResult> commit(std::span<const Commit> commits) override;
    std::vector<HandInResult> hand_in(
        const WorkerProcess& worker, std::span<const HandedIn> outcomes
    ) override;
    std::vector<SendResult> send(std::span<const Mail> mail) override;
    std::int64_t drop_mail(const InstanceId& ended) override;
    void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) override;
    void abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) override;
    void postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) override;
    std::optional<InstanceRow> load(const InstanceId& id) override;
    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override;
    std::vector<HistoryEvent> history(const HistoryQuery& query) override;
    std::vector<HistoryEvent> events(const InstanceId& id, const std::vector<Seq>& seqs) override;
    std::vector<TaskRow> tasks(const InstanceId& id) override;
    std::vector<InstanceRow> list(const InstanceQuery& query) override;
    InstanceHits search(const InstanceSearch& search) override;
    InstanceTally tally(const InstanceSearch& search) override;
    std::vector<StatusCount> count() override;
    std::vector<VersionCount> count_versions() override;
    std::vector<Unserved> unserved() override;
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;
    std::vector<WorkerRow> workers() override;
    std::map<std::string, std::int64_t> count_leases() override;
    void sign_off(const WorkerProcess& worker) override;
    MaintenanceResult maintain() override;
    std::vector<WaitRow> list_waits(const WaitQuery& query) override;
    FailureGroups failure_groups(const FailureGroupQuery& query) override;
    std::vector<FailedInstance> list_failures(const FailureQuery& query) override;
    SideRowPage check_side_rows(const InstanceId& after, int limit) override;
    void put_side_rows(std::span<const SideRowRepair> repairs) override;
    std::optional<SweepTurn> take_repair(Duration hold) override;
    bool put_repair(const SweepTurn& turn, Duration pause) override;
    void put_subscription(const Subscription& subscription) override;
    std::vector<Subscription> subscriptions() override;
    std::optional<Subscription> find_subscription(std::string_view name) override;
    bool remove_subscription(std::string_view name) override;
    std::int64_t note_delivery(const DeliveryNote& note) override;
    void add_outbox(std::span<const OutboxRow> rows) override;
    std::vector<OutboxRow> outbox(const std::vector<std::string>& subscriptions, int limit)
        override;
    void remove_outbox(std::span<const OutboxRow> rows) override;
    std::int64_t clear_outbox(const std::vector<std::string>& subscriptions, TimePoint before)
        override;
    std::vector<RetentionRule> retention() override;
    void set_retention(const RetentionRule& rule) override;
    bool clear_retention(std::string_view workflow) override;
    PurgeResult purge(const PurgeRequest& request) override;
    std::optional<SweepTurn> take_sweep(Duration hold) override;
    bool put_sweep(const SweepTurn& turn, Duration pause) override;
    std::unique_ptr<Hints> open_hints() override;

    /// Runs SQL on the writing connection. Tests use it to provoke errors (a full disk, a read-only
    /// file).
    void execute_on_writer(std::string_view sql);

 private:
    class StepTransaction;
    class Borrowed;

    static std::vector<HistoryEvent> read_history(
        sqlite::Database& database, const HistoryQuery& query
    );
    static std::vector<HistoryEvent> read_events(
        sqlite::Database& database, const InstanceId& id, const std::vector<Seq>& seqs
    );

    // In the transaction that is already open.
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
    void apply(sqlite::Database& database, std::string_view instance, const Effects& effects);

    static void add_notices(
        sqlite::Database& database, std::string_view instance, std::span<const Notice> notices
    );

    void hand_back(
        std::string_view statement, const WorkerProcess& worker, std::span<const TaskRef> tasks
    );
    /// In the transaction that is open.
    bool take_outcome(std::string_view worker, const HandedIn& outcome) EBB_REQUIRES(writer_mutex_);
    bool has_work_for(const ClaimRequest& request);
    void checkpoint();
    /// Workers of other boots whose leases end before the returned time are dead. Returns the
    /// earliest time while the dates of these leases cannot be trusted.
    TimePoint find_dead_before(TimePoint now);

    /// Calls `use(Database&)` with a reading connection. A connection that failed is not used
    /// again.
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
    const std::string boot_;  ///< steady times of clock_ are comparable only within one boot
    Mutex writer_mutex_;
    sqlite::Database writer_ EBB_GUARDED_BY(writer_mutex_);
    /// For each queue, the concurrency_key at which the last claim_limited ended its round.
    std::map<std::string, std::string> last_keys_ EBB_GUARDED_BY(writer_mutex_);
    sqlite::LeaseDates lease_dates_ EBB_GUARDED_BY(writer_mutex_);
    std::atomic<int> wal_pages_{0
    };  // of the write-ahead log, after the last commit of this process
    Mutex readers_mutex_;
    std::vector<std::unique_ptr<sqlite::Database>> readers_ EBB_GUARDED_BY(readers_mutex_);
    /// Connections without an open transaction.
    std::vector<std::unique_ptr<sqlite::Database>> transactions_ EBB_GUARDED_BY(readers_mutex_);
};

/// A SQLite store with its own time. `clock` must outlive it.
StorePtr make_sqlite_store(const SqliteOptions& options, const Clock& clock);

}  // namespace ebb
