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
using postgres::Connection;

namespace {

/// How many due tasks one call wakes; the next call wakes the next.
constexpr std::int64_t kWakeMax = 1'000;
/// A claim looks at so many more than it takes, because others may be taking the first ones.
constexpr std::int64_t kSpareCandidates = 64;

/// What a claim may take: handlers in any queue, and handlers in the queues that were asked for.
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
            }
        }
    }

    Array anywhere{Array::Of::Text};
    Array placed_handlers{Array::Of::Text};
    Array placed_queues{Array::Of::Text};
};

constexpr int kInputColumn = 16;

Claim claim_of(const postgres::Result& rows, int row) {
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

}  // namespace

std::vector<Claim> PostgresStore::claim(const ClaimRequest& request) {
    std::vector<Claim> claims;
    if (request.limit <= 0) return claims;
    const Wanted wanted(request);
    const std::int64_t limit = request.limit;
    const Arguments wake = Arguments::of(now(), kWakeMax);
    Arguments claim = Arguments::of(request.worker);
    std::string_view statement = sql::claim_stops;
    if (request.stops_only && !request.instance) {
        claim.add(limit);
    } else {
        claim.add(wanted.anywhere);
        claim.add(wanted.placed_handlers);
        claim.add(wanted.placed_queues);
        claim.add(limit);
        statement = sql::claim_tasks;
        if (request.instance) {
            claim.add(request.stops_only);
            claim.add(*request.instance);
            statement = sql::claim_tasks_of_instance;
        } else {
            claim.add(limit + kSpareCandidates);
        }
    }
    const std::vector<Call> calls{{sql::wake_tasks, wake}, {statement, claim}};
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& rows = results.at(1);
    claims.reserve(static_cast<std::size_t>(rows.rows()));
    for (int row = 0; row < rows.rows(); ++row) {
        try {
            claims.push_back(claim_of(rows, row));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::CorruptState) throw;
            park_broken({rows.id(row, 0), rows.integer(row, 11)});
        }
    }
    return claims;
}

void PostgresStore::park_broken(const TaskRef& task) {
    read(sql::park_broken_task, Arguments::of(task.instance, task.token));
}

void PostgresStore::release(std::string_view worker, std::span<const TaskRef> tasks) {
    if (tasks.empty()) return;
    Array instances(Array::Of::Uuid);
    Array tokens(Array::Of::Bigint);
    for (const TaskRef& task : tasks) {
        instances.add(task.instance);
        tokens.add(task.token);
    }
    read(sql::release_tasks, Arguments::of(worker, instances, tokens));
}

}  // namespace ebb
