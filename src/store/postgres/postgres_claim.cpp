#include <algorithm>
#include <set>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"

// The verbs that lease tasks and give them back.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::ClaimMarks;
using postgres::Connection;

namespace {

/// How many due tasks one call wakes; the next call wakes the next.
constexpr std::int64_t kWakeMax = 1'000;
/// A claim looks at so many more than it takes, because others may be taking the first ones.
constexpr std::int64_t kSpareCandidates = 64;

/// Sleepers that become due are found this much before the last ones: others may write them late,
/// by clocks that go differently.
constexpr std::int64_t kDueMargin = 5'000'000;

/// What a claim may take: handlers in any queue, and handlers in the queues that were asked for,
/// there from a rank on.
struct Wanted {
    explicit Wanted(const ClaimRequest& request) {
        anywhere.add(kEngineHandler);
        const std::set<std::string_view> handlers(request.handlers.begin(), request.handlers.end());
        const std::set<std::string_view> queues(request.queues.begin(), request.queues.end());
        for (const std::string_view handler : handlers) {
            if (handler == kEngineHandler) continue;
            if (queues.empty()) anywhere.add(handler);
            for (const std::string_view queue : queues) {
                placed_handlers.add(handler);
                placed_queues.add(queue);
                ranks.add(ClaimMarks::kLowest);
            }
        }
    }

    explicit Wanted(std::span<const ClaimMarks::Place> places) {
        for (const ClaimMarks::Place& place : places) {
            placed_handlers.add(place.handler);
            placed_queues.add(place.queue);
            ranks.add(place.rank);
        }
    }

    Array anywhere{Array::Of::Text};
    Array placed_handlers{Array::Of::Text};
    Array placed_queues{Array::Of::Text};
    Array ranks{Array::Of::Bigint};
};

constexpr std::int64_t kHeadStart = kHeadStartPerPriority.count();

/// Outcomes as the columns of hand_tasks_in.
struct HandedInColumns {
    explicit HandedInColumns(std::span<const HandedIn> handed_in) {
        for (const HandedIn& one : handed_in) {
            ids.push_back(one.instance);
            instances.add(one.instance);
            tokens.add(one.attempt.token);
            visits.add(one.attempt.visit);
            attempts.add(one.attempt.attempt);
            pauses.add(one.attempt.pauses);
            outcomes.add(one.outcome);
        }
    }

    std::vector<InstanceId> ids;
    Array instances{Array::Of::Uuid};
    Array tokens{Array::Of::Bigint};
    Array visits{Array::Of::Bigint};
    Array attempts{Array::Of::Integer};
    Array pauses{Array::Of::Integer};
    Array outcomes{Array::Of::Text};
};

constexpr int kInputColumn = 16;
constexpr int kOutcomeColumn = 28;
constexpr int kQueueColumn = 29;  // of claim_tasks only
constexpr int kRankColumn = 30;

}  // namespace

namespace postgres {

Claim claim_of(const Result& rows, int row) {
    Claim claim;
    claim.instance = postgres::instance_row(rows, row);
    claim.task = {claim.instance.id, rows.integer(row, 11)};
    claim.handler = rows.text(row, 12);
    claim.is_stop = rows.boolean(row, 13);
    claim.was_lost = rows.boolean(row, 14);
    claim.lost_by = rows.text(row, 15);
    if (!rows.is_null(row, kInputColumn)) {
        claim.input = postgres::history_event(rows, row, claim.instance.id, kInputColumn);
    }
    return claim;
}

}  // namespace postgres

namespace {

/// What wake_tasks, claim_tasks and perhaps claim_places tell about where there is something.
ClaimMarks::Findings findings_of(
    const ClaimMarks::Look& look, const std::vector<postgres::Result>& results
) {
    ClaimMarks::Findings findings;
    if (look.is_full && !look.asks_for_places) return findings;
    const postgres::Result& woken = results.at(0);
    const bool has_woken_all = woken.integer(0, 0) < kWakeMax;
    if (has_woken_all) findings.due_from = woken.integer(0, 1) - kDueMargin;
    const postgres::Result& claimed = results.at(1);
    for (int row = 0; row < claimed.rows(); ++row) {
        findings.claimed.push_back(
            {std::string(claimed.text(row, 12)),
             std::string(claimed.text(row, kQueueColumn)),
             claimed.integer(row, kRankColumn)}
        );
    }
    if (!look.asks_for_places) return findings;
    const postgres::Result& left = results.at(2);
    for (int row = 0; row < left.rows(); ++row) {
        findings.left.push_back(
            {std::string(left.text(row, 0)), std::string(left.text(row, 1)), left.integer(row, 2)}
        );
    }
    return findings;
}

}  // namespace

