#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <ebb/log.h>

#include "server/api/problem.h"
#include "support/sync.h"

namespace ebb::server {

/// Logs and counts requests whose credential is not valid. Thread-safe.
class FailedLogins {
 public:
    /// `log`: null = silent; must outlive it.
    explicit FailedLogins(LogSink* log) : log_(log) {}

    /// What is known of such a request. `route` is the template of its path.
    struct Attempt {
        std::string_view route;
        std::string_view remote;
        std::string_view request_id;
    };

    /// Does nothing if the problem is another one.
    void note(const Problem& problem, const Attempt& attempt);

    /// By kind of credential: `token`, `session`, `login_link`, `oidc`, `hook`, ...
    std::map<std::string, std::uint64_t> counts() const;

 private:
    LogSink* const log_;
    mutable Mutex mutex_;
    std::map<std::string, std::uint64_t> counts_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
