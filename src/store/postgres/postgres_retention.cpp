#include <map>

#include "ebb/postgres/sql.h"
#include "store/postgres/partitions.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rule_columns.h"

// The verbs about retention.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Call;
using postgres::Connection;

namespace {

std::optional<Duration> kept_of(const postgres::Result& rows, int row, int column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return Duration(rows.integer(row, column));
}

PurgeResult purge_result(const postgres::Result& rows) {
    PurgeResult result;
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    for (int row = 0; row < rows.rows(); ++row) {
        if (rows.is_null(row, 0)) {
            result.is_end = rows.boolean(row, 4);
            if (!result.is_end) result.last = rows.id(row, 3);
        } else if (const auto status = parse_status(rows.text(row, 1))) {
            counts[{std::string(rows.text(row, 0)), *status}] = rows.integer(row, 2);
        }
    }
    for (const auto& [key, count] : counts) {
        result.purged.push_back({key.first, key.second, count});
    }
    return result;
}

}  // namespace

std::vector<RetentionRule> PostgresStore::retention() {
    const postgres::Result rows = read(sql::list_retention, {});
    std::vector<RetentionRule> rules;
    for (int row = 0; row < rows.rows(); ++row) {
        rules.push_back(
            {.workflow = std::string(rows.text(row, 0)),
             .keep = {.completed = kept_of(rows, row, 1), .failed = kept_of(rows, row, 2)},
             .updated_at = rows.time(row, 3)}
        );
    }
    return rules;
}

void PostgresStore::set_retention(const RetentionRule& rule) {
    const Arguments row = Arguments::of(
        rule.workflow,
        postgres::micros_of(rule.keep.completed),
        postgres::micros_of(rule.keep.failed),
        rule.updated_at
    );
    const Arguments none;
    const std::vector<Call> calls{{sql::set_retention, row}, {sql::restart_sweep, none}};
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
}

bool PostgresStore::clear_retention(std::string_view workflow) {
    return !read(sql::clear_retention, Arguments::of(workflow)).is_empty();
}

PurgeResult PostgresStore::purge(const PurgeRequest& request) {
    check_purge(request);
    const std::optional<Duration> least = shortest(request.rules);
    if (!least) return {};
    const postgres::RuleColumns rules(request.rules);
    Arguments arguments = Arguments::of(request.after, std::int64_t{request.limit});
    rules.append_to(arguments);
    arguments.add(std::int64_t{least->count()});
    arguments.add(kPurgeChangesMax);
    arguments.add(request.only_counts);
    arguments.add(given_time());
    arguments.add(request.by_partition);
    return purge_result(read(sql::purge_instances, arguments));
}

HousekeepingResult PostgresStore::housekeep(std::span<const RetentionRule> rules) {
    return perform(Repeat::Freely, [&](Connection& connection) {
        return postgres::housekeep(connection, rules, given_time());
    });
}

Duration PostgresStore::reclaim() {
    if (!dead_tasks_.is_worth_a_look()) return postgres::DeadTasks::kPause;
    const postgres::Result found = read(sql::dead_tasks, {});
    const bool may_vacuum = found.boolean(0, 1);
    if (!may_vacuum) return Duration::max();
    if (!dead_tasks_.is_worth_a_vacuum(found.integer(0, 0))) return postgres::DeadTasks::kPause;
    perform(Repeat::Freely, [](Connection& connection) {
        connection.execute(sql::vacuum_tasks);
        return true;
    });
    dead_tasks_.note_left(read(sql::dead_tasks, {}).integer(0, 0));
    return postgres::DeadTasks::kPause;
}

std::optional<PartitionView> PostgresStore::partitions() {
    return perform(Repeat::Freely, [&](Connection& connection) {
        return postgres::view_partitions(connection, given_time());
    });
}

std::optional<SweepTurn> PostgresStore::take_sweep(Duration hold) {
    const postgres::Result rows =
        read(sql::take_sweep, Arguments::of(given_time(), std::int64_t{hold.count()}));
    if (rows.is_empty()) return std::nullopt;
    return SweepTurn{rows.integer(0, 0), rows.id(0, 1)};
}

bool PostgresStore::put_sweep(const SweepTurn& turn, Duration pause) {
    const Arguments arguments =
        Arguments::of(given_time(), turn.number, turn.after, std::int64_t{pause.count()});
    return !read(sql::put_sweep, arguments).is_empty();
}

}  // namespace ebb
