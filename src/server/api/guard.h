#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/problem.h"
#include "server/http/http.h"

// Rules about where a request comes from.

namespace ebb::server {

/// `10.0.0.0/8`, `::1/128`, or one address.
class AddressRange {
 public:
    /// Throws Error with InvalidArgument: it is not an address, the prefix is too long, or the
    /// address has bits after its prefix.
    explicit AddressRange(std::string_view text);

    bool contains(const std::string& address) const;

 private:
    std::string bytes_;
    int bits_ = 0;
};

/// The host of a Host header without its port.
std::string_view host_name(std::string_view authority);

/// Whether a name in Host is one of ours. An address always is: a browser that is led here by a
/// name that its owner has pointed at us sends the name.
bool is_allowed_host(std::string_view authority, const std::vector<std::string>& names);

/// Whether requests of this method change nothing.
inline bool is_safe_method(std::string_view method) {
    return method == "GET" || method == "HEAD";
}

/// A request that changes something and that a browser may have sent on behalf of another site.
/// With a session's cookie, it must say where it comes from. Throws Problem with csrf_refused.
void check_same_site(const http::Request& request, bool has_session);

/// Throws Problem if several headers have this name: a proxy may have added its own to that of the
/// client, and only one of them would count.
void check_single(const http::Request& request, std::string_view name);

/// Throws Error with InvalidArgument for anything but an origin as browsers write it:
/// `https://app.example.com`, `http://localhost:5173`.
void check_origin(std::string_view text);

/// Whether a page of another origin sends the request.
bool is_cross_origin(const http::Request& request);

/// The value of a cookie; empty if there is none.
std::string_view cookie(const http::Request& request, std::string_view name);

/// The token of `Authorization: Bearer TOKEN`; empty if there is none.
std::string_view bearer_token(const http::Request& request);

/// What every answer says to a browser.
void add_security_headers(http::Response& response, bool is_tls);

}  // namespace ebb::server
