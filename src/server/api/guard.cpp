#include "server/api/guard.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <fmt/format.h>

#include <ebb/error.h>

#include "support/json.h"

namespace ebb::server {

namespace {

/// Of nearly every response, as they are sent.
constexpr std::string_view kSecurityHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'self'; require-trusted-types-for 'script'; "
    "trusted-types svelte-trusted-html\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=()\r\n";
/// Of those with a policy of their own.
constexpr std::string_view kOtherSecurityHeaders =
    kSecurityHeaders.substr(kSecurityHeaders.find("X-Content-Type-Options"));

constexpr std::size_t kShownMax = 64;

/// 4 or 16 bytes; empty if it is not an address. An IPv4 address in IPv6 clothes is IPv4.
std::string address_bytes(std::string_view text) {
    const std::string address(text);
    std::array<char, 16> bytes{};
    if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {bytes.data(), 4};
    if (inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return {};
    constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    const std::string_view all(bytes.data(), bytes.size());
    return std::string(all.starts_with(kMapped) ? all.substr(12) : all);
}

std::string text_of_bytes(const std::string& bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
    return inet_ntop(family, bytes.data(), text.data(), text.size());
}

/// The address with zeros after the first `bits` bits.
std::string network_of(std::string bytes, int bits) {
    for (int bit = bits; bit < static_cast<int>(bytes.size()) * 8; ++bit) {
        char& byte = bytes[static_cast<std::size_t>(bit / 8)];
        byte = static_cast<char>(byte & ~(0x80 >> (bit % 8)));
    }
    return bytes;
}

bool is_address(std::string_view host) {
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    return !address_bytes(host).empty();
}

bool has(const http::Response& response, std::string_view name) {
    return std::any_of(response.headers.begin(), response.headers.end(), [&](const auto& header) {
        return http::is_same_name(header.name, name);
    });
}

}  // namespace

AddressRange::AddressRange(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("\"{}\" {}", clean_text(text, kShownMax), why)
        );
    };
    const std::size_t slash = std::min(text.find('/'), text.size());
    bytes_ = address_bytes(text.substr(0, slash));
    if (bytes_.empty()) {
        refuse("is neither an address nor a network, such as 10.1.0.0/16 or fd00::/8.");
    }
    const int bits_max = static_cast<int>(bytes_.size()) * 8;
    bits_ = bits_max;
    if (slash == text.size()) return;
    const std::string_view prefix = text.substr(slash + 1);
    const char* last = prefix.data() + prefix.size();
    const auto [end, error] = std::from_chars(prefix.data(), last, bits_);
    const bool is_number = error == std::errc() && end == last && prefix.front() != '-' &&
                           (prefix.size() == 1 || prefix.front() != '0');
    if (!is_number || bits_ > bits_max) {
        refuse(fmt::format(
            "has no prefix from 0 to {} after the slash: it is an address of {} bits.",
            bits_max,
            bits_max
        ));
    }
    const std::string network = network_of(bytes_, bits_);
    if (network != bytes_) {
        refuse(fmt::format(
            "has bits after its prefix; the network is {}/{}.", text_of_bytes(network), bits_
        ));
    }
}

bool AddressRange::contains(const std::string& address) const {
    const std::string bytes = address_bytes(address);
    if (bytes.size() != bytes_.size()) return false;
    for (int bit = 0; bit < bits_; ++bit) {
        const auto at = static_cast<std::size_t>(bit / 8);
        const int mask = 0x80 >> (bit % 8);
        if ((bytes[at] & mask) != (bytes_[at] & mask)) return false;
    }
    return true;
}

std::string_view host_name(std::string_view authority) {
    if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
    return authority.substr(0, authority.find(':'));
}

bool is_allowed_host(std::string_view authority, const std::vector<std::string>& names) {
    const std::string_view host = host_name(authority);
    if (is_address(host) || http::is_same_name(host, "localhost")) return true;
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return http::is_same_name(host, name);
    });
}

