#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/store.h>

#include "store/postgres/claim_marks.h"
#include "store/postgres/lease_marks.h"
#include "store/postgres/pool.h"
#include "store/postgres/settings.h"
#include "store/store.h"
#include "support/clock.h"

namespace ebb {

/// One PostgreSQL database. Every verb is one statement, or one pipeline of statements in one
/// transaction, on a connection of a small pool; nothing is open between two calls.
class PostgresStore final : public Store {
 public:
    /// Connects. `clock`: the time of leases in a test, must outlive the store; null = the
    /// server's.
    PostgresStore(const PostgresOptions& options, const Clock* clock);

    StoreTraits traits() const override;
    void migrate() override;
    void register_workflow(const WorkflowRow& row) override;
    std::optional<WorkflowRow> find_workflow(std::string_view name, std::optional<int> version)
        override;
    std::vector<WorkflowRow> list_workflows() override;
    std::vector<StartResult> start(std::span<const NewInstance> instances) override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    std::vector<CommitResult> commit(std::span<const Commit> commits) override;
    void release(std::string_view worker, std::span<const TaskRef> tasks) override;
    std::optional<InstanceRow> load(const InstanceId& id) override;
    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override;
    std::vector<HistoryEvent> history(const HistoryQuery& query) override;
    std::vector<TaskRow> tasks(const InstanceId& id) override;
    std::vector<InstanceRow> list(const InstanceQuery& query) override;
    std::vector<StatusCount> count() override;
    std::vector<Unserved> unserved() override;
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;
    std::vector<WorkerRow> workers() override;
    void sign_off(std::string_view worker) override;
    MaintenanceResult maintain() override;

 private:
    /// What a lost answer means: a verb that changes nothing the second time, and then answers as
    /// the first time, is simply repeated.
    enum class Repeat { Freely, IsInDoubt };

    /// Calls `use(Connection&)`, again where it lost a race, or where its connection broke and
    /// `repeat` allows it.
    template <class Use>
    auto perform(Repeat repeat, Use use) {
        for (int tries = 1;; ++tries) {
            postgres::Pool::Lease connection = pool_.take();
            try {
                return use(*connection);
            } catch (...) {
                recover(connection, repeat, tries);
            }
        }
    }

    /// In a handler of an exception: returns when the verb is to be tried again.
    void recover(postgres::Pool::Lease& connection, Repeat repeat, int tries);

    postgres::Result read(std::string_view sql, const postgres::Arguments& arguments) {
        return perform(Repeat::Freely, [&](postgres::Connection& connection) {
            return connection.run(sql, arguments);
        });
    }

    /// The time of a test; none = the server's own.
    std::optional<TimePoint> now() const;

    std::vector<StartResult> start_new(
        postgres::Connection& connection, std::span<const NewInstance> instances
    );
    std::vector<StartResult> start_absent(
        postgres::Connection& connection, std::span<const NewInstance> instances
    );
    void note_started(std::span<const NewInstance> instances);
    void note_committed(std::span<const Commit> commits);
    void park_broken(const TaskRef& task);
    HeartbeatResult beat(
        postgres::Connection& connection,
        const WorkerRow& worker,
        Duration lease,
        const InstanceId& from
    );
    std::vector<Claim> claim_of_instance(const ClaimRequest& request);
    std::vector<Claim> claim_stops(const ClaimRequest& request);
    std::vector<Claim> claim_from(
        const ClaimRequest& request, const postgres::ClaimMarks::Look& look, TimePoint begun
    );
    std::vector<Claim> claims_of(std::string_view worker, const postgres::Result& rows);
    /// Leases may have been taken and tasks been made claimable without our knowledge.
    void forget_marks();

    const postgres::Settings settings_;
    const Clock* clock_;
    const SystemClock system_clock_;
    postgres::Pool pool_;
    postgres::ClaimMarks claim_marks_;
    postgres::LeaseMarks lease_marks_;
};

/// A PostgreSQL store with its own time. `clock` must outlive it.
StorePtr make_postgres_store(const PostgresOptions& options, const Clock& clock);

}  // namespace ebb
