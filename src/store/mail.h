#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>

#include <ebb/id.h>
#include <ebb/time.h>

#include "core/kernel/state.h"

// Mail: what reaches an instance from outside of its own commits, and waits in the table `inbox`
// until an engine decides it.

namespace ebb {

/// The task (instance, kMailTask) exists as long as the instance has unread mail: any worker claims
/// it, and decides the mail. It stands for no token, and its negation is still a number.
inline constexpr TokenId kMailTask = std::numeric_limits<TokenId>::min() + 1;

/// One claim reads at most so much mail of an instance. The first is read whatever its size.
inline constexpr int kMailReadMax = 64;
inline constexpr std::int64_t kMailReadBytesMax = std::int64_t{4} << 20;

/// Mail without its kMailTask gets one after this time: a worker of an earlier release has removed
/// the task, which it did not know.
inline constexpr Duration kWakeLostAfter = std::chrono::minutes(1);

/// Between two that were sent at the same time.
inline constexpr Duration kTick{1};

/// Names one piece of mail of its addressee.
struct MailKey {
    std::string sender;  ///< a request: its id
    Seq seq = 0;         ///< a request: 0

    auto operator<=>(const MailKey&) const = default;
};

struct Mail {
    InstanceId to;
    MailKey key;
    std::string kind;  ///< `signal`, `decision`, `cancel`, `write`, `start`
    std::string body;  ///< JSON text: encode_mail
    /// Set by the store. Of two of one addressee, the one that was sent later has the later time.
    TimePoint at{};

    bool operator==(const Mail&) const = default;
};

enum class SendResult {
    Sent,
    Known,     ///< unread mail with this key is already there: nothing was written
    NotFound,  ///< there is no such instance
    Ended,     ///< the instance has ended, so nothing was written
};

}  // namespace ebb
