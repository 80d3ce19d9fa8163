#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "store/postgres/arguments.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace ebb::postgres {

/// The mail that several commits have decided as arrays, and the statements that remove it. None is
/// made where there is no mail.
class MailColumns {
 public:
    MailColumns() = default;
    MailColumns(const MailColumns&) = delete;
    MailColumns& operator=(const MailColumns&) = delete;

    /// `fold` as the statement remove_wakes knows it. The commit's texts must live until the
    /// statements were sent.
    void add(const Commit& commit, std::int32_t fold);

    bool is_empty() const { return id_.size() == 0; }

    /// In one transaction, after all that locks the instances in order. The columns must live until
    /// the statements were sent.
    void append_to(std::vector<Call>& calls, std::optional<TimePoint> now);

 private:
    std::int64_t count_ = 0;
    Array id_{Array::Of::Uuid};
    Array revision_{Array::Of::Bigint};
    Array fold_{Array::Of::Integer};
    Array ord_{Array::Of::Bigint};
    Array sender_{Array::Of::Text};
    Array seq_{Array::Of::Bigint};
    std::deque<Arguments> arguments_;
};

}  // namespace ebb::postgres
