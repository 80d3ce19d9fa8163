#include <algorithm>
#include <map>
#include <numeric>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/effect_columns.h"
#include "store/postgres/mail_columns.h"
#include "store/postgres/memories/folded_tasks.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sql_error.h"
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
using postgres::Fold;

constexpr std::int64_t kHeadStart = kHeadStartPerPriority.count();

std::string_view name_of(Kind kind) {
    if (kind == Kind::Park) return "park";
    return kind == Kind::Stop ? "stop" : "unpark";
}

/// Places in a batch, by instance: neighbors are on the same pages, and processes that change the
/// same instances take them in the same order, so none waits for another in a circle.
std::vector<std::size_t> order_of(std::span<const Commit> commits) {
    std::vector<std::size_t> order(commits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        return commits[left].instance < commits[right].instance;
    });
    return order;
}

/// Commits, and what is known of the folded tasks of their instances; nothing: they are unfolded.
struct Batch {
    std::span<const Commit> commits;
    std::span<const Fold> folds;

    Fold fold_of(std::size_t place) const { return folds.empty() ? Fold::Unfold : folds[place]; }
};

/// As the statements know it.
std::int32_t number_of(Fold fold) {
    return fold == Fold::Unfold ? 0 : static_cast<std::int32_t>(fold);
}

/// A batch of commits as arrays, and the statements that write them.
class CommitColumns {
 public:
    CommitColumns(const Batch& batch, std::span<const std::size_t> order) {
        for (const std::size_t place : order) add(batch.commits[place], batch.fold_of(place));
    }

    CommitColumns(const CommitColumns&) = delete;
    CommitColumns& operator=(const CommitColumns&) = delete;

    /// Runs what is needed, in one transaction. The answer is that of commit_and_remove.
    postgres::Result run(Connection& connection, std::optional<TimePoint> now) {
        const bool is_mixed = unfold_id_.size() > 0 || version_id_.size() > 0 ||
                              !effects_.is_empty() || !mail_.is_empty();
        if (is_mixed) return run_mixed(connection, now);
        if (puts_.is_empty()) {
            return connection.run(sql::commit_and_remove, with_removes(instances()));
        }
        if (remove_ord_.size() == 0 && key_.size() == 0) {
            Arguments arguments = instances();
            puts_.append_to(arguments);
            arguments.add(now);
            arguments.add(kHeadStart);
            arguments.add(fold_);
            return connection.run(sql::commit_and_put, arguments);
        }
        return run_mixed(connection, now);
    }

 private:
    void add(const Commit& commit, Fold fold);
    void add_tasks(const Commit& commit, Fold fold);
    Arguments instances() const;
    Arguments with_removes(Arguments arguments) const;
    postgres::Result run_mixed(Connection& connection, std::optional<TimePoint> now);

    std::int64_t count_ = 0;
    postgres::Words words_;
    Array id_{Array::Of::Uuid};
    Array revision_{Array::Of::Bigint};
    Array status_{Array::Of::Integer};
    Array state_{Array::Of::Text};
    Array now_{Array::Of::Bigint};
    Array finished_at_{Array::Of::Bigint};
    Array fold_{Array::Of::Integer};
    Array unfold_id_{Array::Of::Uuid};

    postgres::EventColumns events_;

    Array remove_ord_{Array::Of::Bigint};
    Array remove_token_{Array::Of::Bigint};

    postgres::TaskColumns puts_;

    Array key_id_{Array::Of::Uuid};
    Array key_token_{Array::Of::Bigint};
    Array key_{Array::Of::Text};
    Array key_revision_{Array::Of::Bigint};
    Array key_fold_{Array::Of::Integer};

    postgres::EffectColumns effects_;
    postgres::MailColumns mail_;

    Array version_id_{Array::Of::Uuid};
    Array version_revision_{Array::Of::Bigint};
    Array version_{Array::Of::Integer};
    Array version_fold_{Array::Of::Integer};

