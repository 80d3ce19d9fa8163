#include <algorithm>
#include <map>
#include <set>

#include "ebb/postgres/sql.h"
#include "store/agreement.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"

// The verbs about queues with limits.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;
using postgres::OrNull;

namespace {

/// How many due tasks one call wakes; the next call wakes the next.
constexpr std::int64_t kWakeMax = 1'000;
/// How many keys a claim visits, besides those whose slots are all in use.
constexpr std::int64_t kKeysMax = 256;
/// How many tasks a claim looks at in the order of their rank, whatever their keys.
constexpr std::int64_t kWindow = 512;

constexpr int kQueueColumn = 28;  // of claim_limited
constexpr int kLastKeyColumn = 29;

std::optional<int> optional_integer(const postgres::Result& rows, int row, int column) {
    if (rows.is_null(row, column)) return std::nullopt;
    return static_cast<int>(rows.integer(row, column));
}

/// The first columns of list_queues.
QueueRow queue_row(const postgres::Result& rows, int row) {
    QueueRow queue;
    queue.name = rows.text(row, 0);
    queue.updated_at = rows.time(row, 1);
    queue.limits.concurrency = optional_integer(rows, row, 2);
    queue.limits.concurrency_per_key = optional_integer(rows, row, 3);
    if (const auto starts = optional_integer(rows, row, 4)) {
        queue.limits.rate = {*starts, Duration(rows.integer(row, 5))};
    }
    return queue;
}

}  // namespace

RateUse PostgresStore::rate_use(const QueueRow& queue) {
    if (!queue.limits.rate) return {};
    const postgres::Result rows = read(sql::list_starts, Arguments::of(queue.name, given_time()));
    std::vector<Starts> starts;
    for (int row = 0; row < rows.rows(); ++row) {
        starts.push_back({rows.time(row, 0), rows.integer(row, 1)});
    }
    if (starts.empty()) return {};
    return use_of_rate(*queue.limits.rate, starts, rows.time(0, 2));
}

LimitedClaims PostgresStore::claim_limited(const ClaimRequest& request) {
    LimitedClaims result;
    if (request.limit <= 0 || request.queues.empty()) return result;
    Array handlers(Array::Of::Text);
    for (const std::string& handler : std::set(request.handlers.begin(), request.handlers.end())) {
        if (handler != kEngineHandler) handlers.add(handler);
    }
    const Array queues = postgres::texts_of(request.queues);
    const Arguments wake = Arguments::of(given_time(), kWakeMax, postgres::ClaimMarks::kLowest);
    const Arguments look = Arguments::of(handlers, queues, given_time(), request.instance);
    const std::vector<Call> calls{{sql::wake_tasks, wake}, {sql::limited_queues_with_work, look}};
    // A look that locks nothing: if nothing may start, no claim waits for another.
    const auto answers =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& rows = answers.at(1);
    std::vector<std::string> rooms;
    for (int row = 0; row < rows.rows(); ++row) {
        std::string name(rows.text(row, 0));
        bool has_room = rows.is_null(row, 1) || rows.integer(row, 1) > rows.integer(row, 4);
        if (!rows.is_null(row, 2)) {
            QueueRow queue{.name = name, .limits = {}};
            queue.limits.rate = {
                static_cast<int>(rows.integer(row, 2)), Duration(rows.integer(row, 3))
            };
            const RateUse rate = rate_use(queue);
            has_room = has_room && rate.next == TimePoint{};
            if (rate.next != TimePoint{}) {
                result.next_start = std::min(result.next_start, rate.next);
            }
        }
        if (has_room) rooms.push_back(std::move(name));
    }
    if (!rooms.empty()) result.claims = claim_in_rooms(request, rooms);
    return result;
}