std::vector<Claim> PostgresStore::claim(const ClaimRequest& request) {
    if (request.limit <= 0) return {};
    if (request.instance) return claim_of_instance(request);
    if (request.stops_only) return claim_stops(request);
    using Reason = postgres::FullLooks::Reason;
    bool is_told = request.is_told;
    for (Reason reason = Reason::Usual;; reason = is_told ? Reason::Told : Reason::FoundNothing) {
        const TimePoint begun = system_clock_.now();
        const ClaimMarks::Look look = claim_marks_.begin(request, begun, reason);
        // The second time only a full look can find more.
        const bool is_last = look.is_full || reason != Reason::Usual;
        bool has_woken = false;
        std::vector<Claim> claims = claim_from(request, look, begun, has_woken);
        if (!claims.empty() || is_last) return claims;
        is_told |= has_woken;
    }
}

std::vector<Claim> PostgresStore::claim_of_instance(const ClaimRequest& request) {
    const Wanted wanted(request);
    const Array limited = postgres::texts_of(request.limited_queues);
    const Arguments wake = Arguments::of(given_time(), kWakeMax, ClaimMarks::kLowest);
    const Arguments claim = Arguments::of(
        request.worker,
        wanted.anywhere,
        wanted.placed_handlers,
        wanted.placed_queues,
        std::int64_t{request.limit},
        request.stops_only,
        *request.instance,
        limited,
        request.bytes_max
    );
    const std::vector<Call> calls{{sql::wake_tasks, wake}, {sql::claim_tasks_of_instance, claim}};
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    return claims_with_outcomes(request.worker, results.at(1));
}

std::vector<Claim> PostgresStore::claim_stops(const ClaimRequest& request) {
    const std::int64_t limit = request.limit;
    const Arguments arguments =
        Arguments::of(request.worker, limit, request.bytes_max, limit + kSpareCandidates);
    return claims_with_outcomes(request.worker, read(sql::claim_stops, arguments));
}

std::vector<Claim> PostgresStore::claim_from(
    const ClaimRequest& request, const ClaimMarks::Look& look, TimePoint begun, bool& has_woken
) {
    const Wanted wanted = look.is_full ? Wanted(request) : Wanted(look.places);
    const Array limited = postgres::texts_of(request.limited_queues);
    const std::int64_t limit = request.limit;
    const Arguments wake = Arguments::of(given_time(), kWakeMax, look.due_from);
    const Arguments claim = Arguments::of(
        request.worker,
        wanted.anywhere,
        wanted.placed_handlers,
        wanted.placed_queues,
        limit,
        limit + kSpareCandidates,
        wanted.ranks,
        limited,
        request.bytes_max
    );
    const Arguments places =
        Arguments::of(wanted.anywhere, wanted.placed_handlers, wanted.placed_queues);
    std::vector<Call> calls{{sql::wake_tasks, wake}, {sql::claim_tasks, claim}};
    if (look.asks_for_places) calls.push_back({sql::claim_places, places});
    // No handler is called for what the engine itself decides. If the server loses such a lease in
    // a crash, the row is claimed again, and a decision that was made in the meantime is refused.
    const Arguments none;
    if (request.handlers.empty()) calls.push_back({sql::commit_without_flush, none});
    try {
        const auto results =
            perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
        has_woken = results.at(0).integer(0, 0) > 0;
        ClaimMarks::Findings findings = findings_of(look, results);
        findings.begun = begun;
        findings.ended = system_clock_.now();
        std::vector<Claim> claims = claims_with_outcomes(request.worker, results.at(1));
        claim_marks_.end(request, look, findings);
        return claims;
    } catch (...) {
        claim_marks_.give_up();
        throw;
    }
}

