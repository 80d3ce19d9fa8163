#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ebb/sqlite/sql.h"
#include "store/agreement.h"
#include "store/sqlite/lease_task.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about queues with limits.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

/// How many keys a claim visits, besides those whose slots are all in use.
constexpr std::size_t kKeysMax = 256;
/// How many tasks a claim looks at in the order of their rank, whatever their keys.
constexpr int kWindow = 512;

std::optional<int> optional_integer(const Query& query, int column) {
    if (query.is_null(column)) return std::nullopt;
    return static_cast<int>(query.integer(column));
}

/// The columns of list_queues.
QueueRow queue_row(const Query& query) {
    QueueRow row;
    row.name = query.text(0);
    row.updated_at = query.time(1);
    row.limits.concurrency = optional_integer(query, 2);
    row.limits.concurrency_per_key = optional_integer(query, 3);
    if (!query.is_null(4)) {
        row.limits.rate = {static_cast<int>(query.integer(4)), Duration(query.integer(5))};
    }
    return row;
}

std::optional<QueueRow> find_queue(Database& database, const std::string& name) {
    Query query(database, sql::find_queue, name);
    if (!query.step()) return std::nullopt;
    return queue_row(query);
}

RateUse rate_use(Database& database, const QueueRow& queue, TimePoint now) {
    if (!queue.limits.rate) return {};
    std::vector<Starts> starts;
    Query query(database, sql::list_starts, queue.name);
    while (query.step()) starts.push_back({query.time(0), query.integer(1)});
    return use_of_rate(*queue.limits.rate, starts, now);
}

std::int64_t count_of(Database& database, std::string_view statement, const std::string& queue) {
    Query query(database, statement, queue);
    return query.step() ? query.integer(0) : 0;
}

/// A queue in which something may start now.
struct Room {
    QueueRow queue;
    std::int64_t tasks = 0;
};

std::int64_t room_of(Database& database, const QueueRow& queue, const RateUse& rate) {
    std::int64_t room = QueueLimits::kConcurrencyMax;
    if (queue.limits.concurrency) {
        const std::int64_t slots = count_of(database, sql::count_slots, queue.name);
        room = std::min(room, *queue.limits.concurrency - slots);
    }
    if (queue.limits.rate) room = std::min(room, queue.limits.rate->starts - rate.starts);
    return room;
}

bool has_ready_task(Database& database, const ClaimRequest& request, const std::string& queue) {
    return std::any_of(request.handlers.begin(), request.handlers.end(), [&](const auto& handler) {
        if (handler == kEngineHandler) return false;
        if (request.instance) {
            const std::string id = request.instance->to_string();
            return Query(database, sql::ready_tasks_of_instance_in, handler, queue, id).step();
        }
        Query query(database, sql::has_ready_task, handler, queue);
        return query.step() && query.integer(0) != 0;
    });
}

/// Notes in `next_start` which rates are in the way.
std::vector<Room> find_rooms(
    Database& database, const ClaimRequest& request, TimePoint now, TimePoint& next_start
) {
    std::vector<Room> rooms;
    for (const std::string& name : std::set(request.queues.begin(), request.queues.end())) {
        auto queue = find_queue(database, name);
        if (!queue || !has_ready_task(database, request, name)) continue;
        const RateUse rate = rate_use(database, *queue, now);
        if (rate.next != TimePoint{}) next_start = std::min(next_start, rate.next);
        const std::int64_t tasks = room_of(database, *queue, rate);
        if (tasks > 0) rooms.push_back({*std::move(queue), tasks});
    }
    return rooms;
}

struct Candidate {
    std::int64_t rank = 0;
    std::string instance;
    TokenId token = 0;
    std::string key;
    std::size_t room = 0;

    auto operator<=>(const Candidate&) const = default;
};

/// The best tasks of queues with limits, as far as there is room.
class LimitedSelection {
 public:
    LimitedSelection(Database& database, const ClaimRequest& request, std::vector<Room> rooms)
        : database_(database), request_(request), rooms_(std::move(rooms)) {}

