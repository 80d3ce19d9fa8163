#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ebb/metrics.h>

#include "server/http/http.h"

namespace ebb::server {

/// What the server knows of itself at this moment.
struct ServerState {
    http::ConnectionCounts connections;
    const std::map<std::string, std::uint64_t>& refusals;       ///< requests, by code
    const std::map<std::string, std::uint64_t>& failed_logins;  ///< by kind of credential
    int active = 0;                                             ///< requests and streams
    std::size_t queued = 0;                                     ///< requests that wait for a thread
    std::size_t watchers = 0;
    std::optional<std::chrono::system_clock::time_point> certificate_expires_at{};  ///< with TLS
};

std::vector<Metric> server_metrics(const ServerState& state);

}  // namespace ebb::server
