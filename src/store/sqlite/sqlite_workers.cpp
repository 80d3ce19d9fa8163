#include "ebb/sqlite/sql.h"
#include "store/agreement.h"
#include "store/sqlite/hint_file.h"
#include "store/sqlite/lease_task.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about workers and their leases.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

struct LeaseEnd {
    TimePoint date;
    SteadyPoint steady;
    std::string_view boot;
};

std::int64_t write_worker(
    Database& database, std::string_view statement, const WorkerRow& worker, const LeaseEnd& end
) {
    const std::string handlers = sqlite::names_to_json(worker.handlers);
    const std::string queues = sqlite::names_to_json(worker.queues);
    Query query(
        database,
        statement,
        worker.id,
        worker.host,
        worker.pid,
        handlers,
        queues,
        worker.capacity,
        worker.started_at,
        end.date,
        end.boot,
        end.steady.time_since_epoch().count()
    );
    return query.run();
}

}  // namespace

HeartbeatResult SqliteStore::heartbeat(const WorkerRow& worker, Duration lease) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    HeartbeatResult result;
    lease_dates_.note_lease(lease);
    if (!worker.takes_name && sqlite::is_displaced(writer_, {worker.id, worker.started_at})) {
        return {.held = {}, .is_displaced = true};
    }
    const TimePoint now = clock_.now();
    const SteadyPoint steady = clock_.steady_now();
    const LeaseEnd end{now + lease, steady + lease, boot_};
    result.is_known = write_worker(writer_, sql::prolong_worker, worker, end) > 0;
    if (!result.is_known) write_worker(writer_, sql::add_worker, worker, end);
    Query held(writer_, sql::held_tasks, worker.id);
    while (held.step()) {
        const TaskRef task{sqlite::parse_id(held.text(0), "tasks"), held.integer(1)};
        result.held.push_back({task, held.integer(2) != 0, held.integer(3) != 0});
    }
    Query limited(writer_, sql::list_queues);
    while (limited.step()) result.limited_queues.emplace_back(limited.text(0));
    Query subscriptions(writer_, sql::subscriptions_mark);
    if (subscriptions.step()) {
        result.subscriptions_mark = mark_of(subscriptions.integer(0), subscriptions.time(1));
    }
    Query others(
        writer_, sql::other_workers, worker.id, now, boot_, steady.time_since_epoch().count()
    );
    if (others.step() && !others.is_null(0)) {
        result.others_live_for = Duration(others.integer(0));
        result.others = static_cast<int>(others.integer(1));
    }
    transaction.commit();
    return result;
}

void SqliteStore::sign_off(const WorkerProcess& worker) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query(writer_, sql::sign_worker_off, worker.id, worker.started_at).run();
    Query(writer_, sql::release_tasks_of_worker, worker.id).run();
    transaction.commit();
}

TimePoint SqliteStore::find_dead_before(TimePoint now) {
    const Lock lock(writer_mutex_);
    if (lease_dates_.look(clock_)) {
        // A worker that died before the clock was set back must not seem to live until then.
        WriteTransaction transaction(writer_);
        Query(writer_, sql::shorten_leases, now + lease_dates_.grace()).run();
        transaction.commit();
    }
    return lease_dates_.are_trusted(clock_) ? now : TimePoint{};
}

MaintenanceResult SqliteStore::maintain() {
    const TimePoint now = clock_.now();
    const Duration::rep steady = clock_.steady_now().time_since_epoch().count();
    const TimePoint dead_before = find_dead_before(now);
    const TimePoint old_mail = now - kWakeLostAfter;
    MaintenanceResult result;
    const bool has_work = read([&](Database& database) {
        Query query(database, sql::has_maintenance, now, dead_before, boot_, steady, old_mail);
        return query.step() && query.integer(0) != 0;
    });
    if (has_work) {
        const Lock lock(writer_mutex_);
        WriteTransaction transaction(writer_);
        Query dead(writer_, sql::dead_workers, dead_before, boot_, steady);
        while (dead.step()) result.workers_expired.emplace_back(dead.text(0));
        for (const std::string& worker : result.workers_expired) {
            Query(writer_, sql::remove_worker, worker).run();
        }
        result.leases_expired = Query(writer_, sql::take_lost_leases).run();
        Query(writer_, sql::wake_tasks, now).run();
        const std::int64_t head_start = kHeadStartPerPriority.count();
        Query(writer_, sql::restore_lost_wakes, old_mail, now, rank_of(now, 0), head_start).run();
        transaction.commit();
    }
    result.next_due = read([](Database& database) {
        Query query(database, sql::next_due);
        return query.step() ? query.time(0) : kNever;
    });
    checkpoint();
    return result;
}

std::unique_ptr<Hints> SqliteStore::open_hints() {
    return std::make_unique<sqlite::HintFile>(options_.path);
}

std::vector<WorkerRow> SqliteStore::workers() {
    return read([this](Database& database) { return sqlite::worker_rows(database, clock_, boot_); }
    );
}

std::map<std::string, std::int64_t> SqliteStore::count_leases() {
    return read([](Database& database) {
        std::map<std::string, std::int64_t> leases;
        Query query(database, sql::count_leases);
        while (query.step()) leases.emplace(query.text(0), query.integer(1));
        return leases;
    });
}

std::vector<Store::Unserved> SqliteStore::unserved() {
    const TimePoint now = clock_.now();
    return read([&](Database& database) {
        const std::vector<WorkerRow> workers = sqlite::worker_rows(database, clock_, boot_);
        std::vector<Unserved> result;
        Query query(database, sql::waiting_tasks, now);
        while (query.step()) {
            Unserved waiting{
                std::string(query.text(0)), std::string(query.text(1)), query.integer(2)
            };
            bool is_served = false;
            for (const WorkerRow& worker : workers) {
                is_served = is_served || (worker.expires_at > now && can_run(worker, waiting));
            }
            if (!is_served) result.push_back(std::move(waiting));
        }
        return result;
    });
}

}  // namespace ebb