    Array change_id_{Array::Of::Uuid};
    Array change_revision_{Array::Of::Bigint};
    Array change_token_{Array::Of::Bigint};
    Array change_kind_{Array::Of::Text};
};

void CommitColumns::add(const Commit& commit, Fold fold) {
    ++count_;
    id_.add(commit.instance);
    revision_.add(commit.expected_revision);
    status_.add(words_.number_of(to_string(commit.status)));
    state_.add(commit.state);
    now_.add(commit.now);
    fold_.add(number_of(fold));
    if (fold == Fold::Unfold) unfold_id_.add(commit.instance);
    if (is_terminal(commit.status)) {
        finished_at_.add(commit.now);
        if (fold != Fold::Ends) {
            remove_ord_.add(count_);
            remove_token_.add_null();  // all of them
        }
    } else {
        finished_at_.add(TimePoint{});
        add_tasks(commit, fold);
    }
    for (const HistoryEvent& event : commit.history) events_.add(count_, event, words_);
    if (commit.version != 0) {
        version_id_.add(commit.instance);
        version_revision_.add(commit.expected_revision);
        version_.add(std::int32_t{commit.version});
        version_fold_.add(number_of(fold));
    }
    mail_.add(commit, number_of(fold));
    if (commit.effects == nullptr) return;
    effects_.add(commit.instance, commit.expected_revision, number_of(fold), *commit.effects);
}

void CommitColumns::add_tasks(const Commit& commit, Fold fold) {
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
                    key_fold_.add(number_of(fold));
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
    Arguments arguments = Arguments::of(words_.array(), id_, revision_, status_, state_, now_);
    arguments.add_sparse(finished_at_);
    events_.append_to(arguments);
    return arguments;
}

Arguments CommitColumns::with_removes(Arguments arguments) const {
    arguments.add(remove_ord_);
    arguments.add(remove_token_);
    arguments.add(fold_);
    return arguments;
}

/// Tasks are put, changed and removed, and side rows written: one statement after another, none of
/// which touches a table twice, while the instances are locked.
postgres::Result CommitColumns::run_mixed(Connection& connection, std::optional<TimePoint> now) {
    const Arguments lock = Arguments::of(id_);
    const Arguments unfold = Arguments::of(unfold_id_, kHeadStart);
    const Arguments change =
        Arguments::of(change_id_, change_revision_, change_token_, change_kind_, now, kHeadStart);
    Arguments put = Arguments::of(words_.array(), id_, revision_);
    puts_.append_to(put);
    put.add(now);
    put.add(kHeadStart);
    put.add(fold_);
    const Arguments keys = Arguments::of(key_id_, key_token_, key_, key_revision_, key_fold_);
    const Arguments versions =
        Arguments::of(version_id_, version_revision_, version_, version_fold_);
    const Arguments last = with_removes(instances());
    std::vector<Call> calls{{sql::lock_instances, lock}};
    if (unfold_id_.size() > 0) calls.push_back({sql::unfold_tasks, unfold});
    if (!puts_.is_empty()) calls.push_back({sql::put_tasks, put});
    if (key_.size() > 0) calls.push_back({sql::key_tasks, keys});
    if (change_token_.size() > 0) calls.push_back({sql::change_tasks, change});
    effects_.append_to(calls);
    mail_.append_to(calls, now);
    if (version_id_.size() > 0) calls.push_back({sql::set_versions, versions});
    calls.push_back({sql::commit_and_remove, last});
    return std::move(connection.run(calls).back());
}

/// The statement for one commit of the usual kind; empty for all others.
std::string_view single_statement(const Commit& commit) {
    if (commit.effects != nullptr || commit.version != 0 || !commit.received.empty()) return {};
    if (is_terminal(commit.status)) {
        return commit.history.size() == 2 ? sql::commit_end : std::string_view();
    }
    const bool is_step = commit.history.size() == 1 && commit.tasks.empty();
    return is_step ? sql::commit_step : std::string_view();
}

