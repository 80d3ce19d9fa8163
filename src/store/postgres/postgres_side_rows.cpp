#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>

#include "ebb/postgres/sql.h"
#include "store/names.h"
#include "store/postgres/effect_columns.h"
#include "store/postgres/postgres_store.h"

// The verbs about the rows beside the instances.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;
using postgres::OrNull;
using postgres::Result;

namespace {

InstanceId last_id() {
    InstanceId id;
    id.bytes.fill(0xff);
    return id;
}

InstanceStatus status_of(const Result& rows, int row, int column) {
    return parse_status(rows.text(row, column)).value_or(InstanceStatus::Running);
}

WaitRow wait_row(const Result& rows, int row) {
    WaitRow found;
    found.instance = rows.id(row, 0);
    found.token = rows.integer(row, 1);
    found.version = static_cast<int>(rows.integer(row, 2));
    found.key = rows.text(row, 3);
    found.status = status_of(rows, row, 4);
    Wait& wait = found.wait;
    if (rows.text(row, 5) == to_string(Wait::Kind::Signal)) wait.kind = Wait::Kind::Signal;
    wait.workflow = rows.text(row, 6);
    wait.node = rows.text(row, 7);
    wait.signal = rows.text(row, 8);
    wait.visit = rows.integer(row, 9);
    wait.since = rows.time(row, 10);
    if (!rows.is_null(row, 11)) wait.deadline = rows.time(row, 11);
    wait.quorum = static_cast<int>(rows.integer(row, 12));
    wait.confirmed = static_cast<int>(rows.integer(row, 13));
    wait.roles = rows.texts(row, 14);
    return found;
}

FailedInstance failure_row(const Result& rows, int row) {
    FailedInstance found;
    found.instance = rows.id(row, 0);
    found.key = rows.text(row, 1);
    found.note.workflow = rows.text(row, 2);
    found.note.version = static_cast<int>(rows.integer(row, 3));
    found.note.status = status_of(rows, row, 4);
    found.note.step = rows.text(row, 5);
    found.note.code = rows.text(row, 6);
    found.note.group = rows.text(row, 7);
    found.note.message = rows.text(row, 8);
    found.note.event = rows.integer(row, 9);
    found.note.at = rows.time(row, 10);
    return found;
}

int number_of(const std::string& text) {
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

FailureGroup failure_group_of(const Result& rows, int row) {
    FailureGroup group;
    FailureNote& newest = group.newest;
    newest.group = rows.text(row, 0);
    newest.workflow = rows.text(row, 1);
    newest.version = static_cast<int>(rows.integer(row, 2));
    newest.status = status_of(rows, row, 3);
    newest.step = rows.text(row, 4);
    newest.code = rows.text(row, 5);
    newest.message = rows.text(row, 6);
    newest.event = rows.integer(row, 7);
    newest.at = rows.time(row, 8);
    const std::int64_t count = rows.integer(row, 9);
    group.count = std::min(count, FailureGroup::kCountMax);
    group.is_counted = count <= FailureGroup::kCountMax;
    group.dead_letter = rows.integer(row, 10);
    group.first_at = rows.time(row, 11);
    for (const std::string& text : rows.texts(row, 12)) group.versions.push_back(number_of(text));
    std::sort(group.versions.begin(), group.versions.end());
    for (const std::string& text : rows.texts(row, 13)) {
        if (const auto id = InstanceId::parse(text)) group.samples.push_back(*id);
    }
    return group;
}

/// NULL stands for all workflows.
void add_workflows(Arguments& arguments, const Array& workflows) {
    if (workflows.size() == 0) {
        arguments.add_null();
    } else {
        arguments.add(workflows);
    }
}

void add_status(Arguments& arguments, const std::vector<InstanceStatus>& statuses) {
    const auto status = only_status(statuses);
    arguments.add(OrNull(status ? to_string(*status) : std::string_view()));
}

}  // namespace

std::vector<WaitRow> PostgresStore::list_waits(const WaitQuery& waits) {
    const DecisionQuery& query = waits.which;
    check_query(query);
    const WaitPlace after = query.after.value_or(WaitPlace{.since = TimePoint::min()});
    Arguments arguments = Arguments::of(
        to_string(waits.kind), after.since, after.instance, std::int64_t{after.token}
    );
    const Array workflows = postgres::texts_of(split_names(query.workflow));
    add_workflows(arguments, workflows);
    arguments.add(OrNull(query.deadline_before == kNever ? TimePoint{} : query.deadline_before));
    arguments.add(std::int64_t{query.limit});
    Array roles(Array::Of::Text);
    if (query.roles) {
        std::set<std::string> names(query.roles->begin(), query.roles->end());
        names.emplace();  // what anyone may decide
        for (const std::string& name : names) roles.add(name);
        arguments.add(roles);
    }
    const Result found = read(query.roles ? sql::list_waits_of_roles : sql::list_waits, arguments);
    std::map<WaitPlace, WaitRow> places;
    for (int row = 0; row < found.rows(); ++row) {
        WaitRow wait = wait_row(found, row);
        const WaitPlace place{wait.wait.since, wait.instance, wait.token};
        places.emplace(place, std::move(wait));
    }
    std::vector<WaitRow> rows;
    for (auto& [place, row] : places) {
        if (std::ssize(rows) == query.limit) break;
        rows.push_back(std::move(row));
    }
    return rows;
}

FailureGroups PostgresStore::failure_groups(const FailureGroupQuery& query) {
    check_query(query);
    Arguments arguments = Arguments::of(std::int64_t{query.limit});
    const Array workflows = postgres::texts_of(split_names(query.workflow));
    add_workflows(arguments, workflows);
    add_status(arguments, query.statuses);
    arguments.add(FailureGroup::kCountMax);
    arguments.add(static_cast<std::int64_t>(FailureGroup::kSamplesMax));
    const Result rows = read(sql::failure_groups, arguments);
    FailureGroups result;
    result.is_complete = rows.rows() <= query.limit;
    for (int row = 0; row < std::min(rows.rows(), query.limit); ++row) {
        // Null: none of its failures is asked for.
        if (!rows.is_null(row, 1)) result.groups.push_back(failure_group_of(rows, row));
    }
    return result;
}

std::vector<FailedInstance> PostgresStore::list_failures(const FailureQuery& query) {
    check_query(query);
    const FailurePlace after =
        query.after.value_or(FailurePlace{.at = TimePoint::max(), .instance = last_id()});
    Arguments arguments = Arguments::of(query.group, after.at, after.instance);
    add_status(arguments, query.statuses);
    arguments.add(std::int64_t{query.limit});
    const Result rows = read(sql::list_failures, arguments);
    std::vector<FailedInstance> failures;
    for (int row = 0; row < rows.rows(); ++row) failures.push_back(failure_row(rows, row));
    return failures;
}

SideRowPage PostgresStore::check_side_rows(const InstanceId& after, int limit) {
    const Result rows = read(sql::check_side_rows, Arguments::of(after, std::int64_t{limit}));
    SideRowPage page;
    for (int row = 0; row < rows.rows(); ++row) {
        if (!rows.is_null(row, 5)) {
            page.is_end = rows.integer(row, 5) < limit;
            if (!page.is_end) page.last = rows.id(row, 0);
            continue;
        }
        page.suspects.push_back(
            {.instance = rows.id(row, 0),
             .workflow = std::string(rows.text(row, 1)),
             .version = static_cast<int>(rows.integer(row, 2)),
             .state = std::string(rows.text(row, 3)),
             .rows = std::string(rows.text(row, 4))}
        );
    }
    if (!page.is_end) return page;
    const Arguments bound = Arguments::of(std::int64_t{limit});
    const std::vector<Call> calls{
        {sql::remove_stale_waits, bound}, {sql::remove_stale_failures, bound}
    };
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    return page;
}

void PostgresStore::put_side_rows(std::span<const SideRowRepair> repairs) {
    if (repairs.empty()) return;
    // In order, so that two that write the same instances do not wait for each other.
    std::map<InstanceId, const SideRowRepair*> sorted;
    for (const SideRowRepair& repair : repairs) sorted.emplace(repair.instance, &repair);
    postgres::EffectColumns columns;
    for (const auto& [id, repair] : sorted) columns.add_all(*repair);
    Array ids(Array::Of::Uuid);
    for (const auto& [id, repair] : sorted) ids.add(id);
    const Arguments lock = Arguments::of(ids);
    std::vector<Call> calls{{sql::lock_instances, lock}};
    columns.append_to(calls);
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
}

std::optional<SweepTurn> PostgresStore::take_repair(Duration hold) {
    const Result rows =
        read(sql::take_repair, Arguments::of(given_time(), std::int64_t{hold.count()}));
    if (rows.is_empty()) return std::nullopt;
    return SweepTurn{rows.integer(0, 0), rows.id(0, 1)};
}

bool PostgresStore::put_repair(const SweepTurn& turn, Duration pause) {
    const Arguments arguments =
        Arguments::of(given_time(), turn.number, turn.after, std::int64_t{pause.count()});
    return !read(sql::put_repair, arguments).is_empty();
}

}  // namespace ebb
