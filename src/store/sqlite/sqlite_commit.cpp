#include "ebb/sqlite/sql.h"
#include "store/sqlite/mail_rows.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs that write instances: start and commit.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::OrNull;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

constexpr int kSleeping = 0;
constexpr int kDue = 1;

}  // namespace

std::vector<StartResult> SqliteStore::start(std::span<const NewInstance> instances) {
    std::vector<StartResult> results;
    if (instances.empty()) return results;
    results.reserve(instances.size());
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const NewInstance& instance : instances) results.push_back(start_one(writer_, instance));
    transaction.commit();
    return results;
}

StartResult SqliteStore::start_one(Database& database, const NewInstance& instance) {
    const InstanceRow& row = instance.row;
    const std::string id = row.id.to_string();
    Query add(
        database,
        sql::add_instance,
        id,
        row.workflow,
        row.version,
        OrNull(row.key),
        to_string(row.status),
        row.revision,
        row.priority,
        row.created_at,
        row.updated_at,
        OrNull(row.finished_at),
        row.state
    );
    if (add.run() == 0) {
        Query same_id(database, sql::has_instance, id);
        if (same_id.step()) return {StartResult::Kind::Created, row.id};
        Query same_key(database, sql::find_key, row.workflow, row.key);
        same_key.step();
        return {StartResult::Kind::Existing, sqlite::parse_id(same_key.text(0), "instances")};
    }
    add_history(database, id, instance.history);
    apply(database, id, instance.effects);
    if (!is_terminal(row.status)) {
        for (const TaskChange& change : instance.tasks)
            apply(database, id, change, instance.lease_owner);
    }
    return {StartResult::Kind::Created, row.id};
}

std::vector<CommitResult> SqliteStore::commit(std::span<const Commit> commits) {
    std::vector<CommitResult> results;
    if (commits.empty()) return results;
    results.reserve(commits.size());
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const Commit& commit : commits) results.push_back(commit_one(writer_, commit));
    transaction.commit();
    return results;
}

CommitResult SqliteStore::commit_one(Database& database, const Commit& commit) {
    const std::string id = commit.instance.to_string();
    const std::string_view status = to_string(commit.status);
    const std::int64_t revision = commit.expected_revision;
    const bool is_over = is_terminal(commit.status);

    // Nearly every commit leaves the status as it was, and that is one narrow update.
    bool is_written =
        !is_over &&
        Query(database, sql::advance_instance, id, revision, status, commit.state, commit.now)
                .run() > 0;
    if (!is_written) {
        const TimePoint finished_at = is_over ? commit.now : TimePoint{};
        Query change(
            database,
            sql::change_instance,
            id,
            revision,
            status,
            commit.state,
            commit.now,
            OrNull(finished_at)
        );
        is_written = change.run() > 0;
    }
    if (!is_written) {
        return Query(database, sql::has_instance, id).step() ? CommitResult::Conflict
                                                             : CommitResult::NotFound;
    }
    if (commit.version != 0) Query(database, sql::set_version, id, commit.version).run();
    add_history(database, id, commit.history);
    if (commit.effects != nullptr) apply(database, id, *commit.effects);
    sqlite::receive_mail(database, id, commit.received, clock_.now());
    if (is_over) {
        Query(database, sql::remove_tasks, id).run();
        return CommitResult::Committed;
    }
    for (const TaskChange& change : commit.tasks) apply(database, id, change, commit.lease_owner);
    return CommitResult::Committed;
}

void SqliteStore::add_history(
    Database& database, std::string_view instance, std::span<const HistoryEvent> events
) {
    for (const HistoryEvent& event : events) {
        Query(
            database,
            sql::add_event,
            instance,
            event.seq,
            to_string(event.type),
            OrNull(event.node),
            OrNull(event.path),
            OrNull(event.token),
            OrNull(event.visit),
            OrNull(std::int64_t{event.attempt}),
            OrNull(event.ref),
            OrNull(event.worker),
            OrNull(event.started_at),
            event.at,
            OrNull(event.payload)
        )
            .run();
    }
}

void SqliteStore::apply(
    Database& database,
    std::string_view instance,
    const TaskChange& change,
    std::string_view lease_owner
) {
    const TimePoint now = clock_.now();
    const std::int64_t head_start = kHeadStartPerPriority.count();
    switch (change.kind) {
        case TaskChange::Kind::Put: {
            const std::string_view owner = change.is_continued ? lease_owner : std::string_view();
            Query(
                database,
                sql::put_task,
                instance,
                change.token,
                change.handler,
                change.queue,
                change.due,
                rank_of(change.due, 0),
                head_start,
                change.due <= now ? kDue : kSleeping,
                OrNull(owner),
                OrNull(change.concurrency_key)
            )
                .run();
            break;
        }
        case TaskChange::Kind::Remove:
            Query(database, sql::remove_task, instance, change.token).run();
            break;
        case TaskChange::Kind::Park:
            Query(database, sql::park_task, instance, change.token).run();
            break;
        case TaskChange::Kind::Unpark:
            Query(database, sql::unpark_task, instance, change.token, now).run();
            break;
        case TaskChange::Kind::Stop:
            Query(
                database, sql::stop_task, instance, change.token, now, rank_of(now, 0), head_start
            )
                .run();
            break;
    }
}

}  // namespace ebb
