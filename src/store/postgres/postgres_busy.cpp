#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sql_error.h"

// Batches in which one commit cannot be written for now, and commits whose answer was lost.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;

namespace {

Array ids_of(std::span<const Commit> commits) {
    Array ids(Array::Of::Uuid);
    for (const Commit& commit : commits) ids.add(commit.instance);
    return ids;
}

std::string or_unknown(std::string_view text) {
    return text.empty() ? "unknown" : std::string(text);
}

/// From a row of locked_instances.
std::string holder_of(const postgres::Result& rows, int row) {
    if (rows.is_null(row, 1)) return "another session";
    return fmt::format(
        "session {} (program {}, user {}, {} for {} s)",
        rows.integer(row, 1),
        or_unknown(rows.text(row, 2)),
        or_unknown(rows.text(row, 3)),
        or_unknown(rows.text(row, 4)),
        rows.integer(row, 5)
    );
}

}  // namespace

std::vector<bool> PostgresStore::find_locked(std::span<const Commit> commits) {
    const postgres::Result rows = read(sql::locked_instances, Arguments::of(ids_of(commits)));
    std::unordered_map<InstanceId, int> locked;
    for (int row = 0; row < rows.rows(); ++row) locked.emplace(rows.id(row, 0), row);
    std::vector<bool> answers;
    for (const Commit& commit : commits) {
        const auto found = locked.find(commit.instance);
        answers.push_back(found != locked.end());
        if (found == locked.end()) continue;
        const std::string pid =
            rows.is_null(found->second, 1) ? "PID" : std::to_string(rows.integer(found->second, 1));
        notices_.add(
            "commit_blocked",
            commit.instance.to_string(),
            fmt::format(
                "Instance {} cannot be written: {} has locked its "
                "row. Other instances continue. End "
                "that transaction, or the session: SELECT "
                "pg_terminate_backend({}).",
                commit.instance.to_string(),
                holder_of(rows, found->second),
                pid
            )
        );
    }
    return answers;
}

void PostgresStore::note_busy(const Commit& commit, const std::exception& error) {
    notices_.add(
        "commit_busy",
        commit.instance.to_string(),
        fmt::format(
            "Instance {} cannot be written for now; other instances continue. {}",
            commit.instance.to_string(),
            error.what()
        )
    );
}

std::vector<CommitResult> PostgresStore::commit_apart(
    std::span<const Commit> commits, const postgres::SqlError& error
) {
    std::vector<CommitResult> results(commits.size(), CommitResult::Busy);
    if (error.is_lock_timeout()) {
        const std::vector<bool> locked = find_locked(commits);
        // Otherwise no row is the cause: a table is locked, or the lock has just been released.
        // Writing the commits one by one would not help.
        if (std::none_of(locked.begin(), locked.end(), [](bool is) { return is; })) throw error;
        std::vector<Commit> rest;
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < commits.size(); ++place) {
            if (locked[place]) continue;
            rest.push_back(commits[place]);
            places.push_back(place);
        }
        const std::vector<CommitResult> written = commit_part(rest);
        for (std::size_t i = 0; i < places.size(); ++i) results[places[i]] = written[i];
        return results;
    }
    if (commits.size() == 1) {
        note_busy(commits.front(), error);
        return results;
    }
    const std::size_t half = commits.size() / 2;
    const std::vector<CommitResult> low = commit_part(commits.first(half));
    const std::vector<CommitResult> high = commit_part(commits.subspan(half));
    std::copy(low.begin(), low.end(), results.begin());
    std::copy(high.begin(), high.end(), results.begin() + static_cast<std::ptrdiff_t>(half));
    return results;
}

/// Another part may already be written, so no commit may fail in a way that says otherwise.
std::vector<CommitResult> PostgresStore::commit_part(std::span<const Commit> commits) {
    try {
        return commit(commits);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::StoreInDoubt) throw;
        for (const Commit& commit : commits) note_busy(commit, error);
        return std::vector<CommitResult>(commits.size(), CommitResult::Busy);
    }
}

std::vector<bool> PostgresStore::were_committed(std::span<const Commit> commits) {
    if (commits.empty()) return {};
    Array revisions(Array::Of::Bigint);
    Array states(Array::Of::Text);
    Array after(Array::Of::Bigint);
    Array before(Array::Of::Bigint);
    for (const Commit& commit : commits) {
        const bool has_events = !commit.history.empty();
        revisions.add(commit.expected_revision);
        states.add(commit.state);
        after.add(has_events ? commit.history.front().seq - 1 : 0);
        before.add(has_events ? commit.history.back().seq + 1 : 0);
    }
    const Array ids = ids_of(commits);
    const Arguments rows = Arguments::of(ids, revisions, states);
    const Arguments events = Arguments::of(ids, after, before);
    const std::vector<Call> calls{{sql::committed_rows, rows}, {sql::committed_events, events}};
    const auto answers =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    std::vector<std::vector<HistoryEvent>> found(commits.size());
    for (int row = 0; row < answers[1].rows(); ++row) {
        const auto place = static_cast<std::size_t>(answers[1].integer(row, 0)) - 1;
        found.at(place).push_back(
            postgres::history_event(answers[1], row, commits[place].instance, 1)
        );
    }
    std::vector<bool> results(commits.size(), false);
    for (int row = 0; row < answers[0].rows(); ++row) {
        const auto place = static_cast<std::size_t>(answers[0].integer(row, 0)) - 1;
        const Commit& commit = commits[place];
        // A state holds the positions of its events, not their contents. Other workers may have
        // reached the same state.
        results.at(place) = commit.history.empty() ? answers[0].boolean(row, 1)
                                                   : std::equal(
                                                         found[place].begin(),
                                                         found[place].end(),
                                                         commit.history.begin(),
                                                         commit.history.end()
                                                     );
    }
    return results;
}

std::vector<TaskRef> PostgresStore::leased_tasks(
    std::string_view worker, std::span<const InstanceId> instances
) {
    Array ids(Array::Of::Uuid);
    for (const InstanceId& id : instances) ids.add(id);
    const postgres::Result rows = read(sql::leased_tasks, Arguments::of(ids, worker));
    std::vector<TaskRef> leased;
    for (int row = 0; row < rows.rows(); ++row) {
        leased.push_back({rows.id(row, 0), rows.integer(row, 1)});
    }
    return leased;
}

}  // namespace ebb
