#pragma once

#include <cstddef>
#include <filesystem>
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
        headers;  ///< their names and values are checked by the caller
    std::optional<std::string> body;
    std::string proxy;              ///< empty = none, whatever the environment says
    std::filesystem::path ca_file;  ///< empty = the system's
    std::filesystem::path client_cert;
    std::filesystem::path client_key;
    Duration timeout = std::chrono::seconds(30);
    Duration connect_timeout = std::chrono::seconds(10);
    std::size_t response_bytes_max = std::size_t{1} << 20;
    std::stop_token stop;
};

struct HttpResponse {
    int status = 0;
    std::map<std::string, std::string>
        headers;  ///< names in lower case; of one that comes twice the last
    std::string body;
    Duration elapsed{0};
};

/// No complete response was had. `what()` says why, without the URL.
class HttpError : public std::runtime_error {
 public:
    enum class Kind {
        InvalidUrl,
        ConnectionFailed,  ///< no connection, or it broke: nobody knows whether the server has
                           ///< acted
        TlsFailed,         ///< the server (or we) could not be authenticated; nothing was sent
        InvalidFile,       ///< a certificate or key cannot be read
        TimedOut,
        Stopped,
        ResponseTooLarge,
        InvalidResponse,  ///< it came, but cannot be decoded
        Unsupported,      ///< libcurl cannot do this at all
    };

    HttpError(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}

    Kind kind() const { return kind_; }

 private:
    Kind kind_;
};

/// The parts of an absolute URL that decide where a request goes.
struct UrlParts {
    std::string scheme;
    std::string host;  ///< lower case
    std::string port;  ///< always given
    std::string path;

    bool operator==(const UrlParts&) const = default;
};

/// Empty when `url` is not an absolute URL.
std::optional<UrlParts> parse_url(const std::string& url);

/// Where `location` leads from `base`; empty if it is not a URL.
std::optional<std::string> resolve_url(const std::string& base, const std::string& location);

/// `url` without user, password, query and fragment: what may be written into logs and the history.
std::string public_url(const std::string& url);

/// Makes HTTP requests and keeps connections for the next ones. Verifies certificates, follows no
/// redirects, stores no cookies, reads neither ~/.netrc nor proxy variables. Safe to call from
/// several threads at once.
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
