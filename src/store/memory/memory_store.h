#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ebb/store.h>

#include "store/agreement.h"
#include "store/memory/task_table.h"
#include "store/store.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb {

/// All state in maps behind one mutex: as simple as a store can be, because it is the model that
/// the others are compared with. Claims cost O(log n).
class MemoryStore final : public Store {
 public:
    /// `clock` must outlive the store.
    explicit MemoryStore(const Clock& clock) : clock_(clock) {}

    StoreTraits traits() const override;

    TimePoint now() const override { return clock_.now(); }

    void migrate() override {}

    void register_workflow(const WorkflowRow& row) override;
    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override;
    std::vector<WorkflowRow> list_workflows() override;
    std::vector<StartResult> start(std::span<const NewInstance> instances) override;
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

    // No program but this one ever writes here.
    std::optional<SweepTurn> take_repair(Duration) override { return std::nullopt; }

    bool put_repair(const SweepTurn&, Duration) override { return false; }

    std::vector<RetentionRule> retention() override;
    void set_retention(const RetentionRule& rule) override;
    bool clear_retention(std::string_view workflow) override;
    PurgeResult purge(const PurgeRequest& request) override;
    std::optional<SweepTurn> take_sweep(Duration hold) override;
    bool put_sweep(const SweepTurn& turn, Duration pause) override;

 private:
    struct Sweep {
        SweepTurn turn;
        TimePoint next_at{};
    };

    struct Instance {
        InstanceRow row;
        std::vector<HistoryEvent> history;  // by rising seq
        std::map<TokenId, Wait> waits;
        std::optional<FailureNote> failure;
        Labels labels;
    };

    struct Worker {
        WorkerRow row;
        SteadyPoint lease_end{};  ///< of all its leases, whatever the date becomes
    };

    struct Queue {
        QueueRow row;
        std::map<TimePoint, std::int64_t> starts;  // by the end of their slice
    };

    RateUse rate_use(const Queue& queue, TimePoint now) const EBB_REQUIRES(mutex_);
    /// Empty when nothing of it may start now.
    std::optional<memory::Room> room_of(const Queue& queue, const RateUse& rate) const
        EBB_REQUIRES(mutex_);
    QueueUse use_of(QueueView view, const QueueQuery& query, TimePoint now) const
        EBB_REQUIRES(mutex_);
    Claim lease(const TaskRef& ref, const ClaimRequest& request, bool takes_slot)
        EBB_REQUIRES(mutex_);
    bool take_outcome(std::string_view worker, const HandedIn& outcome) EBB_REQUIRES(mutex_);
    SendResult send_one(const Mail& mail) EBB_REQUIRES(mutex_);
    /// Makes its kMailTask due now.
    void wake_for_mail(const InstanceRow& row) EBB_REQUIRES(mutex_);
    void receive(const InstanceRow& row, std::span<const MailKey> received) EBB_REQUIRES(mutex_);
    void read_mail(Claim& claim) const EBB_REQUIRES(mutex_);
    StartResult start_one(const NewInstance& instance) EBB_REQUIRES(mutex_);
    CommitResult commit_one(const Commit& commit) EBB_REQUIRES(mutex_);
    void apply(const InstanceRow& row, const TaskChange& change, std::string_view lease_owner)
        EBB_REQUIRES(mutex_);
    static void apply(Instance& instance, const Effects& effects);
    void add_notices(const InstanceId& instance, const Effects& effects) EBB_REQUIRES(mutex_);

    /// Calls `use` with the id and the instance for those between the limits of an InstanceQuery or
    /// InstanceSearch, in its order, until it returns false.
    template <typename Wanted, typename Use>
    void walk(const Wanted& wanted, Use use) const EBB_REQUIRES(mutex_) {
        const auto end = wanted.before ? instances_.lower_bound(*wanted.before) : instances_.end();
        auto begin = wanted.from ? instances_.lower_bound(*wanted.from) : instances_.begin();
        if (wanted.before && wanted.from && *wanted.before < *wanted.from) begin = end;
        const auto use_each = [&](auto at, auto last) {
            while (at != last && use(at->first, at->second)) ++at;
        };
        if (wanted.order == InstanceOrder::OldestFirst) return use_each(begin, end);
        use_each(std::make_reverse_iterator(end), std::make_reverse_iterator(begin));
    }

    /// Calls `use` for each instance that fits, until it returns true. Returns where to go on.
    template <typename Use>
    std::optional<InstanceId> scan(const InstanceSearch& search, Use use) const
        EBB_REQUIRES(mutex_);
    /// The newest first.
    std::vector<FailedInstance> failures_of(
        std::string_view group, const std::vector<InstanceStatus>& statuses
    ) const EBB_REQUIRES(mutex_);
    /// Does another process have its name now?
    bool is_displaced(const WorkerProcess& worker) const EBB_REQUIRES(mutex_);
    void restart_sweep() EBB_REQUIRES(mutex_);
    bool can_anybody_run(const Unserved& waiting) const EBB_REQUIRES(mutex_);

    const Clock& clock_;
    Mutex mutex_;
    std::map<std::pair<std::string, int>, WorkflowRow> workflows_ EBB_GUARDED_BY(mutex_);
    std::map<InstanceId, Instance> instances_ EBB_GUARDED_BY(mutex_);
    std::map<std::pair<std::string, std::string>, InstanceId> keys_ EBB_GUARDED_BY(mutex_
    );  // by workflow and key
    std::map<std::string, Worker, std::less<>> workers_ EBB_GUARDED_BY(mutex_);
    std::map<std::string, Queue> queues_ EBB_GUARDED_BY(mutex_);
    memory::TaskTable tasks_ EBB_GUARDED_BY(mutex_);
    std::map<InstanceId, std::vector<Mail>> mail_ EBB_GUARDED_BY(mutex_);  // the oldest first
    std::map<std::string, RetentionRule, std::less<>> retention_ EBB_GUARDED_BY(mutex_);
    Sweep sweep_ EBB_GUARDED_BY(mutex_);
    std::map<std::string, Subscription, std::less<>> subscriptions_ EBB_GUARDED_BY(mutex_);
    /// By subscription, instance and number of the event.
    std::map<std::tuple<std::string, InstanceId, Seq>, OutboxRow> outbox_ EBB_GUARDED_BY(mutex_);
};

/// A memory store with its own time. `clock` must outlive it.
StorePtr make_memory_store(const Clock& clock);

}  // namespace ebb
