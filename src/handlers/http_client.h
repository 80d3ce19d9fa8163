#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/time.h>

namespace ebb {

struct HttpRequest {
    std::string method;
    std::string url;
    std::vector<std::pair<std::string, std::string>>
        headers;  ///< the caller checks names and values
    std::optional<std::string> body;
    std::string proxy;              ///< empty = none; the environment is ignored
    std::filesystem::path ca_file;  ///< empty = the system's certificates
    std::filesystem::path client_cert;
    std::filesystem::path client_key;
    Duration timeout = std::chrono::seconds(30);
    Duration connect_timeout = std::chrono::seconds(10);
    std::size_t response_bytes_max = std::size_t{1} << 20;
    std::stop_token stop;
    std::string unix_socket{};  ///< connect to this path instead of the URL's host; empty = TCP
    /// Connects to addresses of the public internet only, whatever the host's name resolves to.
    /// All requests of a client with this flag have it, because connections stay open.
    bool is_public_only = false;
    /// With `is_public_only`: to which other addresses it connects nevertheless. Null = to none. It
    /// must not throw.
    std::function<bool(const std::string& address)> may_reach{};
};

struct HttpResponse {
    int status = 0;
    std::map<std::string, std::string>
        headers;  ///< lowercase names; the last of repeated headers wins
    std::string body;
    Duration elapsed{0};
};

/// The request got no complete response. `what()` says why, without the URL.
class HttpError : public std::runtime_error {
 public:
    enum class Kind {
        InvalidUrl,
        ConnectionFailed,  ///< no connection, or it broke: the server may or may not have
                           ///< acted
        TlsFailed,         ///< the server or the client was not authenticated; nothing was sent
        InvalidFile,       ///< a certificate or key cannot be read
        TimedOut,
        Stopped,
        ResponseTooLarge,
        InvalidResponse,  ///< the response cannot be decoded
        Unsupported,      ///< libcurl does not support this
        AddressRefused,   ///< the host has no address to which the request may go
    };

    HttpError(Kind kind, const std::string& message, bool was_connected = true)
        : std::runtime_error(message), kind_(kind), was_connected_(was_connected) {}

    Kind kind() const { return kind_; }

    /// False: there was never a connection, so the server has not seen the request.
    bool was_connected() const { return was_connected_; }

 private:
    Kind kind_;
    bool was_connected_;
};

/// The parts of an absolute URL that decide where a request goes.
struct UrlParts {
    std::string scheme;
    std::string host;  ///< lowercase
    std::string port;  ///< never empty
    std::string path;

    bool operator==(const UrlParts&) const = default;
};

/// Empty if `url` is not an absolute URL.
std::optional<UrlParts> parse_url(const std::string& url);

/// The URL to which `location` leads from `base`; empty if it is not a URL.
std::optional<std::string> resolve_url(const std::string& base, const std::string& location);

/// `url` without user, password, query and fragment, for logs and the history.
std::string public_url(const std::string& url);

/// Makes HTTP requests and keeps connections open for the next ones. Verifies certificates, follows
/// no redirects, stores no cookies, and reads neither ~/.netrc nor proxy variables. Thread-safe.
class HttpClient {
 public:
    HttpClient();
    ~HttpClient();

    /// Throws HttpError.
    HttpResponse perform(const HttpRequest& request);

 private:
    class Connection;
    class Pool;

    std::unique_ptr<Pool> pool_;
};

}  // namespace ebb
