#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/store.h>

#include "store/agreement.h"
#include "store/notices.h"
#include "store/postgres/dead_tasks.h"
#include "store/postgres/memories/claim_marks.h"
#include "store/postgres/memories/folded_tasks.h"
#include "store/postgres/memories/lease_marks.h"
#include "store/postgres/pooled.h"
#include "store/postgres/server_clock.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb {

namespace postgres {
class SqlError;
}

/// One PostgreSQL database. Every verb is one statement, or one pipeline of statements in one
/// transaction, on a connection of a small pool. No transaction stays open between two calls.
class PostgresStore final : public Store, private postgres::Pooled {
 public:
    /// Connects. `clock`: the time of leases in a test, must outlive the store; null = the server's
    /// time.
    PostgresStore(const PostgresOptions& options, const Clock* clock);

    StoreTraits traits() const override;
    TimePoint now() const override;
    void migrate() override;
    void check_rights() override;
    void register_workflow(const WorkflowRow& row) override;
    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override;
    std::vector<WorkflowRow> list_workflows() override;
    std::vector<StartResult> start(std::span<const NewInstance> instances) override;
    StartResult start_in(const Transaction& transaction, const NewInstance& instance) override;
    std::unique_ptr<BorrowedTransaction> borrow(const Transaction& transaction) override;
    bool can_begin_transaction() override;
    std::unique_ptr<StoreTransaction> begin_transaction() override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    void set_queue(const QueueRow& row) override;
    std::vector<QueueUse> queues(const QueueQuery& query) override;
    std::vector<CommitResult> commit(std::span<const Commit> commits) override;
    std::vector<bool> were_committed(std::span<const Commit> commits) override;
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
    std::vector<TaskRef> leased_tasks(
        std::string_view worker, std::span<const InstanceId> instances
    ) override;
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
    HousekeepingResult housekeep(std::span<const RetentionRule> rules) override;
    Duration reclaim() override;
    std::optional<PartitionView> partitions() override;
    std::optional<SweepTurn> take_sweep(Duration hold) override;
    bool put_sweep(const SweepTurn& turn, Duration pause) override;
    std::unique_ptr<Hints> open_hints() override;

    std::vector<StoreNotice> take_notices() override { return notices_.take(); }

    /// A skew of at least this much causes a notice.
    static constexpr Duration kSkewNoticed = std::chrono::seconds(2);

 private:
    class StepTransaction;
    class Borrowed;

    /// The time of a test; none = the server's time.
    std::optional<TimePoint> given_time() const;

    std::vector<StartResult> start_new(
        postgres::Connection& connection, std::span<const NewInstance> instances
    );
    std::vector<StartResult> start_absent(
        postgres::Connection& connection, std::span<const NewInstance> instances
    );
    void note_started(std::span<const NewInstance> instances);
    void note_committed(std::span<const Commit> commits);
    /// Repeats commits that were based on wrong assumptions.
    void commit_unfolded(
        std::span<const Commit> commits,
        std::span<const std::size_t> places,
        std::vector<CommitResult>& results
    );
    std::vector<CommitResult> commit_together(std::span<const Commit> commits);
    /// Called after `error`, which one of the commits may have caused. The others are written
    /// nevertheless.
    std::vector<CommitResult> commit_apart(
        std::span<const Commit> commits, const postgres::SqlError& error
    );
    std::vector<CommitResult> commit_part(std::span<const Commit> commits);
    /// Writes a notice for each commit whose row another session has locked, given by their places.
    std::vector<bool> find_locked(std::span<const Commit> commits);
    void note_busy(const Commit& commit, const std::exception& error);
    void park_broken(const TaskRef& task);
    void hand_back(
        std::string_view statement, const WorkerProcess& worker, std::span<const TaskRef> tasks
    );
    /// Runs the call, which ends leases, when all of its tasks have rows.
    void free_rows(const postgres::Call& call, std::span<const TaskRef> tasks);
    HeartbeatResult beat(
        postgres::Connection& connection,
        const WorkerRow& worker,
        Duration lease,
        const InstanceId& from
    );
    /// Records the server's time from an answer.
    void learn_time(SteadyPoint sent, TimePoint server);
    std::vector<Claim> claim_of_instance(const ClaimRequest& request);
    std::vector<Claim> claim_stops(const ClaimRequest& request);
    /// `has_woken`: due tasks were made claimable, in any queue.
    std::vector<Claim> claim_from(
        const ClaimRequest& request,
        const postgres::ClaimMarks::Look& look,
        TimePoint begun,
        bool& has_woken
    );
    /// Claims in those of the queues `names` that have free slots.
    std::vector<Claim> claim_in_rooms(
        const ClaimRequest& request, const std::vector<std::string>& names
    );
    RateUse rate_use(const QueueRow& queue);
    std::vector<Claim> claims_of(std::string_view worker, const postgres::Result& rows);
    /// The same, with the outcomes that were handed in for the tasks.
    std::vector<Claim> claims_with_outcomes(std::string_view worker, const postgres::Result& rows);
    /// Adds the mail to the claims of kMailTask.
    void read_mail(std::vector<Claim>& claims);
    /// Leases may have been taken and tasks may have become claimable without this process's
    /// knowledge.
    void on_loss() override;
    void check_is_here(postgres::Connection& connection);

    using Read = std::function<postgres::Result(std::string_view, const postgres::Arguments&)>;
    static std::vector<HistoryEvent> read_history(const HistoryQuery& query, const Read& read);
    static std::vector<HistoryEvent> read_events(
        const InstanceId& id, const std::vector<Seq>& seqs, const Read& read
    );

    const Clock* clock_;
    const SystemClock system_clock_;
    postgres::ServerClock server_clock_;
    Notices notices_{system_clock_};
    /// Sessions without Ebb's settings and prepared statements, for the application.
    const postgres::Settings plain_settings_;
    postgres::Pool transactions_;
    postgres::ClaimMarks claim_marks_;
    postgres::LeaseMarks lease_marks_;
    postgres::FoldedTasks folded_tasks_;
    postgres::DeadTasks dead_tasks_;
    Mutex rounds_mutex_;
    /// For each queue, the concurrency_key at which the last claim_limited ended its round.
    std::map<std::string, std::string> last_keys_ EBB_GUARDED_BY(rounds_mutex_);
};

/// A PostgreSQL store with its own time. `clock` must outlive it.
StorePtr make_postgres_store(const PostgresOptions& options, const Clock& clock);

}  // namespace ebb
