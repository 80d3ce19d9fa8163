#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "ebb/sqlite/sql.h"
#include "store/names.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about the rows beside the instances.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::OrNull;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

/// Greater than every id.
constexpr std::string_view kBehindAllIds = "~";

OrNull deadline_of(TimePoint deadline) {
    return OrNull(deadline == kNever ? TimePoint{} : deadline);
}

InstanceStatus status_of(const Query& query, int column) {
    return parse_status(query.text(column)).value_or(InstanceStatus::Running);
}

WaitRow wait_row(const Query& found) {
    WaitRow row;
    row.instance = sqlite::parse_id(found.text(0), "waits");
    row.token = found.integer(1);
    row.version = static_cast<int>(found.integer(2));
    row.key = found.text(3);
    row.status = status_of(found, 4);
    Wait& wait = row.wait;
    if (found.text(5) == to_string(Wait::Kind::Signal)) wait.kind = Wait::Kind::Signal;
    wait.workflow = found.text(6);
    wait.node = found.text(7);
    wait.signal = found.text(8);
    wait.visit = found.integer(9);
    wait.since = found.time(10);
    if (!found.is_null(11)) wait.deadline = found.time(11);
    wait.quorum = static_cast<int>(found.integer(12));
    wait.confirmed = static_cast<int>(found.integer(13));
    wait.roles = nlohmann::json::parse(found.text(14)).get<std::vector<std::string>>();
    std::sort(wait.roles.begin(), wait.roles.end());
    return row;
}

FailedInstance failure_row(const Query& found) {
    FailedInstance row;
    row.instance = sqlite::parse_id(found.text(0), "failures");
    row.key = found.text(1);
    row.note.workflow = found.text(2);
    row.note.version = static_cast<int>(found.integer(3));
    row.note.status = status_of(found, 4);
    row.note.step = found.text(5);
    row.note.code = found.text(6);
    row.note.group = found.text(7);
    row.note.message = found.text(8);
    row.note.event = found.integer(9);
    row.note.at = found.time(10);
    return row;
}

/// Empty = any.
std::string_view status_name(const std::vector<InstanceStatus>& statuses) {
    const auto status = only_status(statuses);
    return status ? to_string(*status) : std::string_view();
}

std::vector<FailedInstance> failures_of(Database& database, const FailureQuery& query) {
    const TimePoint before = query.after ? query.after->at : TimePoint::max();
    const std::string id =
        query.after ? query.after->instance.to_string() : std::string(kBehindAllIds);
    const OrNull status(status_name(query.statuses));
    std::vector<FailedInstance> rows;
    Query found(database, sql::list_failures, query.group, before, id, status, query.limit);
    while (found.step()) rows.push_back(failure_row(found));
    return rows;
}

/// None: it has no failure of that status or workflow.
std::optional<FailureGroup> read_group(
    Database& database, const std::string& name, const FailureGroupQuery& query
) {
    const auto newest =
        failures_of(database, {.group = name, .statuses = query.statuses, .limit = 1});
    if (newest.empty()) return std::nullopt;
    FailureGroup group;
    group.newest = newest.front().note;
    if (!passes_names(query.workflow, group.newest.workflow)) return std::nullopt;
    std::set<int> versions;
    const OrNull status(status_name(query.statuses));
    Query found(database, sql::failures_of_group, name, status, FailureGroup::kCountMax + 1);
    while (found.step()) {
        if (group.count == FailureGroup::kCountMax) {
            group.is_counted = false;
            break;
        }
        group.count += 1;
        if (status_of(found, 2) == InstanceStatus::DeadLetter) group.dead_letter += 1;
        group.first_at = found.time(3);
        versions.insert(static_cast<int>(found.integer(1)));
        if (group.samples.size() < FailureGroup::kSamplesMax) {
            group.samples.push_back(sqlite::parse_id(found.text(0), "failures"));
        }
    }
    group.versions.assign(versions.begin(), versions.end());
    return group;
}

void put_wait(
    Database& database, std::string_view instance, const WaitChange& change, std::string_view role
) {
    const Wait& wait = change.wait;
    Query(
        database,
        sql::put_wait,
        instance,
        change.token,
        role,
        to_string(wait.kind),
        wait.workflow,
        wait.node,
        OrNull(wait.signal),
        wait.visit,
        wait.since,
        deadline_of(wait.deadline),
        wait.quorum,
        wait.confirmed
    )
        .run();
}

void put_label(
    Database& database, std::string_view instance, std::string_view name, const LabelValue& value
) {
    const LabelType type = value.type();
    std::optional<std::string_view> text;
    std::optional<double> number;
    std::optional<std::int64_t> time;
    if (type == LabelType::Text) text = value.text();
    if (type == LabelType::Number) number = value.number();
    if (type == LabelType::Bool) number = value.boolean() ? 1 : 0;
    if (type == LabelType::Time) time = value.time().time_since_epoch().count();
    Query(database, sql::put_label, instance, name, to_string(type), text, number, time).run();
}

std::vector<std::string> ids_of_page(Database& database, const InstanceId& after, int limit) {
    const std::string from = after.to_string();
    std::vector<std::string> ids;
    Query found(database, sql::side_row_page, from, limit);
    while (found.step()) ids.emplace_back(found.text(0));
    return ids;
}

}  // namespace

