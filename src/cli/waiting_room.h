#pragma once

#include <memory>
#include <string>

#include <ebb/server.h>

#include "server/http/http.h"
#include "support/sync.h"

namespace ebb::cli {

/// Answers on the addresses of a server that has no database yet: it lives, is not ready, and says
/// why. Everything else gets 503. It stops listening when it is destroyed.
class WaitingRoom {
 public:
    /// Throws Error with InvalidArgument if it cannot listen.
    explicit WaitingRoom(const ServerOptions& options);

    /// Why the server is not ready now. Thread-safe.
    void tell(std::string why);

 private:
    http::Response answer(const std::string& path) const;

    const bool is_tls_;
    mutable Mutex mutex_;
    std::string why_ EBB_GUARDED_BY(mutex_);
    std::unique_ptr<http::Server> http_;  // last: its threads use all of the above
};

}  // namespace ebb::cli
