#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/names.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"

// The verbs that only read.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::OrNull;

namespace {

constexpr std::int64_t kParked = 2;

WorkflowRow workflow_row(const postgres::Result& rows, int row) {
    WorkflowRow workflow;
    workflow.name = rows.text(row, 0);
    workflow.version = static_cast<int>(rows.integer(row, 1));
    workflow.checksum = rows.text(row, 2);
    workflow.created_at = rows.time(row, 3);
    return workflow;
}

/// Appends the instances in `found`; a row that cannot be understood is left out here, and load()
/// says what is wrong with it.
void append_instances(const postgres::Result& found, std::vector<InstanceRow>& rows) {
    for (int row = 0; row < found.rows(); ++row) {
        try {
            rows.push_back(postgres::instance_row(found, row));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::CorruptState) throw;
        }
    }
}

/// The first five arguments of all list statements. `workflows` lives as long as they do.
Arguments list_arguments(const InstanceQuery& query, const Array& workflows) {
    InstanceId last;
    last.bytes.fill(0xff);
    Arguments arguments =
        Arguments::of(query.before.value_or(last), query.from.value_or(InstanceId{}));
    if (workflows.size() == 0) {
        arguments.add_null();
    } else {
        arguments.add(workflows);
    }
    if (query.version) {
        arguments.add(std::int32_t{*query.version});
    } else {
        arguments.add_null();
    }
    arguments.add(std::int64_t{query.limit});
    return arguments;
}

/// The list statements of one order.
struct ListStatements {
    std::string_view all;
    std::string_view completed;
    std::string_view by_status;
    std::string_view by_key;
};

constexpr ListStatements kNewestFirst{
    .all = sql::list_instances,
    .completed = sql::list_completed_instances,
    .by_status = sql::list_instances_by_status,
    .by_key = sql::list_instances_by_key,
};
constexpr ListStatements kOldestFirst{
    .all = sql::list_instances_oldest_first,
    .completed = sql::list_completed_instances_oldest_first,
    .by_status = sql::list_instances_by_status_oldest_first,
    .by_key = sql::list_instances_by_key_oldest_first,
};

}  // namespace

std::optional<WorkflowRow> PostgresStore::find_workflow(
    std::string_view name, std::optional<int> version
) {
    const postgres::Result rows =
        version ? read(sql::find_workflow, Arguments::of(name, std::int32_t{*version}))
                : read(sql::find_newest_workflow, Arguments::of(name));
    if (rows.is_empty()) return std::nullopt;
    WorkflowRow row = workflow_row(rows, 0);
    row.definition = rows.text(0, 4);
    return row;
}

std::vector<WorkflowRow> PostgresStore::list_workflows() {
    const postgres::Result rows = read(sql::list_workflows, {});
    std::vector<WorkflowRow> workflows;
    for (int row = 0; row < rows.rows(); ++row) workflows.push_back(workflow_row(rows, row));
    return workflows;
}

std::optional<InstanceRow> PostgresStore::load(const InstanceId& id) {
    const postgres::Result rows = read(sql::load_instance, Arguments::of(id));
    if (rows.is_empty()) return std::nullopt;
    return postgres::instance_row(rows, 0);
}

std::optional<InstanceId> PostgresStore::find_key(std::string_view workflow, std::string_view key) {
    const postgres::Result rows = read(sql::find_key, Arguments::of(workflow, key));
    if (rows.is_empty()) return std::nullopt;
    return rows.id(0, 0);
}

std::vector<HistoryEvent> PostgresStore::history(const HistoryQuery& query) {
    return read_history(query, [this](std::string_view statement, const Arguments& arguments) {
        return read(statement, arguments);
    });
}

std::vector<HistoryEvent> PostgresStore::read_history(const HistoryQuery& query, const Read& read) {
    Array types(Array::Of::Text);
    for (const HistoryType type : query.types) types.add(to_string(type));
    Arguments arguments = Arguments::of(
        query.instance,
        std::int64_t{query.after},
        std::int64_t{query.before == 0 ? std::numeric_limits<Seq>::max() : query.before}
    );
    if (query.types.empty()) {
        arguments.add_null();
    } else {
        arguments.add(types);
    }
    arguments.add(OrNull(query.node));
    arguments.add(std::int64_t{std::max(query.limit, 0)});
    const bool is_forward = query.order == HistoryQuery::Order::Forward;
    const postgres::Result rows =
        read(is_forward ? sql::history_forward : sql::history_backward, arguments);
    std::vector<HistoryEvent> events;
    for (int row = 0; row < rows.rows(); ++row) {
        events.push_back(postgres::history_event(rows, row, query.instance));
    }
    return events;
}

