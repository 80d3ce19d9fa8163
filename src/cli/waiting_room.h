#pragma once

#include <memory>
#include <string>

#include <ebb/server.h>

#include "server/http/http.h"

namespace ebb::cli {

/// Answers on the addresses of a server that has no database yet: it lives and is not ready.
/// Everything else gets 503. It stops listening when it is destroyed.
class WaitingRoom {
 public:
    /// Throws Error with InvalidArgument if it cannot listen.
    explicit WaitingRoom(const ServerOptions& options);

 private:
    http::Response answer(const std::string& path) const;

    const bool is_tls_;
    std::unique_ptr<http::Server> http_;  // last: its threads use all of the above
};

}  // namespace ebb::cli
