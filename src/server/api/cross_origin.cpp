#include "server/api/cross_origin.h"

#include <algorithm>

#include "server/api/guard.h"

namespace ebb::server {

namespace {

/// What a page may read besides the usual headers.
constexpr std::string_view kExposedHeaders =
    "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
/// What a page may send.
constexpr std::string_view kAcceptedHeaders =
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
    "X-Request-Id, traceparent";
constexpr std::string_view kAcceptedMethods = "GET, HEAD, POST, PUT, DELETE";
/// How long a browser remembers that.
constexpr std::string_view kPreflightSeconds = "600";

}  // namespace

std::string CrossOrigin::listed_origin(const http::Request& request) const {
    if (!is_cross_origin(request)) return {};
    // Browsers write an origin in one way only.
    const std::string_view origin = request.header("Origin");
    const auto found = std::find(origins_.begin(), origins_.end(), origin);
    return found == origins_.end() ? std::string() : *found;
}

bool CrossOrigin::is_preflight(const http::Request& request) {
    return request.method == "OPTIONS" && !request.header("Access-Control-Request-Method").empty();
}

http::Response CrossOrigin::preflight_response() {
    http::Response response{.status = 204};
    response.set("Access-Control-Allow-Methods", std::string(kAcceptedMethods));
    response.set("Access-Control-Allow-Headers", std::string(kAcceptedHeaders));
    response.set("Access-Control-Max-Age", std::string(kPreflightSeconds));
    return response;
}

std::vector<http::Header> CrossOrigin::headers(const std::string& origin) const {
    if (origins_.empty()) return {};
    if (origin.empty()) return {{"Vary", "Origin"}};
    return {
        {"Vary", "Origin"},
        {"Access-Control-Allow-Origin", origin},
        {"Access-Control-Expose-Headers", std::string(kExposedHeaders)},
    };
}

}  // namespace ebb::server