    /// `last_keys`: where the last round over the keys of a queue ended, and then where this does.
    std::vector<Candidate> select(std::map<std::string, std::string>& last_keys) {
        std::set<std::string> handlers(request_.handlers.begin(), request_.handlers.end());
        handlers.erase(std::string(kEngineHandler));
        for (std::size_t room = 0; room < rooms_.size(); ++room) {
            const QueueRow& queue = rooms_[room].queue;
            if (queue.limits.concurrency_per_key) read_slots(queue.name);
            if (request_.instance) {
                for (const std::string& handler : handlers) add_of_instance(handler, room);
                continue;
            }
            const auto from = last_keys.find(queue.name);
            const std::string last = from == last_keys.end() ? std::string() : from->second;
            std::string next;
            for (const std::string& handler : handlers) {
                if (!queue.limits.concurrency_per_key) {
                    add_first(handler, room, limit_of(room));
                    continue;
                }
                add_first(handler, room, kWindow);
                std::string end = add_by_key(handler, room, {});
                if (!last.empty()) end = add_by_key(handler, room, last);
                if (next.empty() || (!end.empty() && end < next)) next = std::move(end);
            }
            last_keys[queue.name] = next;
        }
        return take();
    }

    const QueueRow& queue_of(const Candidate& candidate) const {
        return rooms_[candidate.room].queue;
    }

 private:
    using QueueAndKey = std::pair<std::string, std::string>;

    int limit_of(std::size_t room) const {
        return static_cast<int>(std::min<std::int64_t>(request_.limit, rooms_[room].tasks));
    }

    void read_slots(const std::string& queue) {
        Query query(database_, sql::slots_by_key, queue);
        while (query.step()) slots_[{queue, std::string(query.text(0))}] = query.integer(1);
    }

    std::int64_t free_of(std::size_t room, const std::string& key) const {
        const QueueRow& queue = rooms_[room].queue;
        const auto used = slots_.find({queue.name, key});
        return *queue.limits.concurrency_per_key - (used == slots_.end() ? 0 : used->second);
    }

    void add(Query& query, std::size_t room) {
        while (query.step()) {
            candidates_.insert(
                {query.integer(0),
                 std::string(query.text(1)),
                 query.integer(2),
                 std::string(query.text(3)),
                 room}
            );
        }
    }

    void add_first(const std::string& handler, std::size_t room, int limit) {
        Query query(database_, sql::first_ready_tasks, handler, rooms_[room].queue.name, limit);
        add(query, room);
    }

    void add_of_instance(const std::string& handler, std::size_t room) {
        const std::string id = request_.instance->to_string();
        const std::string& queue = rooms_[room].queue.name;
        Query query(database_, sql::ready_tasks_of_instance_in, handler, queue, id);
        add(query, room);
    }

    /// Returns the last key that was visited; empty: there are no more.
    std::string add_by_key(const std::string& handler, std::size_t room, std::string key) {
        const std::string& queue = rooms_[room].queue.name;
        const std::size_t visits_max = kKeysMax + slots_.size();
        for (std::size_t visits = 0; visits < visits_max; ++visits) {
            {
                Query next(database_, sql::next_waiting_key, handler, queue, key);
                if (!next.step()) return {};
                key = next.text(0);
            }
            const std::int64_t limit = std::min<std::int64_t>(limit_of(room), free_of(room, key));
            if (limit <= 0) continue;
            Query query(database_, sql::ready_tasks_of_key, handler, queue, key, limit);
            add(query, room);
        }
        return key;
    }

    std::vector<Candidate> take() {
        std::vector<Candidate> taken;
        for (const Candidate& candidate : candidates_) {
            if (std::ssize(taken) >= request_.limit) break;
            Room& room = rooms_[candidate.room];
            if (room.tasks <= 0) continue;
            if (room.queue.limits.concurrency_per_key && !candidate.key.empty()) {
                if (free_of(candidate.room, candidate.key) <= 0) continue;
                ++slots_[{room.queue.name, candidate.key}];
            }
            --room.tasks;
            taken.push_back(candidate);
        }
        return taken;
    }

    Database& database_;
    const ClaimRequest& request_;
    std::vector<Room> rooms_;
    std::map<QueueAndKey, std::int64_t> slots_;
    std::set<Candidate> candidates_;
};