bool is_cross_origin(const http::Request& request) {
    const std::string_view site = request.header("Sec-Fetch-Site");
    if (site == "same-origin" || site == "none") return false;
    const std::string_view origin = request.header("Origin");
    if (origin.empty()) return false;
    if (!site.empty()) return true;
    // Not a browser, or one that is too old to say; it then says at least the origin.
    const std::size_t slashes = origin.find("://");
    return slashes == std::string_view::npos ||
           !http::is_same_name(origin.substr(slashes + 3), request.header("Host"));
}

void check_origin(std::string_view text) {
    const auto refuse = [&](const std::string& why) {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("\"{}\" {}", clean_text(text, kShownMax), why)
        );
    };
    const bool is_https = text.starts_with("https://");
    const std::size_t begin = is_https ? 8 : 7;
    if (!is_https && !text.starts_with("http://")) {
        refuse("is not an origin. Name each origin by itself, such as https://app.example.com.");
    }
    const std::string_view authority = text.substr(begin);
    const std::string_view host = host_name(authority.substr(0, authority.find('/')));
    const bool is_host = host.starts_with('[')
                             ? is_address(host) && host.ends_with(']')
                             : !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
                                   return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                                          c == '.' || c == '-' || c == '_';
                               });
    if (!is_host) {
        refuse("is not an origin: a name in lower case, or an address, must follow the scheme.");
    }
    const std::string_view rest = authority.substr(host.size());
    if (rest.empty()) return;
    int port = 0;
    const char* last = rest.data() + rest.size();
    const auto [end, error] = std::from_chars(rest.data() + 1, last, port);
    if (rest.front() != ':' || error != std::errc() || end != last || port < 1 || port > 65'535) {
        refuse("is not an origin: only a port may follow the name.");
    }
    if (port == (is_https ? 443 : 80)) {
        refuse(fmt::format("is not as browsers send it: leave out the usual port \":{}\".", port));
    }
}

void check_same_site(const http::Request& request, bool has_session) {
    const std::string_view site = request.header("Sec-Fetch-Site");
    if (site == "same-origin" || site == "none") return;
    if (has_session && site.empty() && request.header("Origin").empty()) {
        throw Problem(
            "csrf_refused",
            "A request with a session needs the header Sec-Fetch-Site or Origin, as browsers send "
            "it. Programs log in by a token."
        );
    }
    if (site.empty() && !is_cross_origin(request)) return;
    throw Problem("csrf_refused", "The request comes from a page of another site.");
}

void check_single(const http::Request& request, std::string_view name) {
    if (request.count(name) <= 1) return;
    throw Problem("invalid_argument", fmt::format("There is more than one header {}.", name));
}

std::string_view cookie(const http::Request& request, std::string_view name) {
    for (const http::Header& header : request.headers) {
        if (!http::is_same_name(header.name, "Cookie")) continue;
        std::string_view cookies = header.value;
        while (!cookies.empty()) {
            const std::size_t end = std::min(cookies.find(';'), cookies.size());
            std::string_view pair = cookies.substr(0, end);
            cookies.remove_prefix(std::min(end + 1, cookies.size()));
            while (pair.starts_with(' ')) pair.remove_prefix(1);
            if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) {
                return pair.substr(name.size() + 1);
            }
        }
    }
    return {};
}

std::string_view bearer_token(const http::Request& request) {
    const std::string_view value = request.header("Authorization");
    constexpr std::string_view kScheme = "Bearer ";
    if (value.size() < kScheme.size()) return {};
    if (!http::is_same_name(value.substr(0, kScheme.size()), kScheme)) return {};
    return value.substr(kScheme.size());
}

void add_security_headers(http::Response& response, bool is_tls) {
    const bool has_policy = has(response, "Content-Security-Policy");
    response.header_lines = has_policy ? kOtherSecurityHeaders : kSecurityHeaders;
    if (is_tls) response.set("Strict-Transport-Security", "max-age=31536000");
}

}  // namespace ebb::server
