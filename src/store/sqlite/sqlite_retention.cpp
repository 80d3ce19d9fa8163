#include "ebb/sqlite/sql.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about retention.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

std::optional<std::int64_t> micros_of(const std::optional<Duration>& kept) {
    if (!kept) return std::nullopt;
    return kept->count();
}

std::optional<Duration> kept_of(const Query& query, int column) {
    if (query.is_null(column)) return std::nullopt;
    return Duration(query.integer(column));
}

/// An instance that was found to be old enough.
struct Old {
    std::string id;
    std::string workflow;
    InstanceStatus status{};
    std::int64_t revision = 0;
    TimePoint latest_end{};
};

/// One page of instances, and those of them that are to go.
struct Page {
    std::vector<Old> old;
    InstanceId last{};
    bool is_end = true;
};

Page read_page(Database& database, const PurgeRequest& request, TimePoint now) {
    const std::string after = request.after.to_string();
    const std::string bound = purge_bound(request.rules, now).to_string();
    Page page;
    PurgeBatch batch;
    int seen = 0;
    // One more, to know whether there is any.
    Query found(database, sql::purge_page, after, bound, request.limit + 1);
    while (found.step()) {
        if (seen == request.limit || !batch.has_room()) {
            page.is_end = false;
            return page;
        }
        ++seen;
        page.last = sqlite::parse_id(found.text(0), "instances");
        const auto status = parse_status(found.text(2));
        if (!status) continue;
        const auto latest = latest_end(request.rules, found.text(1), *status, now);
        if (!latest || found.is_null(4) || found.time(4) > *latest) continue;
        page.old.push_back(
            {.id = std::string(found.text(0)),
             .workflow = std::string(found.text(1)),
             .status = *status,
             .revision = found.integer(3),
             .latest_end = *latest}
        );
        batch.add(page.old.back().workflow, *status, page.old.back().revision);
    }
    page.last = {};
    return page;
}

}  // namespace

std::vector<RetentionRule> SqliteStore::retention() {
    return read([](Database& database) {
        std::vector<RetentionRule> rules;
        Query query(database, sql::list_retention);
        while (query.step()) {
            rules.push_back(
                {.workflow = std::string(query.text(0)),
                 .keep = {.completed = kept_of(query, 1), .failed = kept_of(query, 2)},
                 .updated_at = query.time(3)}
            );
        }
        return rules;
    });
}

void SqliteStore::set_retention(const RetentionRule& rule) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const auto completed = micros_of(rule.keep.completed);
    const auto failed = micros_of(rule.keep.failed);
    Query(writer_, sql::set_retention, rule.workflow, completed, failed, rule.updated_at).run();
    Query(writer_, sql::restart_sweep).run();
    transaction.commit();
}

bool SqliteStore::clear_retention(std::string_view workflow) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const bool was_there = Query(writer_, sql::clear_retention, workflow).run() > 0;
    if (was_there) Query(writer_, sql::restart_sweep).run();
    transaction.commit();
    return was_there;
}

PurgeResult SqliteStore::purge(const PurgeRequest& request) {
    check_purge(request);
    const TimePoint now = clock_.now();
    const Page page = read([&](Database& database) { return read_page(database, request, now); });
    PurgeResult result{.purged = {}, .last = page.last, .is_end = page.is_end};
    PurgeBatch batch;
    if (request.only_counts || page.old.empty()) {
        for (const Old& old : page.old) batch.add(old.workflow, old.status, old.revision);
        result.purged = batch.counts();
        return result;
    }
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const Old& old : page.old) {
        if (Query(writer_, sql::purge_instance, old.id, old.latest_end).run() == 0) continue;
        Query(writer_, sql::purge_history, old.id).run();
        Query(writer_, sql::remove_waits, old.id).run();
        Query(writer_, sql::remove_failure, old.id).run();
        Query(writer_, sql::remove_labels, old.id).run();
        Query(writer_, sql::remove_all_mail, old.id).run();
        Query(writer_, sql::remove_wake, old.id).run();
        batch.add(old.workflow, old.status, old.revision);
    }
    transaction.commit();
    result.purged = batch.counts();
    return result;
}

std::optional<SweepTurn> SqliteStore::take_sweep(Duration hold) {
    const TimePoint now = clock_.now();
    const auto find = [&](Database& database) -> std::optional<SweepTurn> {
        Query query(database, sql::due_sweep, now);
        if (!query.step()) return std::nullopt;
        return SweepTurn{query.integer(0), sqlite::parse_id(query.text(1), "sweeps")};
    };
    // Most have nothing to do, and need no write lock to find that out.
    if (!read(find)) return std::nullopt;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    std::optional<SweepTurn> turn = find(writer_);
    if (!turn) return std::nullopt;
    Query(writer_, sql::take_sweep, turn->number, now + hold).run();
    transaction.commit();
    turn->number += 1;
    return turn;
}

bool SqliteStore::put_sweep(const SweepTurn& turn, Duration pause) {
    const std::string reached = turn.after.to_string();
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query query(writer_, sql::put_sweep, turn.number, reached, clock_.now() + pause);
    const bool is_ours = query.run() > 0;
    transaction.commit();
    return is_ours;
}

}  // namespace ebb
