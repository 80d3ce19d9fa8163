#include <algorithm>

#include "ebb/sqlite/sql.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about subscriptions and what they wait for.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::OrNull;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

Subscription subscription_of(const Query& found) {
    Subscription subscription;
    subscription.name = found.text(0);
    subscription.document = found.text(1);
    subscription.is_enabled = found.integer(2) != 0;
    subscription.failures = found.integer(3);
    if (!found.is_null(4)) subscription.suspended_at = found.time(4);
    subscription.updated_at = found.time(5);
    return subscription;
}

}  // namespace

void SqliteStore::add_notices(
    Database& database, std::string_view instance, std::span<const Notice> notices
) {
    for (const Notice& notice : notices) {
        Query(
            database,
            sql::put_notice,
            notice.subscription,
            instance,
            notice.seq,
            notice.type,
            notice.data,
            notice.at
        )
            .run();
    }
}

void SqliteStore::put_subscription(const Subscription& subscription) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    {
        Query count(writer_, sql::count_subscriptions, subscription.name);
        if (count.step()) check_subscription_count(count.integer(0));
    }
    Query(
        writer_,
        sql::put_subscription,
        subscription.name,
        subscription.document,
        int{subscription.is_enabled},
        subscription.failures,
        OrNull(subscription.suspended_at),
        subscription.updated_at
    )
        .run();
    transaction.commit();
}

std::vector<Subscription> SqliteStore::subscriptions() {
    return read([](Database& database) {
        std::vector<Subscription> subscriptions;
        Query found(database, sql::list_subscriptions);
        while (found.step()) subscriptions.push_back(subscription_of(found));
        return subscriptions;
    });
}

std::optional<Subscription> SqliteStore::find_subscription(std::string_view name) {
    return read([&](Database& database) -> std::optional<Subscription> {
        Query found(database, sql::find_subscription, name);
        if (!found.step()) return std::nullopt;
        return subscription_of(found);
    });
}

bool SqliteStore::remove_subscription(std::string_view name) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const bool was_there = Query(writer_, sql::remove_subscription, name).run() > 0;
    Query(writer_, sql::remove_outbox_of, name).run();
    transaction.commit();
    return was_there;
}

std::int64_t SqliteStore::note_delivery(const DeliveryNote& note) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    std::int64_t failures = 0;
    {
        Query noted(
            writer_,
            sql::note_delivery,
            note.subscription,
            int{note.has_succeeded},
            Subscription::kFailuresMax,
            note.now
        );
        while (noted.step()) failures = noted.integer(0);
    }
    transaction.commit();
    return failures;
}

void SqliteStore::add_outbox(std::span<const OutboxRow> rows) {
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const OutboxRow& row : rows) {
        const std::string id = row.instance.to_string();
        add_notices(writer_, id, {&row.notice, 1});
    }
    transaction.commit();
}

std::vector<OutboxRow> SqliteStore::outbox(
    const std::vector<std::string>& subscriptions, int limit
) {
    return read([&](Database& database) {
        std::vector<OutboxRow> rows;
        for (const std::string& name : subscriptions) {
            Query found(database, sql::list_outbox, name, limit);
            while (found.step()) {
                OutboxRow row{.instance = sqlite::parse_id(found.text(0), "outbox"), .notice = {}};
                row.notice.subscription = found.text(1);
                row.notice.seq = found.integer(2);
                row.notice.type = found.text(3);
                row.notice.data = found.text(4);
                row.notice.at = found.time(5);
                rows.push_back(std::move(row));
            }
        }
        std::stable_sort(rows.begin(), rows.end(), [](const auto& left, const auto& right) {
            return left.notice.at < right.notice.at;
        });
        if (std::ssize(rows) > limit) rows.resize(static_cast<std::size_t>(limit));
        return rows;
    });
}

void SqliteStore::remove_outbox(std::span<const OutboxRow> rows) {
    if (rows.empty()) return;
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const OutboxRow& row : rows) {
        const std::string id = row.instance.to_string();
        Query(writer_, sql::remove_notice, row.notice.subscription, id, row.notice.seq).run();
    }
    transaction.commit();
}

std::int64_t SqliteStore::clear_outbox(
    const std::vector<std::string>& subscriptions, TimePoint before
) {
    const std::string names = sqlite::names_to_json(subscriptions);
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    const std::int64_t removed = Query(writer_, sql::clear_outbox, before, names).run();
    transaction.commit();
    return removed;
}

}  // namespace ebb
