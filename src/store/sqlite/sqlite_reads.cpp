#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>

#include "ebb/sqlite/sql.h"
#include "store/names.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs that only read.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::OrNull;
using sqlite::Query;

namespace {

WorkflowRow workflow_row(const Query& query) {
    WorkflowRow row;
    row.name = query.text(0);
    row.version = static_cast<int>(query.integer(1));
    row.checksum = query.text(2);
    row.created_at = query.time(3);
    return row;
}

std::string types_to_json(const std::vector<HistoryType>& types) {
    std::vector<std::string> names;
    for (const HistoryType type : types) names.emplace_back(to_string(type));
    return names.empty() ? std::string() : sqlite::names_to_json(names);
}

/// The list statements of one order.
struct ListStatements {
    std::string_view all;
    std::string_view by_status;
    std::string_view by_key;
};

constexpr ListStatements kNewestFirst{
    .all = sql::list_instances,
    .by_status = sql::list_instances_by_status,
    .by_key = sql::list_instances_by_key,
};
constexpr ListStatements kOldestFirst{
    .all = sql::list_instances_oldest_first,
    .by_status = sql::list_instances_by_status_oldest_first,
    .by_key = sql::list_instances_by_key_oldest_first,
};

/// Appends what `statement` finds with `sixth`, its sixth argument; a row that cannot be understood
/// is left out here, and load() says what is wrong with it.
void append_instances(
    Database& database,
    std::string_view statement,
    const InstanceQuery& query,
    std::string_view sixth,
    std::vector<InstanceRow>& rows
) {
    // '~' is greater than every id.
    const std::string before = query.before ? query.before->to_string() : "~";
    const std::string from = query.from ? query.from->to_string() : "";
    // Nothing stands for all workflows but those of the system.
    const std::string_view asked = query.asked_workflow();
    const std::string names = asked.empty() ? "" : sqlite::names_to_json(split_names(asked));
    const OrNull workflow(names);
    const OrNull version(std::int64_t{query.version.value_or(0)});
    const int limit = query.limit;
    const bool has_sixth = statement.find("?6") != std::string_view::npos;
    Query found = has_sixth
                      ? Query(database, statement, before, from, workflow, version, limit, sixth)
                      : Query(database, statement, before, from, workflow, version, limit);
    while (found.step()) {
        try {
            rows.push_back(sqlite::instance_row(found));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::CorruptState) throw;
        }
    }
}

}  // namespace

std::optional<WorkflowRow> SqliteStore::find_workflow(
    std::string_view name, std::optional<int> version
) {
    return read([&](Database& database) -> std::optional<WorkflowRow> {
        Query query = version ? Query(database, sql::find_workflow, name, *version)
                              : Query(database, sql::find_newest_workflow, name);
        if (!query.step()) return std::nullopt;
        WorkflowRow row = workflow_row(query);
        row.definition = query.text(4);
        return row;
    });
}

std::vector<WorkflowRow> SqliteStore::list_workflows() {
    return read([](Database& database) {
        std::vector<WorkflowRow> rows;
        Query query(database, sql::list_workflows);
        while (query.step()) rows.push_back(workflow_row(query));
        return rows;
    });
}

std::optional<InstanceRow> SqliteStore::load(const InstanceId& id) {
    const std::string text = id.to_string();
    return read([&](Database& database) -> std::optional<InstanceRow> {
        Query query(database, sql::load_instance, text);
        if (!query.step()) return std::nullopt;
        return sqlite::instance_row(query);
    });
}

std::optional<InstanceId> SqliteStore::find_key(std::string_view workflow, std::string_view key) {
    return read([&](Database& database) -> std::optional<InstanceId> {
        Query query(database, sql::find_key, workflow, key);
        if (!query.step()) return std::nullopt;
        return sqlite::parse_id(query.text(0), "instances");
    });
}

std::vector<HistoryEvent> SqliteStore::history(const HistoryQuery& query) {
    return read([&](Database& database) { return read_history(database, query); });
}

