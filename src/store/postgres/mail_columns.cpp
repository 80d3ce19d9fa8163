#include "store/postgres/mail_columns.h"

#include "ebb/postgres/sql.h"

namespace ebb::postgres {

void MailColumns::add(const Commit& commit, std::int32_t fold) {
    if (commit.received.empty()) return;
    ++count_;
    id_.add(commit.instance);
    revision_.add(commit.expected_revision);
    fold_.add(fold);
    for (const MailKey& key : commit.received) {
        ord_.add(count_);
        sender_.add(key.sender);
        seq_.add(key.seq);
    }
}

void MailColumns::append_to(std::vector<Call>& calls, std::optional<TimePoint> now) {
    if (is_empty()) return;
    const Arguments& wakes = arguments_.emplace_back(Arguments::of(id_, revision_, fold_));
    calls.push_back({sql::remove_wakes, wakes});
    const Arguments& received =
        arguments_.emplace_back(Arguments::of(id_, revision_, fold_, ord_, sender_, seq_));
    calls.push_back({sql::receive_mail, received});
    const Arguments& rest = arguments_.emplace_back(
        Arguments::of(id_, revision_, fold_, now, std::int64_t{kHeadStartPerPriority.count()})
    );
    calls.push_back({sql::restore_wakes, rest});
}

}  // namespace ebb::postgres
