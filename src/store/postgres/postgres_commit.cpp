#include <algorithm>
#include <map>
#include <numeric>

#include "ebb/postgres/sql.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/write_commits.h"

// The verb that writes what was decided.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;
using postgres::OrNull;

namespace {

using Kind = TaskChange::Kind;

std::string_view name_of(Kind kind) {
    if (kind == Kind::Park) return "park";
    return kind == Kind::Stop ? "stop" : "unpark";
}

/// Places in a batch, by instance: neighbours are on the same pages, and processes that change the
/// same instances take them in the same order, so none waits for another in a circle.
std::vector<std::size_t> order_of(std::span<const Commit> commits) {
    std::vector<std::size_t> order(commits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return commits[left].instance < commits[right].instance;
    });
    return order;
}

/// A batch of commits as arrays, and the statements that write them.
class CommitColumns {
 public:
    CommitColumns(std::span<const Commit> commits, std::span<const std::size_t> order) {
        for (const std::size_t place : order) add(commits[place]);
    }

    CommitColumns(const CommitColumns&) = delete;
    CommitColumns& operator=(const CommitColumns&) = delete;

    /// Runs what is needed, in one transaction. The answer names the commits that were not written
    /// (from 1, in the given order) and whether their instance exists.
    postgres::Result run(Connection& connection, std::optional<TimePoint> now) const {
        const bool has_keys = key_.size() > 0;
        if (puts_.is_empty() && change_token_.size() == 0) {
            return connection.run(sql::commit_and_remove, with_removes(instances()));
        }
        if (remove_ord_.size() == 0 && change_token_.size() == 0 && !has_keys) {
            Arguments arguments = instances();
            puts_.append_to(arguments);
            arguments.add(now);
            arguments.add(std::int64_t{kHeadStartPerPriority.count()});
            return connection.run(sql::commit_and_put, arguments);
        }
        return run_mixed(connection, now);
    }

 private:
    void add(const Commit& commit);
    void add_tasks(const Commit& commit);
    Arguments instances() const;
    Arguments with_removes(Arguments arguments) const;
    postgres::Result run_mixed(Connection& connection, std::optional<TimePoint> now) const;

    std::int64_t count_ = 0;
    postgres::Words words_;
    Array id_{Array::Of::Uuid};
    Array revision_{Array::Of::Bigint};
    Array status_{Array::Of::Integer};
    Array state_{Array::Of::Text};
    Array now_{Array::Of::Bigint};
    Array finished_at_{Array::Of::Bigint};

    postgres::EventColumns events_;

    Array remove_ord_{Array::Of::Bigint};
    Array remove_token_{Array::Of::Bigint};

    postgres::TaskColumns puts_;

    Array key_id_{Array::Of::Uuid};
    Array key_token_{Array::Of::Bigint};
    Array key_{Array::Of::Text};
    Array key_revision_{Array::Of::Bigint};

    Array change_id_{Array::Of::Uuid};
    Array change_revision_{Array::Of::Bigint};
    Array change_token_{Array::Of::Bigint};
    Array change_kind_{Array::Of::Text};
};

void CommitColumns::add(const Commit& commit) {
    ++count_;
    id_.add(commit.instance);
    revision_.add(commit.expected_revision);
    status_.add(words_.number_of(to_string(commit.status)));
    state_.add(commit.state);
    now_.add(commit.now);
    if (is_terminal(commit.status)) {
        finished_at_.add(commit.now);
        remove_ord_.add(count_);
        remove_token_.add_null();  // all of them
    } else {
        finished_at_.add(TimePoint{});
        add_tasks(commit);
    }
    for (const HistoryEvent& event : commit.history) events_.add(count_, event, words_);
}

void CommitColumns::add_tasks(const Commit& commit) {
    for (const TaskChange& change : commit.tasks) {
        switch (change.kind) {
            case Kind::Put:
                puts_.add(
                    {.ord = count_,
                     .change = change,
                     .rank = rank_of(change.due, 0),
                     .now = commit.now,
                     .lease_owner = commit.lease_owner},
                    words_
                );
                if (!change.concurrency_key.empty()) {
                    key_id_.add(commit.instance);
                    key_token_.add(change.token);
                    key_.add(change.concurrency_key);
                    key_revision_.add(commit.expected_revision);
                }
                break;
            case Kind::Remove:
                remove_ord_.add(count_);
                remove_token_.add(change.token);
                break;
            case Kind::Park:
            case Kind::Unpark:
            case Kind::Stop:
                change_id_.add(commit.instance);
                change_revision_.add(commit.expected_revision);
                change_token_.add(change.token);
                change_kind_.add(name_of(change.kind));
                break;
        }
    }
}