std::vector<Claim> PostgresStore::claims_of(std::string_view worker, const postgres::Result& rows) {
    std::vector<Claim> claims;
    claims.reserve(static_cast<std::size_t>(rows.rows()));
    std::vector<InstanceId> leased;
    for (int row = 0; row < rows.rows(); ++row) {
        try {
            claims.push_back(postgres::claim_of(rows, row));
            leased.push_back(claims.back().task.instance);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::CorruptState) throw;
            park_broken({rows.id(row, 0), rows.integer(row, 11)});
        }
    }
    lease_marks_.note_leased(worker, leased);
    dead_tasks_.note_claimed(rows.rows());
    return claims;
}

std::vector<Claim> PostgresStore::claims_with_outcomes(
    std::string_view worker, const postgres::Result& rows
) {
    std::vector<Claim> claims = claims_of(worker, rows);
    std::size_t next = 0;
    for (int row = 0; row < rows.rows() && next < claims.size(); ++row) {
        // A broken row has no claim.
        const TaskRef task{rows.id(row, 0), rows.integer(row, 11)};
        if (claims[next].task != task) continue;
        claims[next++].outcome = rows.text(row, kOutcomeColumn);
    }
    read_mail(claims);
    return claims;
}

std::vector<HandInResult> PostgresStore::hand_in(
    const WorkerProcess& worker, std::span<const HandedIn> outcomes
) {
    std::vector<HandInResult> results(outcomes.size(), HandInResult::Stale);
    if (outcomes.empty()) return results;
    const HandedInColumns columns(outcomes);
    const Arguments unfold = Arguments::of(columns.instances, kHeadStart);
    const Arguments lock = Arguments::of(worker.id, columns.instances);
    const Arguments take = Arguments::of(
        worker.id,
        columns.instances,
        columns.tokens,
        columns.visits,
        columns.attempts,
        columns.pauses,
        columns.outcomes,
        given_time(),
        kHeadStart,
        worker.started_at
    );
    const std::vector<Call> calls{
        {sql::unfold_tasks, unfold}, {sql::lock_tasks_to_hand_in, lock}, {sql::hand_tasks_in, take}
    };
    const auto answers =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& taken = answers.at(2);
    for (int row = 0; row < taken.rows(); ++row) {
        const auto number = static_cast<std::size_t>(taken.integer(row, 0));
        results.at(number - 1) = HandInResult::Taken;
    }
    folded_tasks_.forget(columns.ids);
    claim_marks_.forget();
    return results;
}

void PostgresStore::park_broken(const TaskRef& task) {
    read(sql::park_broken_task, Arguments::of(task.instance, task.token));
}

void PostgresStore::release(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    hand_back(sql::release_tasks, worker, tasks);
}

void PostgresStore::abandon(const WorkerProcess& worker, std::span<const TaskRef> tasks) {
    hand_back(sql::abandon_tasks, worker, tasks);
}

void PostgresStore::postpone(const WorkerProcess& worker, const TaskRef& task, TimePoint due) {
    const Arguments arguments =
        Arguments::of(task.instance, task.token, worker.id, due, worker.started_at);
    free_rows({sql::postpone_task, arguments}, {&task, 1});
}

void PostgresStore::hand_back(
    std::string_view statement, const WorkerProcess& worker, std::span<const TaskRef> tasks
) {
    if (tasks.empty()) return;
    Array instances(Array::Of::Uuid);
    Array tokens(Array::Of::Bigint);
    for (const TaskRef& task : tasks) {
        instances.add(task.instance);
        tokens.add(task.token);
    }
    const Arguments arguments = Arguments::of(worker.id, instances, tokens, worker.started_at);
    free_rows({statement, arguments}, tasks);
}

void PostgresStore::free_rows(const Call& call, std::span<const TaskRef> tasks) {
    Array instances(Array::Of::Uuid);
    std::vector<InstanceId> ids;
    for (const TaskRef& task : tasks) {
        instances.add(task.instance);
        ids.push_back(task.instance);
    }
    const Arguments unfold = Arguments::of(instances, kHeadStart);
    const std::vector<Call> calls{{sql::unfold_tasks, unfold}, call};
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    folded_tasks_.forget(ids);
    // Their ranks are not known here.
    claim_marks_.forget();
}

}  // namespace ebb
