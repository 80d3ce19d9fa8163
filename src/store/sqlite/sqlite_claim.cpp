#include <algorithm>
#include <limits>
#include <set>

#include <ebb/error.h>

#include "ebb/sqlite/sql.h"
#include "store/agreement.h"
#include "store/sqlite/lease_task.h"
#include "store/sqlite/mail_rows.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs that lease tasks and give them back.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

struct Candidate {
    std::int64_t rank = 0;
    std::string instance;
    TokenId token = 0;

    auto operator<=>(const Candidate&) const = default;
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The best `limit` tasks of several index ranges.
class Selection {
 public:
    explicit Selection(int limit) : limit_(limit) {}

    void add_range(Database& database, std::string_view handler, std::string_view queue) {
        // Beyond the worst of enough candidates a range has nothing to offer.
        const std::int64_t bound =
            is_full() ? best_.rbegin()->rank : std::numeric_limits<std::int64_t>::max();
        Query query(database, sql::ready_tasks, handler, queue, bound, limit_);
        while (query.step()) add(query);
    }

    void add(const Query& query) {
        best_.insert({query.integer(0), std::string(query.text(1)), query.integer(2)});
        if (std::ssize(best_) > limit_) best_.erase(std::prev(best_.end()));
    }

    const std::set<Candidate>& best() const { return best_; }

 private:
    bool is_full() const { return std::ssize(best_) == limit_; }

    int limit_;
    std::set<Candidate> best_;
};

std::vector<std::string> queues_with_work(Database& database, std::string_view handler) {
    std::vector<std::string> queues;
    std::string from;
    while (true) {
        Query query(database, sql::next_ready_queue, handler, from);
        if (!query.step()) return queues;
        queues.emplace_back(query.text(0));
        from = queues.back() + '\0';  // the smallest text after it
    }
}

bool may_claim_of_instance(const ClaimRequest& request, const Query& task) {
    const std::string_view handler = task.text(3);
    const bool is_stop = task.integer(5) != 0;
    if (request.stops_only) return is_stop;
    if (handler == kEngineHandler) return true;
    return contains(request.handlers, handler) && !contains(request.limited_queues, task.text(4)) &&
           (request.queues.empty() || contains(request.queues, task.text(4)));
}

Selection select(Database& database, const ClaimRequest& request, int limit) {
    Selection selection(limit);
    if (request.instance) {
        const std::string id = request.instance->to_string();
        Query query(database, sql::ready_tasks_of_instance, id);
        while (query.step()) {
            if (may_claim_of_instance(request, query)) selection.add(query);
        }
        return selection;
    }
    if (request.stops_only) {
        Query query(database, sql::ready_stops, limit);
        while (query.step()) selection.add(query);
        return selection;
    }
    std::set<std::string_view> handlers(request.handlers.begin(), request.handlers.end());
    handlers.insert(kEngineHandler);
    for (const std::string_view handler : handlers) {
        const bool is_any_queue = request.queues.empty() || handler == kEngineHandler;
        const std::vector<std::string> found =
            is_any_queue ? queues_with_work(database, handler) : std::vector<std::string>();
        const std::vector<std::string>& queues = is_any_queue ? found : request.queues;
        for (const std::string& queue : queues) {
            const bool is_limited =
                handler != kEngineHandler && contains(request.limited_queues, queue);
            if (!is_limited) selection.add_range(database, handler, queue);
        }
    }
    return selection;
}

constexpr int kInputColumn = 15;
constexpr int kOutcomeColumn = 27;

}  // namespace