void SqliteStore::apply(Database& database, std::string_view instance, const Effects& effects) {
    for (const WaitChange& change : effects.waits) {
        const Visit visit = change.is_over ? 0 : change.wait.visit;
        Query(database, sql::end_waits, instance, change.token, visit).run();
        if (change.is_over) continue;
        if (change.wait.roles.empty()) put_wait(database, instance, change, "");
        for (const std::string& role : change.wait.roles) {
            put_wait(database, instance, change, role);
        }
    }
    for (const FailureChange& change : effects.failures) {
        const FailureNote& note = change.note;
        if (change.is_over) {
            Query(database, sql::remove_failure, instance).run();
            continue;
        }
        Query(
            database,
            sql::put_failure,
            instance,
            note.workflow,
            note.version,
            to_string(note.status),
            OrNull(note.step),
            note.code,
            note.group,
            note.message,
            note.event,
            note.at
        )
            .run();
    }
    add_notices(database, instance, effects.notices);
    for (const auto& [name, value] : effects.labels) put_label(database, instance, name, value);
}

std::vector<WaitRow> SqliteStore::list_waits(const WaitQuery& waits) {
    const DecisionQuery& query = waits.which;
    check_query(query);
    const std::string_view kind = to_string(waits.kind);
    const TimePoint since = query.after ? query.after->since : TimePoint::min();
    const std::string id = query.after ? query.after->instance.to_string() : std::string();
    const TokenId token = query.after ? query.after->token : 0;
    // Nothing stands for all workflows.
    const std::string names =
        query.workflow.empty() ? "" : sqlite::names_to_json(split_names(query.workflow));
    const OrNull workflow(names);
    const OrNull deadline = deadline_of(query.deadline_before);
    std::map<WaitPlace, WaitRow> places;
    const auto collect = [&](Query& found) {
        while (found.step()) {
            WaitRow row = wait_row(found);
            const WaitPlace place{row.wait.since, row.instance, row.token};
            places.emplace(place, std::move(row));
        }
    };
    read([&](Database& database) {
        if (!query.roles) {
            Query all(
                database, sql::list_waits, kind, since, id, token, workflow, deadline, query.limit
            );
            collect(all);
            return true;
        }
        std::set<std::string> roles(query.roles->begin(), query.roles->end());
        roles.emplace();  // what anyone may decide
        for (const std::string& role : roles) {
            Query some(
                database,
                sql::list_waits_of_role,
                kind,
                since,
                id,
                token,
                workflow,
                deadline,
                query.limit,
                role
            );
            collect(some);
        }
        return true;
    });
    std::vector<WaitRow> rows;
    for (auto& [place, row] : places) {
        if (std::ssize(rows) == query.limit) break;
        rows.push_back(std::move(row));
    }
    return rows;
}

FailureGroups SqliteStore::failure_groups(const FailureGroupQuery& query) {
    check_query(query);
    return read([&](Database& database) {
        FailureGroups result;
        std::string name;
        for (int seen = 0;; ++seen) {
            {
                Query next(database, sql::next_failure_group, name);
                if (!next.step()) return result;
                name = std::string(next.text(0));
            }
            if (seen == query.limit) {
                result.is_complete = false;
                return result;
            }
            if (auto group = read_group(database, name, query)) {
                result.groups.push_back(std::move(*group));
            }
        }
    });
}

std::vector<FailedInstance> SqliteStore::list_failures(const FailureQuery& query) {
    check_query(query);
    return read([&](Database& database) { return failures_of(database, query); });
}

SideRowPage SqliteStore::check_side_rows(const InstanceId& after, int limit) {
    SideRowPage page;
    read([&](Database& database) {
        const std::vector<std::string> ids = ids_of_page(database, after, limit);
        page.is_end = std::ssize(ids) < limit;
        if (!page.is_end) page.last = sqlite::parse_id(ids.back(), "instances");
        for (const std::string& id : ids) {
            Query found(database, sql::side_row_suspect, id);
            if (!found.step()) continue;
            page.suspects.push_back(
                {.instance = sqlite::parse_id(id, "instances"),
                 .workflow = std::string(found.text(0)),
                 .version = static_cast<int>(found.integer(1)),
                 .state = std::string(found.text(2)),
                 .rows = std::string(found.text(3))}
            );
        }
        return true;
    });
    if (!page.is_end) return page;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query(writer_, sql::remove_stale_waits, limit).run();
    Query(writer_, sql::remove_stale_failures, limit).run();
    transaction.commit();
    return page;
}

void SqliteStore::put_side_rows(std::span<const SideRowRepair> repairs) {
    if (repairs.empty()) return;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const SideRowRepair& repair : repairs) {
        const std::string id = repair.instance.to_string();
        if (!Query(writer_, sql::has_revision, id, repair.revision).step()) continue;
        Query(writer_, sql::remove_waits, id).run();
        Query(writer_, sql::remove_failure, id).run();
        apply(writer_, id, repair.effects);
    }
    transaction.commit();
}

std::optional<SweepTurn> SqliteStore::take_repair(Duration hold) {
    const TimePoint now = clock_.now();
    const auto find = [&](Database& database) -> std::optional<SweepTurn> {
        Query query(database, sql::due_repair, now);
        if (!query.step()) return std::nullopt;
        return SweepTurn{query.integer(0), sqlite::parse_id(query.text(1), "repairs")};
    };
    // Most have nothing to do, and need no write lock to find that out.
    if (!read(find)) return std::nullopt;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    std::optional<SweepTurn> turn = find(writer_);
    if (!turn) return std::nullopt;
    Query(writer_, sql::take_repair, turn->number, now + hold).run();
    transaction.commit();
    turn->number += 1;
    return turn;
}

bool SqliteStore::put_repair(const SweepTurn& turn, Duration pause) {
    const std::string reached = turn.after.to_string();
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query query(writer_, sql::put_repair, turn.number, reached, clock_.now() + pause);
    const bool is_ours = query.run() > 0;
    transaction.commit();
    return is_ours;
}

}  // namespace ebb