Arguments CommitColumns::instances() const {
    Arguments arguments =
        Arguments::of(words_.array(), id_, revision_, status_, state_, now_, finished_at_);
    events_.append_to(arguments);
    return arguments;
}

Arguments CommitColumns::with_removes(Arguments arguments) const {
    arguments.add(remove_ord_);
    arguments.add(remove_token_);
    return arguments;
}

/// Tasks are put, changed and removed: one statement after another, none of which touches a table
/// twice, while the instances are locked.
postgres::Result CommitColumns::run_mixed(Connection& connection, std::optional<TimePoint> now)
    const {
    const std::int64_t head_start = kHeadStartPerPriority.count();
    const Arguments lock = Arguments::of(id_);
    const Arguments change =
        Arguments::of(change_id_, change_revision_, change_token_, change_kind_, now, head_start);
    Arguments put = Arguments::of(words_.array(), id_, revision_);
    puts_.append_to(put);
    put.add(now);
    put.add(head_start);
    const Arguments keys = Arguments::of(key_id_, key_token_, key_, key_revision_);
    const Arguments last = with_removes(instances());
    std::vector<Call> calls{{sql::lock_instances, lock}};
    if (!puts_.is_empty()) calls.push_back({sql::put_tasks, put});
    if (key_.size() > 0) calls.push_back({sql::key_tasks, keys});
    if (change_token_.size() > 0) calls.push_back({sql::change_tasks, change});
    calls.push_back({sql::commit_and_remove, last});
    return std::move(connection.run(calls).back());
}

/// The statement for one commit of the usual kind; empty for all others.
std::string_view single_statement(const Commit& commit) {
    if (is_terminal(commit.status)) {
        return commit.history.size() == 2 ? sql::commit_end : std::string_view();
    }
    const bool is_step = commit.history.size() == 1 && commit.tasks.empty();
    return is_step ? sql::commit_step : std::string_view();
}

postgres::Result run_single(
    Connection& connection, std::string_view statement, const Commit& commit
) {
    Arguments arguments = Arguments::of(
        commit.instance,
        commit.expected_revision,
        to_string(commit.status),
        commit.state,
        commit.now
    );
    for (const HistoryEvent& event : commit.history) postgres::add_event(arguments, event);
    return connection.run(statement, arguments);
}

postgres::Result run_all(
    Connection& connection,
    std::span<const Commit> commits,
    std::span<const std::size_t> order,
    std::optional<TimePoint> now
) {
    const std::string_view single =
        commits.size() == 1 ? single_statement(commits.front()) : std::string_view();
    if (!single.empty()) return run_single(connection, single, commits.front());
    return CommitColumns(commits, order).run(connection, now);
}

}  // namespace

namespace postgres {

Result write_commits(
    Connection& connection, std::span<const Commit> commits, std::optional<TimePoint> now
) {
    return CommitColumns(commits, order_of(commits)).run(connection, now);
}

}  // namespace postgres

void PostgresStore::note_committed(std::span<const Commit> commits) {
    std::map<std::string_view, std::vector<InstanceId>> leased;
    for (const Commit& commit : commits) {
        if (is_terminal(commit.status)) continue;
        for (const TaskChange& change : commit.tasks) {
            const bool is_put = change.kind == Kind::Put;
            if (is_put && change.is_continued && !commit.lease_owner.empty()) {
                leased[commit.lease_owner].push_back(commit.instance);
            } else if (is_put) {
                // Its priority may put it before that, where a full look finds it.
                claim_marks_.note_put(change.handler, change.queue, rank_of(change.due, 0));
            } else if (change.kind != Kind::Remove && claim_marks_.wants_puts()) {
                claim_marks_.forget();
            }
        }
    }
    for (const auto& [worker, ids] : leased) lease_marks_.note_leased(worker, ids);
}

std::vector<CommitResult> PostgresStore::commit(std::span<const Commit> commits) {
    if (commits.empty()) return {};
    std::vector<CommitResult> results(commits.size(), CommitResult::Committed);
    const std::vector<std::size_t> order = order_of(commits);
    const postgres::Result failed = perform(Repeat::IsInDoubt, [&](Connection& connection) {
        return run_all(connection, commits, order, now());
    });
    note_committed(commits);
    for (int row = 0; row < failed.rows(); ++row) {
        const auto ord = static_cast<std::size_t>(failed.integer(row, 0));
        results.at(order.at(ord - 1)) =
            failed.boolean(row, 1) ? CommitResult::Conflict : CommitResult::NotFound;
    }
    return results;
}

}  // namespace ebb