namespace sqlite {

std::optional<Claim> lease_task(
    Database& database, std::string_view instance, TokenId token, std::string_view worker
) {
    try {
        Query row(database, sql::claimed_task, instance, token);
        if (row.step()) {
            Claim claim;
            claim.instance = sqlite::instance_row(row);
            claim.task = {claim.instance.id, token};
            claim.handler = row.text(11);
            claim.is_stop = row.integer(12) != 0;
            claim.was_lost = row.integer(13) != 0;
            claim.lost_by = row.text(14);
            claim.outcome = row.text(kOutcomeColumn);
            if (!row.is_null(kInputColumn)) {
                claim.input = sqlite::history_event(row, claim.instance.id, kInputColumn);
            }
            if (token == kMailTask) read_mail(database, instance, claim);
            Query(database, sql::lease_task, instance, token, worker).run();
            return claim;
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
    }
    Query(database, sql::park_task, instance, token).run();
    return std::nullopt;
}

bool is_displaced(Database& database, const WorkerProcess& worker) {
    return Query(database, sql::has_another_process, worker.id, worker.started_at).step();
}

}  // namespace sqlite

std::vector<Claim> SqliteStore::claim(const ClaimRequest& request) {
    std::vector<Claim> claims;
    if (request.limit <= 0 || !has_work_for(request)) return claims;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    Query(writer_, sql::wake_tasks, clock_.now()).run();
    const Selection selection = select(writer_, request, request.limit);
    claims.reserve(selection.best().size());
    std::int64_t bytes = 0;
    for (const Candidate& candidate : selection.best()) {
        if (bytes >= request.bytes_max) break;
        const std::string& instance = candidate.instance;
        auto claim = sqlite::lease_task(writer_, instance, candidate.token, request.worker);
        if (claim) {
            bytes += claim->bytes();
            claims.push_back(*std::move(claim));
        }
    }
    transaction.commit();
    return claims;
}

/// Looks without the write lock, so an idle worker writes nothing and disturbs no other process.
bool SqliteStore::has_work_for(const ClaimRequest& request) {
    return read([&](Database& database) {
        Query sleeper(database, sql::has_task_to_wake, clock_.now());
        if (sleeper.step() && sleeper.integer(0) != 0) return true;
        return !select(database, request, 1).best().empty();
    });
}

std::vector<HandInResult> SqliteStore::hand_in(
    const WorkerProcess& worker, std::span<const HandedIn> outcomes
) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    std::vector<HandInResult> results(outcomes.size(), HandInResult::Stale);
    if (sqlite::is_displaced(writer_, worker)) return results;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (take_outcome(worker.id, outcomes[i])) results[i] = HandInResult::Taken;
    }
    transaction.commit();
    return results;
}

bool SqliteStore::take_outcome(std::string_view worker, const HandedIn& outcome) {
    const std::string id = outcome.instance.to_string();
    const TokenId token = outcome.attempt.token;
    Query row(writer_, sql::task_to_hand_in, id, token, worker, outcome.outcome);
    if (!row.step() || !is_at_attempt(row.text(0), outcome.attempt)) return false;
    const bool is_repeated = row.integer(1) != 0;
    if (is_repeated) return true;
    const TimePoint now = clock_.now();
    const std::int64_t rank = rank_of(now, static_cast<int>(row.integer(2)));
    Query(writer_, sql::hand_task_in, id, token, outcome.outcome, now, rank).run();
    return true;
}

void SqliteStore::release(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    hand_back(sql::release_task, worker, tasks);
}

void SqliteStore::abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    hand_back(sql::abandon_task, worker, tasks);
}

void SqliteStore::postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    if (sqlite::is_displaced(writer_, worker)) return;
    const std::string id = task.instance.to_string();
    Query(writer_, sql::postpone_task, id, task.token, worker.id, due).run();
    transaction.commit();
}

void SqliteStore::hand_back(
    std::string_view statement, const WorkerProcess& worker, std::span<const TaskRef> tasks
) {
    if (tasks.empty()) return;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    if (sqlite::is_displaced(writer_, worker)) return;
    for (const TaskRef& task : tasks) {
        const std::string id = task.instance.to_string();
        Query(writer_, statement, id, task.token, worker.id).run();
    }
    transaction.commit();
}

}  // namespace ebb