std::vector<HistoryEvent> PostgresStore::events(
    const InstanceId& id, const std::vector<Seq>& seqs
) {
    return read_events(id, seqs, [this](std::string_view statement, const Arguments& arguments) {
        return read(statement, arguments);
    });
}

std::vector<HistoryEvent> PostgresStore::read_events(
    const InstanceId& id, const std::vector<Seq>& seqs, const Read& read
) {
    Array wanted(Array::Of::Bigint);
    for (const Seq seq : seqs) wanted.add(std::int64_t{seq});
    const postgres::Result rows = read(sql::events_of_instance, Arguments::of(id, wanted));
    std::vector<HistoryEvent> events;
    for (int row = 0; row < rows.rows(); ++row) {
        events.push_back(postgres::history_event(rows, row, id));
    }
    return events;
}

std::vector<TaskRow> PostgresStore::tasks(const InstanceId& id) {
    const postgres::Result rows = read(sql::tasks_of_instance, Arguments::of(id));
    std::vector<TaskRow> tasks;
    for (int row = 0; row < rows.rows(); ++row) {
        TaskRow task;
        task.task = {id, rows.integer(row, 0)};
        task.handler = rows.text(row, 1);
        task.queue = rows.text(row, 2);
        task.due = rows.time(row, 3);
        task.is_parked = rows.integer(row, 4) == kParked;
        task.is_stop = rows.boolean(row, 5);
        task.was_lost = rows.boolean(row, 6);
        task.lease_owner = rows.text(row, 7);
        task.concurrency_key = rows.text(row, 8);
        task.has_slot = rows.boolean(row, 9) && !task.lease_owner.empty();
        tasks.push_back(std::move(task));
    }
    return tasks;
}

std::vector<InstanceRow> PostgresStore::list(const InstanceQuery& query) {
    std::vector<InstanceRow> rows;
    if (query.limit <= 0) return rows;
    const bool is_oldest_first = query.order == InstanceOrder::OldestFirst;
    const ListStatements& statements = is_oldest_first ? kOldestFirst : kNewestFirst;
    const std::set<InstanceStatus> statuses(query.statuses.begin(), query.statuses.end());
    const Array workflows = postgres::texts_of(split_names(query.asked_workflow()));
    Arguments arguments = list_arguments(query, workflows);
    if (!query.key.empty()) {
        arguments.add(query.key);
        append_instances(read(statements.by_key, arguments), rows);
        std::erase_if(rows, [&](const InstanceRow& row) {
            return !statuses.empty() && !statuses.contains(row.status);
        });
        return rows;
    }
    if (statuses.empty()) {
        append_instances(read(statements.all, arguments), rows);
        return rows;
    }
    for (const InstanceStatus status : statuses) {
        if (status == InstanceStatus::Completed) {
            append_instances(read(statements.completed, arguments), rows);
            continue;
        }
        Arguments with_status = list_arguments(query, workflows);
        with_status.add(to_string(status));
        append_instances(read(statements.by_status, with_status), rows);
    }
    std::sort(rows.begin(), rows.end(), [&](const InstanceRow& a, const InstanceRow& b) {
        return is_oldest_first ? a.id < b.id : a.id > b.id;
    });
    if (std::ssize(rows) > query.limit) rows.resize(static_cast<std::size_t>(query.limit));
    return rows;
}

std::vector<StatusCount> PostgresStore::count() {
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    const postgres::Result rows = read(sql::count_instances, {});
    for (int row = 0; row < rows.rows(); ++row) {
        if (const auto status = parse_status(rows.text(row, 1))) {
            counts[{std::string(rows.text(row, 0)), *status}] = rows.integer(row, 2);
        }
    }
    std::vector<StatusCount> result;
    for (const auto& [key, count] : counts) result.push_back({key.first, key.second, count});
    return result;
}

std::vector<VersionCount> PostgresStore::count_versions() {
    std::map<std::tuple<std::string, int, InstanceStatus>, std::int64_t> counts;
    const postgres::Result rows = read(sql::count_versions, {});
    for (int row = 0; row < rows.rows(); ++row) {
        if (const auto status = parse_status(rows.text(row, 2))) {
            const int version = static_cast<int>(rows.integer(row, 1));
            counts[{std::string(rows.text(row, 0)), version, *status}] = rows.integer(row, 3);
        }
    }
    std::vector<VersionCount> result;
    for (const auto& [key, count] : counts) {
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count});
    }
    return result;
}

}  // namespace ebb