std::vector<HistoryEvent> SqliteStore::read_history(Database& database, const HistoryQuery& query) {
    const std::string id = query.instance.to_string();
    const std::string types = types_to_json(query.types);
    const Seq before = query.before == 0 ? std::numeric_limits<Seq>::max() : query.before;
    const bool is_forward = query.order == HistoryQuery::Order::Forward;
    std::vector<HistoryEvent> events;
    Query found(
        database,
        is_forward ? sql::history_forward : sql::history_backward,
        id,
        query.after,
        before,
        OrNull(types),
        OrNull(query.node),
        std::max(query.limit, 0)
    );
    while (found.step()) events.push_back(sqlite::history_event(found, query.instance));
    return events;
}

std::vector<HistoryEvent> SqliteStore::events(const InstanceId& id, const std::vector<Seq>& seqs) {
    return read([&](Database& database) { return read_events(database, id, seqs); });
}

std::vector<HistoryEvent> SqliteStore::read_events(
    Database& database, const InstanceId& id, const std::vector<Seq>& seqs
) {
    const std::string text = id.to_string();
    const std::string wanted = fmt::format("[{}]", fmt::join(seqs, ","));
    std::vector<HistoryEvent> events;
    Query found(database, sql::events_of_instance, text, wanted);
    while (found.step()) events.push_back(sqlite::history_event(found, id));
    return events;
}

std::vector<TaskRow> SqliteStore::tasks(const InstanceId& id) {
    const std::string text = id.to_string();
    return read([&](Database& database) {
        std::vector<TaskRow> rows;
        Query query(database, sql::tasks_of_instance, text);
        while (query.step()) {
            TaskRow row;
            row.task = {id, query.integer(0)};
            row.handler = query.text(1);
            row.queue = query.text(2);
            row.due = query.time(3);
            row.is_parked = query.integer(4) == 2;
            row.is_stop = query.integer(5) != 0;
            row.was_lost = query.integer(6) != 0;
            row.lease_owner = query.text(7);
            row.concurrency_key = query.text(8);
            row.has_slot = query.integer(9) != 0 && !row.lease_owner.empty();
            rows.push_back(std::move(row));
        }
        return rows;
    });
}

std::vector<InstanceRow> SqliteStore::list(const InstanceQuery& query) {
    std::vector<InstanceRow> rows;
    if (query.limit <= 0) return rows;
    const bool is_oldest_first = query.order == InstanceOrder::OldestFirst;
    const ListStatements& statements = is_oldest_first ? kOldestFirst : kNewestFirst;
    read([&](Database& database) {
        if (!query.key.empty()) {
            append_instances(database, statements.by_key, query, query.key, rows);
        } else if (query.statuses.empty()) {
            append_instances(database, statements.all, query, {}, rows);
        } else {
            const std::set<InstanceStatus> statuses(query.statuses.begin(), query.statuses.end());
            for (const InstanceStatus status : statuses) {
                const std::string_view name = to_string(status);
                append_instances(database, statements.by_status, query, name, rows);
            }
        }
        return true;
    });
    if (!query.key.empty() && !query.statuses.empty()) {
        std::erase_if(rows, [&](const InstanceRow& row) {
            const auto& wanted = query.statuses;
            return std::find(wanted.begin(), wanted.end(), row.status) == wanted.end();
        });
    }
    std::sort(rows.begin(), rows.end(), [&](const InstanceRow& a, const InstanceRow& b) {
        return is_oldest_first ? a.id < b.id : a.id > b.id;
    });
    if (std::ssize(rows) > query.limit) rows.resize(static_cast<std::size_t>(query.limit));
    return rows;
}

std::vector<StatusCount> SqliteStore::count() {
    return read([](Database& database) {
        std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
        Query query(database, sql::count_instances);
        while (query.step()) {
            if (const auto status = parse_status(query.text(1))) {
                counts[{std::string(query.text(0)), *status}] = query.integer(2);
            }
        }
        std::vector<StatusCount> result;
        for (const auto& [key, count] : counts) result.push_back({key.first, key.second, count});
        return result;
    });
}

std::vector<VersionCount> SqliteStore::count_versions() {
    return read([](Database& database) {
        std::map<std::tuple<std::string, int, InstanceStatus>, std::int64_t> counts;
        Query query(database, sql::count_versions);
        while (query.step()) {
            if (const auto status = parse_status(query.text(2))) {
                const int version = static_cast<int>(query.integer(1));
                counts[{std::string(query.text(0)), version, *status}] = query.integer(3);
            }
        }
        std::vector<VersionCount> result;
        for (const auto& [key, count] : counts) {
            result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
        }
        return result;
    });
}

}  // namespace ebb
