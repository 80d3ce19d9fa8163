#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/time.h>

#include "server/http/http.h"

// What the health checks answer.

namespace ebb::server {

/// What must be right for a server that is ready, and whether it is.
struct ReadinessCheck {
    std::string name;
    bool is_ok = true;
    Duration age{0};       ///< since it was looked at
    Duration latency{0};   ///< that the look took
    std::string reason{};  ///< why it is not right, for anyone; empty if it is
    std::string detail{};  ///< the same for operators; empty = there is nothing more to say
};

bool is_health(std::string_view path);

/// Whether the query of a health check asks for everything that was looked at.
bool is_verbose(std::string_view query);

/// 200 `ok` or 503 with `trouble`, as text. `trouble`: empty = there is none.
http::Response health_response(std::string_view trouble);

/// The first thing that is not right; empty = all is.
std::string trouble_of(const std::vector<ReadinessCheck>& checks);

/// All checks as JSON, 200 or 503. `shows_details`: as operators see them.
http::Response readiness_response(const std::vector<ReadinessCheck>& checks, bool shows_details);

}  // namespace ebb::server
