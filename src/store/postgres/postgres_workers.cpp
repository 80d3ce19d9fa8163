#include <algorithm>

#include "ebb/postgres/sql.h"
#include "store/postgres/listener.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"

// The verbs about workers and their leases.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;

namespace {

/// How many due tasks one call wakes; what is left is due at once, says its answer.
constexpr std::int64_t kWakeMax = 10'000;
constexpr std::int64_t kHeadStart = kHeadStartPerPriority.count();

std::vector<HeldTask> held_tasks(const postgres::Result& rows) {
    std::vector<HeldTask> held;
    for (int row = 0; row < rows.rows(); ++row) {
        held.push_back(
            {{rows.id(row, 0), rows.integer(row, 1)}, rows.boolean(row, 2), rows.boolean(row, 3)}
        );
    }
    return held;
}

HeartbeatResult heartbeat_result(bool is_known, const std::vector<postgres::Result>& answers) {
    HeartbeatResult result{.is_known = is_known, .held = held_tasks(answers[1])};
    if (!answers[0].is_null(0, 0)) result.others_live_for = Duration(answers[0].integer(0, 0));
    result.others = static_cast<int>(answers[0].integer(0, 2));
    result.subscriptions_mark = mark_of(answers[0].integer(0, 4), answers[0].time(0, 5));
    // A name has no comma.
    std::string_view names = answers[0].text(0, 1);
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(','), names.size());
        result.limited_queues.emplace_back(names.substr(0, end));
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return result;
}

}  // namespace

HeartbeatResult PostgresStore::heartbeat(const WorkerRow& worker, Duration lease) {
    const TimePoint begun = system_clock_.now();
    const postgres::LeaseMarks::Look look = lease_marks_.begin(worker.id, begun);
    const std::uint64_t fold_look = folded_tasks_.begin_look();
    try {
        HeartbeatResult result = perform(Repeat::Freely, [&](Connection& connection) {
            return beat(connection, worker, lease, look.from);
        });
        std::optional<InstanceId> lowest;
        if (!result.held.empty()) lowest = result.held.front().task.instance;
        lease_marks_.end(worker.id, look, {begun, system_clock_.now(), lowest});
        folded_tasks_.end_look(worker.id, fold_look, result.held);
        return result;
    } catch (...) {
        lease_marks_.give_up(worker.id);
        throw;
    }
}

HeartbeatResult PostgresStore::beat(
    Connection& connection, const WorkerRow& worker, Duration lease, const InstanceId& from
) {
    const Array handlers = postgres::texts_of(worker.handlers);
    const Array queues = postgres::texts_of(worker.queues);
    const Arguments row = Arguments::of(
        worker.id,
        worker.host,
        worker.pid,
        handlers,
        queues,
        std::int32_t{worker.capacity},
        worker.started_at,
        std::int64_t{lease.count()},
        given_time(),
        worker.takes_name
    );
    const Arguments held = Arguments::of(worker.id, from);
    // What it holds is read by a statement of its own, which sees the result of the first.
    const std::vector<Call> prolong{{sql::prolong_worker, row}, {sql::held_tasks, held}};
    const SteadyPoint sent = server_clock_.steady_now();
    const std::vector<postgres::Result> prolonged = connection.run(prolong);
    if (!prolonged[0].is_empty()) {
        learn_time(sent, prolonged[0].time(0, 3));
        return heartbeat_result(true, prolonged);
    }
    const std::vector<Call> add{{sql::add_worker, row}, {sql::held_tasks, held}};
    const std::vector<postgres::Result> added = connection.run(add);
    if (added[0].is_empty()) return {.held = {}, .is_displaced = true};
    return heartbeat_result(false, added);
}

void PostgresStore::sign_off(const WorkerProcess& worker) {
    const Arguments row = Arguments::of(worker.id, worker.started_at);
    const Arguments id = Arguments::of(worker.id);
    const Arguments unfold = Arguments::of(worker.id, kHeadStart);
    const std::vector<Call> calls{
        {sql::remove_worker, row},
        {sql::unfold_tasks_of_worker, unfold},
        {sql::release_tasks_of_worker, id}
    };
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    lease_marks_.remove(worker.id);
    folded_tasks_.remove(worker.id);
    claim_marks_.forget();
}

MaintenanceResult PostgresStore::maintain() {
    const Arguments time = Arguments::of(given_time());
    const Arguments wake = Arguments::of(given_time(), kWakeMax, postgres::ClaimMarks::kLowest);
    const Arguments none;
    const Arguments unfold = Arguments::of(kHeadStart);
    const Arguments late = Arguments::of(given_time(), kHeadStart);
    const Arguments mail =
        Arguments::of(given_time(), std::int64_t{kWakeLostAfter.count()}, kHeadStart);
    const std::vector<Call> calls{
        {sql::remove_dead_workers, time},
        {sql::unfold_lost_tasks, unfold},
        {sql::take_lost_leases, none},
        {sql::wake_tasks, wake},
        {sql::next_due, none},
        {sql::time_out_tasks, late},
        {sql::restore_lost_wakes, mail},
    };
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    MaintenanceResult result;
    for (int row = 0; row < results[0].rows(); ++row) {
        result.workers_expired.emplace_back(results[0].text(row, 0));
    }
    std::sort(result.workers_expired.begin(), result.workers_expired.end());
    result.leases_expired = results[2].integer(0, 0) + results[5].changed();
    if (result.leases_expired > 0) claim_marks_.forget();
    if (!results[4].is_empty()) result.next_due = results[4].time(0, 0);
    return result;
}

std::unique_ptr<Hints> PostgresStore::open_hints() {
    return std::make_unique<postgres::Listener>(settings_, [this](const Arguments& message) {
        read(sql::send_hint, message);
    });
}

std::vector<WorkerRow> PostgresStore::workers() {
    const postgres::Result rows = read(sql::list_workers, {});
    std::vector<WorkerRow> workers;
    for (int row = 0; row < rows.rows(); ++row) workers.push_back(postgres::worker_row(rows, row));
    return workers;
}

std::map<std::string, std::int64_t> PostgresStore::count_leases() {
    const postgres::Result rows = read(sql::count_leases, {});
    std::map<std::string, std::int64_t> leases;
    for (int row = 0; row < rows.rows(); ++row) {
        leases.emplace(rows.text(row, 0), rows.integer(row, 1));
    }
    return leases;
}

std::vector<Store::Unserved> PostgresStore::unserved() {
    const postgres::Result rows = read(sql::unserved_tasks, Arguments::of(given_time()));
    std::vector<Unserved> result;
    for (int row = 0; row < rows.rows(); ++row) {
        result.push_back(
            {std::string(rows.text(row, 0)), std::string(rows.text(row, 1)), rows.integer(row, 2)}
        );
    }
    return result;
}

}  // namespace ebb
