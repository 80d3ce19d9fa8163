#include "ebb/sqlite/sql.h"
#include "store/sqlite/mail_rows.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs about mail.

namespace ebb {

namespace sql = sqlite::sql;
using sqlite::Database;
using sqlite::Query;
using sqlite::WriteTransaction;

namespace {

void wake_for_mail(Database& database, std::string_view instance, TimePoint now) {
    const std::int64_t head_start = kHeadStartPerPriority.count();
    Query(database, sql::wake_for_mail, instance, now, rank_of(now, 0), head_start).run();
}

}  // namespace

namespace sqlite {

SendResult send_mail(Database& database, const Mail& mail, TimePoint now) {
    const std::string id = mail.to.to_string();
    {
        Query addressee(database, sql::mail_addressee, id);
        if (!addressee.step()) return SendResult::NotFound;
        if (addressee.integer(0) != 0) return SendResult::Ended;
    }
    Query add(
        database, sql::add_mail, id, mail.key.sender, mail.key.seq, mail.kind, mail.body, now
    );
    if (add.run() == 0) return SendResult::Known;
    wake_for_mail(database, id, now);
    return SendResult::Sent;
}

void read_mail(Database& database, std::string_view instance, Claim& claim) {
    std::int64_t bytes = 0;
    Query row(database, sql::unread_mail, instance, kMailReadMax + 1);
    while (row.step()) {
        if (std::ssize(claim.mail) == kMailReadMax || bytes >= kMailReadBytesMax) {
            claim.has_more_mail = true;
            return;
        }
        claim.mail.push_back(
            {.to = claim.task.instance,
             .key = {.sender = std::string(row.text(0)), .seq = row.integer(1)},
             .kind = std::string(row.text(2)),
             .body = std::string(row.text(3)),
             .at = row.time(4)}
        );
        bytes += std::ssize(claim.mail.back().body);
    }
}

void receive_mail(
    Database& database, std::string_view instance, std::span<const MailKey> received, TimePoint now
) {
    if (received.empty()) return;
    for (const MailKey& key : received) {
        Query(database, sql::remove_mail, instance, key.sender, key.seq).run();
    }
    Query(database, sql::remove_wake, instance).run();
    if (Query(database, sql::has_mail, instance).step()) wake_for_mail(database, instance, now);
}

}  // namespace sqlite

std::vector<SendResult> SqliteStore::send(std::span<const Mail> mail) {
    std::vector<SendResult> results;
    if (mail.empty()) return results;
    const TimePoint now = clock_.now();
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    for (const Mail& each : mail) results.push_back(sqlite::send_mail(writer_, each, now));
    transaction.commit();
    return results;
}

std::int64_t SqliteStore::drop_mail(const InstanceId& ended) {
    const std::string id = ended.to_string();
    const Lock lock(writer_mutex_);
    WriteTransaction transaction(writer_);
    {
        Query addressee(writer_, sql::mail_addressee, id);
        if (!addressee.step() || addressee.integer(0) == 0) return 0;
    }
    const std::int64_t count = Query(writer_, sql::remove_all_mail, id).run();
    Query(writer_, sql::remove_wake, id).run();
    transaction.commit();
    return count;
}

}  // namespace ebb