postgres::Result run_single(
    Connection& connection, std::string_view statement, const Commit& commit, Fold fold
) {
    Arguments arguments = Arguments::of(
        commit.instance,
        commit.expected_revision,
        to_string(commit.status),
        commit.state,
        commit.now
    );
    for (const HistoryEvent& event : commit.history) postgres::add_event(arguments, event);
    arguments.add(fold != Fold::None);
    return connection.run(statement, arguments);
}

postgres::Result run_all(
    Connection& connection,
    const Batch& batch,
    std::span<const std::size_t> order,
    std::optional<TimePoint> now
) {
    const Commit& first = batch.commits.front();
    const bool is_single = order.size() == 1 && batch.fold_of(0) != Fold::Unfold;
    const std::string_view single = is_single ? single_statement(first) : std::string_view();
    if (!single.empty()) return run_single(connection, single, first, batch.fold_of(0));
    return CommitColumns(batch, order).run(connection, now);
}

struct Failure {
    std::size_t place = 0;
    std::optional<std::int64_t> revision;  ///< none: there is no such instance
};

/// Whether it may be one instance that the server has refused for now, and not
/// the server itself.
bool may_concern_one(const postgres::SqlError& error) {
    return error.is_lost_race() || error.is_interrupted();
}

/// Of an answer of commit_and_remove.
std::vector<Failure> failures_of(
    const postgres::Result& failed, std::span<const std::size_t> order
) {
    std::vector<Failure> failures;
    for (int row = 0; row < failed.rows(); ++row) {
        const auto ord = static_cast<std::size_t>(failed.integer(row, 0));
        if (ord < 1 || ord > order.size()) {
            throw Error(ErrorCode::Internal, "The store named a commit that was not given.");
        }
        std::optional<std::int64_t> revision;
        if (!failed.is_null(row, 1)) revision = failed.integer(row, 1);
        failures.push_back({order[ord - 1], revision});
    }
    return failures;
}

}  // namespace

namespace postgres {

Result write_commits(
    Connection& connection, std::span<const Commit> commits, std::optional<TimePoint> now
) {
    return CommitColumns({commits, {}}, order_of(commits)).run(connection, now);
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
    try {
        return commit_together(commits);
    } catch (const postgres::SqlError& error) {
        if (!may_concern_one(error)) throw;
        return commit_apart(commits, error);
    }
}

std::vector<CommitResult> PostgresStore::commit_together(std::span<const Commit> commits) {
    std::vector<CommitResult> results(commits.size(), CommitResult::Committed);
    const std::vector<std::size_t> order = order_of(commits);
    const std::vector<Fold> folds = folded_tasks_.folds_of(commits);
    const postgres::Result failed = perform(Repeat::IsInDoubt, [&](Connection& connection) {
        return run_all(connection, {commits, folds}, order, given_time());
    });
    note_committed(commits);
    folded_tasks_.forget_ended(commits, folds);
    std::vector<std::size_t> misjudged;
    for (const auto& [place, revision] : failures_of(failed, order)) {
        results[place] = revision ? CommitResult::Conflict : CommitResult::NotFound;
        if (revision == commits[place].expected_revision) misjudged.push_back(place);
    }
    if (!misjudged.empty()) commit_unfolded(commits, misjudged, results);
    return results;
}

/// When this fails, they stay conflicts: a worker that lost a race looks up the present state.
void PostgresStore::commit_unfolded(
    std::span<const Commit> commits,
    std::span<const std::size_t> places,
    std::vector<CommitResult>& results
) {
    std::vector<InstanceId> ids;
    for (const std::size_t place : places) ids.push_back(commits[place].instance);
    folded_tasks_.forget(ids);
    try {
        const postgres::Result failed = perform(Repeat::IsInDoubt, [&](Connection& connection) {
            return run_all(connection, {commits, {}}, places, given_time());
        });
        for (const std::size_t place : places) results[place] = CommitResult::Committed;
        for (const auto& [place, revision] : failures_of(failed, places)) {
            results[place] = revision ? CommitResult::Conflict : CommitResult::NotFound;
        }
    } catch (const Error& error) {
        if (!error.is_transient()) throw;
    }
}

}  // namespace ebb
