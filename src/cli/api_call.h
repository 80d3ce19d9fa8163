#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/streams.h"
#include "handlers/http_client.h"

namespace ebb::cli {

/// Where a server listens.
struct ServerAddress {
    std::string url;     ///< without a slash at its end: `https://ebb.example.com/base`
    std::string socket;  ///< the path of a Unix socket; empty = TCP
    std::string
        ca_file;  ///< of the certificates that may have signed its own; empty = the system's
    std::string client_cert;  ///< PEM file of the certificate that logs in; empty = none
    std::string client_key;   ///< PEM file of its key; empty = in the file of the certificate

    bool operator==(const ServerAddress&) const = default;
};

/// Reads `http://...`, `https://...` or `unix:PATH`. Throws Error with InvalidArgument.
ServerAddress parse_server(std::string_view text);

/// The token of EBB_TOKEN, or of the file that EBB_TOKEN_FILE names; empty if there is neither.
/// Throws Error with InvalidArgument for a file that cannot be read or that all users can read.
std::string read_token(const CliStreams& streams);

/// The parameters of a URL.
class UrlQuery {
 public:
    UrlQuery& add(std::string_view name, std::string_view value);

    /// With the `?`; empty if there are none.
    const std::string& text() const { return text_; }

 private:
    std::string text_;
};

/// Escapes everything that is not plain in a segment of a URL's path.
std::string escape_segment(std::string_view text);

/// Makes requests to the API of one server. Keeps its connection. Throws Error for problems, with
/// the code that the server's own error had; a server that does not answer is StoreUnavailable, and
/// one that may have acted without answering is StoreInDoubt.
class ApiCalls {
 public:
    ApiCalls(ServerAddress address, std::string token);

    struct Answer {
        int status = 0;
        std::string body;
        std::string etag;
    };

    /// `path` begins behind /api/v1. `etag`: answered with 304 if it is still current.
    Answer get(const std::string& path, const std::string& etag = {});

    struct Message {
        std::string method = "POST";
        std::string path;
        std::string body;  ///< JSON; empty = none
        std::string if_match;
        Duration timeout = std::chrono::seconds(60);
    };

    Answer send(const Message& message);

    const ServerAddress& address() const { return address_; }

 private:
    Answer perform(HttpRequest request);

    ServerAddress address_;
    std::string token_;
    HttpClient client_;
};

}  // namespace ebb::cli
