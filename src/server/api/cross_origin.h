#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/http/http.h"

// What pages of other origins may do (CORS, the fetch standard of WHATWG).

namespace ebb::server {

/// The origins whose pages may send requests with a token and read the answers. No answer ever says
/// that cookies are accepted.
class CrossOrigin {
 public:
    explicit CrossOrigin(std::vector<std::string> origins) : origins_(std::move(origins)) {}

    /// The origin of the page that sends the request, if it is another one than the server's own
    /// and listed; otherwise empty.
    std::string listed_origin(const http::Request& request) const;

    /// Whether a browser asks what it may send.
    static bool is_preflight(const http::Request& request);
    /// The answer to it.
    static http::Response preflight_response();

    /// What an answer of the API needs, so that the browser lets the page read it and no cache
    /// gives it to another page. `origin`: as of listed_origin().
    std::vector<http::Header> headers(const std::string& origin) const;

 private:
    const std::vector<std::string> origins_;
};

}  // namespace ebb::server