std::vector<Claim> PostgresStore::claim_in_rooms(
    const ClaimRequest& request, const std::vector<std::string>& names
) {
    Array handlers(Array::Of::Text);
    for (const std::string& handler : std::set(request.handlers.begin(), request.handlers.end())) {
        if (handler != kEngineHandler) handlers.add(handler);
    }
    const Array queues = postgres::texts_of(names);
    Array last_keys(Array::Of::Text);
    {
        const Lock lock(rounds_mutex_);
        for (const std::string& name : names) last_keys.add(OrNull(last_keys_[name]));
    }
    const Arguments lock = Arguments::of(queues);
    const Arguments prune = Arguments::of(queues, given_time());
    const Arguments claim = Arguments::of(
        request.worker,
        handlers,
        queues,
        last_keys,
        std::int64_t{request.limit},
        given_time(),
        std::int64_t{kSlicesPerPeriod},
        kWindow,
        kKeysMax,
        request.instance
    );
    const std::vector<Call> calls{
        {sql::lock_queues, lock}, {sql::prune_starts, prune}, {sql::claim_limited, claim}
    };
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    const postgres::Result& rows = results.at(2);
    std::map<std::string, std::string> ends;
    std::map<TaskRef, std::string> slots;
    for (int row = 0; row < rows.rows(); ++row) {
        const std::string queue(rows.text(row, kQueueColumn));
        ends[queue] = rows.text(row, kLastKeyColumn);
        slots[{rows.id(row, 0), rows.integer(row, 11)}] = queue;
    }
    {
        const Lock rounds_lock(rounds_mutex_);
        // A look at one instance makes no round over the keys.
        if (!request.instance) {
            for (const std::string& name : names) last_keys_[name] = ends[name];
        }
    }
    std::vector<Claim> claims = claims_of(request.worker, rows);
    for (Claim& each : claims) each.slot = slots[each.task];
    return claims;
}

void PostgresStore::set_queue(const QueueRow& row) {
    const Arguments name = Arguments::of(row.name);
    const QueueLimits& limits = row.limits;
    std::vector<Call> calls;
    if (!limits.rate) calls.push_back({sql::clear_starts, name});
    Arguments arguments = Arguments::of(
        row.name,
        row.updated_at,
        limits.concurrency,
        limits.concurrency_per_key,
        limits.rate ? std::optional<std::int32_t>(limits.rate->starts) : std::nullopt,
        limits.rate ? std::optional<std::int64_t>(limits.rate->period.count()) : std::nullopt
    );
    if (limits.is_unlimited()) {
        calls.push_back({sql::clear_queue, name});
    } else {
        check_queue_count(read(sql::count_queues, name).integer(0, 0));
        calls.push_back({sql::set_queue, arguments});
    }
    perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
}

std::vector<QueueUse> PostgresStore::queues(const QueueQuery& query) {
    std::map<std::string, QueueUse> uses;
    if (query.counts_tasks) {
        const postgres::Result rows = read(sql::tasks_by_queue, Arguments::of(given_time()));
        for (int row = 0; row < rows.rows(); ++row) {
            QueueView& view = uses[std::string(rows.text(row, 0))].view;
            view.running = rows.integer(row, 1);
            view.waiting = rows.integer(row, 2);
            view.sleeping = rows.integer(row, 3);
            view.slots = rows.integer(row, 4);
        }
    }
    const postgres::Result rows =
        read(sql::list_queues, Arguments::of(OrNull(query.name), query.concurrency_key));
    for (int row = 0; row < rows.rows(); ++row) {
        const QueueRow queue = queue_row(rows, row);
        QueueUse& use = uses[queue.name];
        use.view.limits = queue.limits;
        use.view.updated_at = queue.updated_at;
        use.view.slots = rows.integer(row, 6);
        use.key_slots = rows.integer(row, 7);
        const RateUse rate = rate_use(queue);
        use.view.starts = rate.starts;
        use.view.next_start = rate.next;
    }
    std::vector<QueueUse> found;
    for (auto& [name, use] : uses) {
        if (!query.name.empty() && query.name != name) continue;
        use.view.name = name;
        found.push_back(std::move(use));
    }
    return found;
}

}  // namespace ebb
