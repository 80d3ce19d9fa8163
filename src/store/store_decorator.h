#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include "store/store.h"

namespace ebb {

enum class StoreVerb {
    Migrate,
    RegisterWorkflow,
    FindWorkflow,
    ListWorkflows,
    Start,
    Claim,
    ClaimLimited,
    SetQueue,
    Queues,
    Commit,
    WereCommitted,
    Release,
    Abandon,
    Postpone,
    Load,
    FindKey,
    History,
    Tasks,
    LeasedTasks,
    List,
    Count,
    Unserved,
    Heartbeat,
    Workers,
    SignOff,
    Maintain,
    Retention,
    SetRetention,
    Purge,
    Sweep,
    ListWaits,
    Failures,
    RepairSideRows,
    HandIn,
    Subscriptions,
    SetSubscription,
    Outbox,
    ChangeOutbox,
    Send,
    DropMail,
};

/// Whether the verb may change what is stored.
inline bool is_write(StoreVerb verb) {
    switch (verb) {
        case StoreVerb::Migrate:
        case StoreVerb::RegisterWorkflow:
        case StoreVerb::Start:
        case StoreVerb::Claim:
        case StoreVerb::ClaimLimited:
        case StoreVerb::SetQueue:
        case StoreVerb::Commit:
        case StoreVerb::HandIn:
        case StoreVerb::Release:
        case StoreVerb::Abandon:
        case StoreVerb::Postpone:
        case StoreVerb::Heartbeat:
        case StoreVerb::SignOff:
        case StoreVerb::Maintain:
        case StoreVerb::SetRetention:
        case StoreVerb::Purge:
        case StoreVerb::Sweep:
        case StoreVerb::RepairSideRows:
        case StoreVerb::SetSubscription:
        case StoreVerb::ChangeOutbox:
        case StoreVerb::Send:
        case StoreVerb::DropMail:
            return true;
        default:
            return false;
    }
}

/// Forwards every verb to another store. A subclass overrides some, or sees all of them in `before`
/// and `after`. `open_hints` is not forwarded.
class StoreDecorator : public Store {
 public:
    /// `inner` must outlive the decorator.
    explicit StoreDecorator(Store& inner) : inner_(inner) {}

    StoreTraits traits() const override { return inner_.traits(); }

    TimePoint now() const override { return inner_.now(); }

    std::vector<StoreNotice> take_notices() override { return inner_.take_notices(); }

    StartResult start_in(const Transaction& transaction, const NewInstance& instance) override {
        return inner_.start_in(transaction, instance);
    }

    std::unique_ptr<BorrowedTransaction> borrow(const Transaction& transaction) override {
        return inner_.borrow(transaction);
    }

    bool can_begin_transaction() override { return inner_.can_begin_transaction(); }

    std::unique_ptr<StoreTransaction> begin_transaction() override {
        return inner_.begin_transaction();
    }

    void migrate() override {
        run(StoreVerb::Migrate, [&] { inner_.migrate(); });
    }

    void check_rights() override { inner_.check_rights(); }

    void register_workflow(const WorkflowRow& row) override {
        run(StoreVerb::RegisterWorkflow, [&] { inner_.register_workflow(row); });
    }

    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override {
        return ask(StoreVerb::FindWorkflow, [&] { return inner_.find_workflow(name, version); });
    }

    std::vector<WorkflowRow> list_workflows() override {
        return ask(StoreVerb::ListWorkflows, [&] { return inner_.list_workflows(); });
    }

    std::vector<StartResult> start(std::span<const NewInstance> instances) override {
        return ask(StoreVerb::Start, [&] { return inner_.start(instances); });
    }

    std::vector<Claim> claim(const ClaimRequest& request) override {
        return ask(StoreVerb::Claim, [&] { return inner_.claim(request); });
    }

    LimitedClaims claim_limited(const ClaimRequest& request) override {
        return ask(StoreVerb::ClaimLimited, [&] { return inner_.claim_limited(request); });
    }

    void set_queue(const QueueRow& row) override {
        run(StoreVerb::SetQueue, [&] { inner_.set_queue(row); });
    }

