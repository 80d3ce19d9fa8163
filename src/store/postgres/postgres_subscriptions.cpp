#include "ebb/postgres/sql.h"
#include "store/postgres/postgres_store.h"

// The verbs about subscriptions and what they wait for.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;
using postgres::OrNull;
using postgres::Result;

namespace {

Subscription subscription_of(const Result& rows, int row) {
    Subscription subscription;
    subscription.name = rows.text(row, 0);
    subscription.document = rows.text(row, 1);
    subscription.is_enabled = rows.boolean(row, 2);
    subscription.failures = rows.integer(row, 3);
    if (!rows.is_null(row, 4)) subscription.suspended_at = rows.time(row, 4);
    subscription.updated_at = rows.time(row, 5);
    return subscription;
}

}  // namespace

void PostgresStore::put_subscription(const Subscription& subscription) {
    const Result others = read(sql::count_subscriptions, Arguments::of(subscription.name));
    check_subscription_count(others.integer(0, 0));
    read(
        sql::put_subscription,
        Arguments::of(
            subscription.name,
            subscription.document,
            subscription.is_enabled,
            subscription.failures,
            OrNull(subscription.suspended_at),
            subscription.updated_at
        )
    );
}

std::vector<Subscription> PostgresStore::subscriptions() {
    const Result rows = read(sql::list_subscriptions, Arguments::of(OrNull(std::string_view())));
    std::vector<Subscription> subscriptions;
    for (int row = 0; row < rows.rows(); ++row) subscriptions.push_back(subscription_of(rows, row));
    return subscriptions;
}

std::optional<Subscription> PostgresStore::find_subscription(std::string_view name) {
    const Result rows = read(sql::list_subscriptions, Arguments::of(name));
    if (rows.is_empty()) return std::nullopt;
    return subscription_of(rows, 0);
}

bool PostgresStore::remove_subscription(std::string_view name) {
    const Arguments arguments = Arguments::of(name);
    const std::vector<Call> calls{
        {sql::remove_subscription, arguments}, {sql::remove_outbox_of, arguments}
    };
    const auto results =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    return !results.front().is_empty();
}

std::int64_t PostgresStore::note_delivery(const DeliveryNote& note) {
    const Result rows = read(
        sql::note_delivery,
        Arguments::of(note.subscription, note.has_succeeded, Subscription::kFailuresMax, note.now)
    );
    return rows.is_empty() ? 0 : rows.integer(0, 0);
}

void PostgresStore::add_outbox(std::span<const OutboxRow> rows) {
    for (const OutboxRow& row : rows) {
        const Notice& notice = row.notice;
        read(
            sql::add_notice,
            Arguments::of(
                notice.subscription,
                row.instance,
                std::int64_t{notice.seq},
                notice.type,
                notice.data,
                notice.at
            )
        );
    }
}

std::vector<OutboxRow> PostgresStore::outbox(
    const std::vector<std::string>& subscriptions, int limit
) {
    const Array names = postgres::texts_of(subscriptions);
    const Result found = read(sql::list_outbox, Arguments::of(names, std::int64_t{limit}));
    std::vector<OutboxRow> rows;
    for (int row = 0; row < found.rows(); ++row) {
        rows.push_back(
            {.instance = found.id(row, 0),
             .notice =
                 {.subscription = std::string(found.text(row, 1)),
                  .seq = found.integer(row, 2),
                  .type = std::string(found.text(row, 3)),
                  .data = std::string(found.text(row, 4)),
                  .at = found.time(row, 5)}}
        );
    }
    return rows;
}

void PostgresStore::remove_outbox(std::span<const OutboxRow> rows) {
    if (rows.empty()) return;
    Array names(Array::Of::Text);
    Array ids(Array::Of::Uuid);
    Array seqs(Array::Of::Bigint);
    for (const OutboxRow& row : rows) {
        names.add(row.notice.subscription);
        ids.add(row.instance);
        seqs.add(std::int64_t{row.notice.seq});
    }
    read(sql::remove_notices, Arguments::of(names, ids, seqs));
}

std::int64_t PostgresStore::clear_outbox(
    const std::vector<std::string>& subscriptions, TimePoint before
) {
    const Array names = postgres::texts_of(subscriptions);
    return read(sql::clear_outbox, Arguments::of(before, names)).changed();
}

}  // namespace ebb
