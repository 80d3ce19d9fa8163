#include <algorithm>
#include <deque>

#include "ebb/postgres/sql.h"
#include "store/postgres/mail_rows.h"
#include "store/postgres/postgres_store.h"

// The verbs about mail.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Call;
using postgres::Connection;
using postgres::Result;

namespace postgres {

Arguments mail_arguments(const Mail& mail, std::optional<TimePoint> now) {
    return Arguments::of(
        mail.to,
        mail.key.sender,
        mail.key.seq,
        mail.kind,
        mail.body,
        now,
        std::int64_t{kHeadStartPerPriority.count()}
    );
}

SendResult send_result(const Result& rows) {
    if (rows.is_null(0, 1)) return SendResult::NotFound;
    if (rows.boolean(0, 1)) return SendResult::Ended;
    return rows.integer(0, 0) > 0 ? SendResult::Sent : SendResult::Known;
}

}  // namespace postgres

std::vector<SendResult> PostgresStore::send(std::span<const Mail> mail) {
    std::vector<SendResult> results;
    if (mail.empty()) return results;
    std::deque<Arguments> arguments;
    std::vector<Call> calls;
    for (const Mail& each : mail) {
        calls.push_back(
            {sql::send_mail, arguments.emplace_back(postgres::mail_arguments(each, given_time()))}
        );
    }
    const auto answers =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    for (const Result& answer : answers) results.push_back(postgres::send_result(answer));
    claim_marks_.forget();
    return results;
}

std::int64_t PostgresStore::drop_mail(const InstanceId& ended) {
    const Arguments id = Arguments::of(ended);
    const std::vector<Call> calls{{sql::remove_wake_of_ended, id}, {sql::drop_mail, id}};
    const auto answers =
        perform(Repeat::Freely, [&](Connection& connection) { return connection.run(calls); });
    return answers.at(1).integer(0, 0);
}

/// Read after the instances: what is unread now was not decided by any revision up to theirs.
void PostgresStore::read_mail(std::vector<Claim>& claims) {
    Array ids(Array::Of::Uuid);
    for (const Claim& claim : claims) {
        if (claim.task.token == kMailTask) ids.add(claim.task.instance);
    }
    if (ids.size() == 0) return;
    const Result rows =
        read(sql::unread_mail, Arguments::of(ids, std::int64_t{kMailReadMax}, kMailReadBytesMax));
    for (int row = 0; row < rows.rows(); ++row) {
        const TaskRef task{rows.id(row, 0), kMailTask};
        const auto claim = std::find_if(claims.begin(), claims.end(), [&](const Claim& each) {
            return each.task == task;
        });
        claim->mail.push_back(
            {.to = task.instance,
             .key = {.sender = std::string(rows.text(row, 1)), .seq = rows.integer(row, 2)},
             .kind = std::string(rows.text(row, 3)),
             .body = std::string(rows.text(row, 4)),
             .at = rows.time(row, 5)}
        );
        claim->has_more_mail = rows.integer(row, 6) > std::ssize(claim->mail);
    }
}

}  // namespace ebb