    std::vector<QueueUse> queues(const QueueQuery& query) override {
        return ask(StoreVerb::Queues, [&] { return inner_.queues(query); });
    }

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        return ask(StoreVerb::Commit, [&] { return inner_.commit(commits); });
    }

    std::vector<bool> were_committed(std::span<const Commit> commits) override {
        return ask(StoreVerb::WereCommitted, [&] { return inner_.were_committed(commits); });
    }

    std::vector<HandInResult> hand_in(
        const WorkerProcess& worker, std::span<const HandedIn> outcomes
    ) override {
        return ask(StoreVerb::HandIn, [&] { return inner_.hand_in(worker, outcomes); });
    }

    std::vector<SendResult> send(std::span<const Mail> mail) override {
        return ask(StoreVerb::Send, [&] { return inner_.send(mail); });
    }

    std::int64_t drop_mail(const InstanceId& ended) override {
        return ask(StoreVerb::DropMail, [&] { return inner_.drop_mail(ended); });
    }

    void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) override {
        run(StoreVerb::Release, [&] { inner_.release(worker, tasks); });
    }

    void abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) override {
        run(StoreVerb::Abandon, [&] { inner_.abandon(worker, tasks); });
    }

    void postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) override {
        run(StoreVerb::Postpone, [&] { inner_.postpone(worker, task, due); });
    }

    std::optional<InstanceRow> load(const InstanceId& id) override {
        return ask(StoreVerb::Load, [&] { return inner_.load(id); });
    }

    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override {
        return ask(StoreVerb::FindKey, [&] { return inner_.find_key(workflow, key); });
    }

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        return ask(StoreVerb::History, [&] { return inner_.history(query); });
    }

    std::vector<HistoryEvent> events(const InstanceId& id, const std::vector<Seq>& seqs) override {
        return ask(StoreVerb::History, [&] { return inner_.events(id, seqs); });
    }

    std::vector<TaskRow> tasks(const InstanceId& id) override {
        return ask(StoreVerb::Tasks, [&] { return inner_.tasks(id); });
    }

    std::vector<TaskRef> leased_tasks(
        std::string_view worker, std::span<const InstanceId> instances
    ) override {
        return ask(StoreVerb::LeasedTasks, [&] { return inner_.leased_tasks(worker, instances); });
    }

    std::vector<InstanceRow> list(const InstanceQuery& query) override {
        return ask(StoreVerb::List, [&] { return inner_.list(query); });
    }

    InstanceHits search(const InstanceSearch& search) override {
        return ask(StoreVerb::List, [&] { return inner_.search(search); });
    }

    InstanceTally tally(const InstanceSearch& search) override {
        return ask(StoreVerb::Count, [&] { return inner_.tally(search); });
    }

    std::vector<VersionCount> count_versions() override {
        return ask(StoreVerb::Count, [&] { return inner_.count_versions(); });
    }

    std::vector<StatusCount> count() override {
        return ask(StoreVerb::Count, [&] { return inner_.count(); });
    }

    std::vector<Unserved> unserved() override {
        return ask(StoreVerb::Unserved, [&] { return inner_.unserved(); });
    }

    std::optional<PartitionView> partitions() override { return inner_.partitions(); }

    std::map<std::string, std::int64_t> count_leases() override { return inner_.count_leases(); }

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override {
        return ask(StoreVerb::Heartbeat, [&] { return inner_.heartbeat(worker, lease); });
    }

    std::vector<WorkerRow> workers() override {
        return ask(StoreVerb::Workers, [&] { return inner_.workers(); });
    }

    void sign_off(const WorkerProcess& worker) override {
        run(StoreVerb::SignOff, [&] { inner_.sign_off(worker); });
    }

    MaintenanceResult maintain() override {
        return ask(StoreVerb::Maintain, [&] { return inner_.maintain(); });
    }

    std::vector<WaitRow> list_waits(const WaitQuery& query) override {
        return ask(StoreVerb::ListWaits, [&] { return inner_.list_waits(query); });
    }

    FailureGroups failure_groups(const FailureGroupQuery& query) override {
        return ask(StoreVerb::Failures, [&] { return inner_.failure_groups(query); });
    }

    std::vector<FailedInstance> list_failures(const FailureQuery& query) override {
        return ask(StoreVerb::Failures, [&] { return inner_.list_failures(query); });
    }

    SideRowPage check_side_rows(const InstanceId& after, int limit) override {
        return ask(StoreVerb::RepairSideRows, [&] { return inner_.check_side_rows(after, limit); });
    }

    void put_side_rows(std::span<const SideRowRepair> repairs) override {
        run(StoreVerb::RepairSideRows, [&] { inner_.put_side_rows(repairs); });
    }

    std::optional<SweepTurn> take_repair(Duration hold) override {
        return ask(StoreVerb::RepairSideRows, [&] { return inner_.take_repair(hold); });
    }

    bool put_repair(const SweepTurn& turn, Duration pause) override {
        return ask(StoreVerb::RepairSideRows, [&] { return inner_.put_repair(turn, pause); });
    }

    void put_subscription(const Subscription& subscription) override {
        run(StoreVerb::SetSubscription, [&] { inner_.put_subscription(subscription); });
    }

    std::vector<Subscription> subscriptions() override {
        return ask(StoreVerb::Subscriptions, [&] { return inner_.subscriptions(); });
    }

    std::optional<Subscription> find_subscription(std::string_view name) override {
        return ask(StoreVerb::Subscriptions, [&] { return inner_.find_subscription(name); });
    }

    bool remove_subscription(std::string_view name) override {
        return ask(StoreVerb::SetSubscription, [&] { return inner_.remove_subscription(name); });
    }

    std::int64_t note_delivery(const DeliveryNote& note) override {
        return ask(StoreVerb::SetSubscription, [&] { return inner_.note_delivery(note); });
    }

    void add_outbox(std::span<const OutboxRow> rows) override {
        run(StoreVerb::ChangeOutbox, [&] { inner_.add_outbox(rows); });
    }

    std::vector<OutboxRow> outbox(const std::vector<std::string>& subscriptions, int limit)
        override {
        return ask(StoreVerb::Outbox, [&] { return inner_.outbox(subscriptions, limit); });
    }

    void remove_outbox(std::span<const OutboxRow> rows) override {
        run(StoreVerb::ChangeOutbox, [&] { inner_.remove_outbox(rows); });
    }

    std::int64_t clear_outbox(const std::vector<std::string>& subscriptions, TimePoint before)
        override {
        return ask(StoreVerb::ChangeOutbox, [&] {
            return inner_.clear_outbox(subscriptions, before);
        });
    }

    std::vector<RetentionRule> retention() override {
        return ask(StoreVerb::Retention, [&] { return inner_.retention(); });
    }

    void set_retention(const RetentionRule& rule) override {
        run(StoreVerb::SetRetention, [&] { inner_.set_retention(rule); });
    }

    bool clear_retention(std::string_view workflow) override {
        return ask(StoreVerb::SetRetention, [&] { return inner_.clear_retention(workflow); });
    }

    PurgeResult purge(const PurgeRequest& request) override {
        return ask(StoreVerb::Purge, [&] { return inner_.purge(request); });
    }

    HousekeepingResult housekeep(std::span<const RetentionRule> rules) override {
        return ask(StoreVerb::Sweep, [&] { return inner_.housekeep(rules); });
    }

    Duration reclaim() override { return inner_.reclaim(); }

    std::optional<SweepTurn> take_sweep(Duration hold) override {
        return ask(StoreVerb::Sweep, [&] { return inner_.take_sweep(hold); });
    }

    bool put_sweep(const SweepTurn& turn, Duration pause) override {
        return ask(StoreVerb::Sweep, [&] { return inner_.put_sweep(turn, pause); });
    }

 protected:
    /// May throw: then the verb is not performed.
    virtual void before(StoreVerb /*verb*/) {}

    /// May throw: the verb is performed, but its answer is lost.
    virtual void after(StoreVerb /*verb*/) {}

 private:
    template <class Action>
    void run(StoreVerb verb, Action action) {
        before(verb);
        action();
        after(verb);
    }

    template <class Question>
    std::invoke_result_t<Question> ask(StoreVerb verb, Question question) {
        before(verb);
        auto answer = question();
        after(verb);
        return answer;
    }

    Store& inner_;
};

}  // namespace ebb