void count_start(Database& database, const QueueRow& queue, TimePoint now) {
    if (!queue.limits.rate) return;
    const Duration period = queue.limits.rate->period;
    Query(database, sql::add_starts, queue.name, slice_end(now, period), 1).run();
    Query(database, sql::prune_starts, queue.name, now - period).run();
}

}  // namespace

LimitedClaims SqliteStore::claim_limited(const ClaimRequest& request) {
    LimitedClaims result;
    if (request.limit <= 0 || request.queues.empty()) return result;
    // Looks without the write lock, so if nothing may start, nothing is written.
    const bool has_work = read([&](Database& database) {
        Query sleeper(database, sql::has_task_to_wake, clock_.now());
        const bool has_sleeper = sleeper.step() && sleeper.integer(0) != 0;
        const auto rooms = find_rooms(database, request, clock_.now(), result.next_start);
        return has_sleeper || !rooms.empty();
    });
    if (!has_work) return result;

    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const TimePoint now = clock_.now();
    Query(writer_, sql::wake_tasks, now).run();
    result.next_start = kNever;
    LimitedSelection selection(
        writer_, request, find_rooms(writer_, request, now, result.next_start)
    );
    for (const Candidate& candidate : selection.select(last_keys_)) {
        const std::string& instance = candidate.instance;
        auto claim = sqlite::lease_task(writer_, instance, candidate.token, request.worker);
        if (!claim) continue;
        const QueueRow& queue = selection.queue_of(candidate);
        Query(writer_, sql::take_slot, instance, candidate.token).run();
        count_start(writer_, queue, now);
        claim->slot = queue.name;
        result.claims.push_back(*std::move(claim));
    }
    transaction.commit();
    return result;
}

void SqliteStore::set_queue(const QueueRow& row) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const QueueLimits& limits = row.limits;
    if (!limits.rate) Query(writer_, sql::clear_starts, row.name).run();
    if (limits.is_unlimited()) {
        Query(writer_, sql::clear_queue, row.name).run();
        transaction.commit();
        return;
    }
    check_queue_count(count_of(writer_, sql::count_queues, row.name));
    using Number = std::optional<std::int64_t>;
    const auto number = [](const std::optional<int>& value) {
        return value ? Number(*value) : std::nullopt;
    };
    Query(
        writer_,
        sql::set_queue,
        row.name,
        row.updated_at,
        number(limits.concurrency),
        number(limits.concurrency_per_key),
        limits.rate ? Number(limits.rate->starts) : std::nullopt,
        limits.rate ? Number(limits.rate->period.count()) : std::nullopt
    )
        .run();
    transaction.commit();
}

std::vector<QueueUse> SqliteStore::queues(const QueueQuery& query) {
    const TimePoint now = clock_.now();
    return read([&](Database& database) {
        std::map<std::string, QueueView> views;
        if (query.counts_tasks) {
            Query tasks(database, sql::tasks_by_queue, now);
            while (tasks.step()) {
                QueueView& view = views[std::string(tasks.text(0))];
                view.running = tasks.integer(1);
                view.waiting = tasks.integer(2);
                view.sleeping = tasks.integer(3);
            }
        }
        std::map<std::string, QueueRow> rows;
        Query limited(database, sql::list_queues);
        while (limited.step()) {
            QueueRow row = queue_row(limited);
            views.try_emplace(row.name);
            rows.emplace(row.name, std::move(row));
        }
        std::vector<QueueUse> uses;
        for (auto& [name, view] : views) {
            if (!query.name.empty() && query.name != name) continue;
            QueueUse use{.view = std::move(view)};
            use.view.name = name;
            use.view.slots = count_of(database, sql::count_slots, name);
            if (const auto row = rows.find(name); row != rows.end()) {
                use.view.limits = row->second.limits;
                use.view.updated_at = row->second.updated_at;
                const RateUse rate = rate_use(database, row->second, now);
                use.view.starts = rate.starts;
                use.view.next_start = rate.next;
            }
            if (!query.concurrency_key.empty()) {
                Query slots(database, sql::count_slots_of_key, name, query.concurrency_key);
                use.key_slots = slots.step() ? slots.integer(0) : 0;
            }
            uses.push_back(std::move(use));
        }
        return uses;
    });
}

}  // namespace ebb
