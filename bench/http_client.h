#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::bench {

struct HttpAnswer {
    int status = 0;
    std::string head;
    std::string body;

    /// The value of a header, whose name is given in lower case; empty if there is none.
    std::string header(std::string_view name) const;
};

/// One connection to a server at 127.0.0.1, which stays open between requests. Blocks, and throws
/// std::runtime_error if the connection breaks.
class HttpClient {
 public:
    /// `headers`: lines that each request has, each with its "\r\n".
    explicit HttpClient(int port, std::string headers = {});
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    ~HttpClient();

    HttpAnswer get(std::string_view path) { return send("GET", path, {}); }

    /// A JSON body, or lines of JSON.
    HttpAnswer post(
        std::string_view path,
        std::string_view body,
        std::string_view type = "application/json",
        std::string_view method = "POST"
    );
    /// The same, but throws unless the status is `status`.
    HttpAnswer require(HttpAnswer answer, int status) const;

 private:
    HttpAnswer send(std::string_view method, std::string_view path, std::string_view rest);

    int port_;
    std::string headers_;
    int socket_ = -1;
    std::string buffer_;
};

/// A connected socket. `source`: the client's own address, because a server limits the connections
/// of one address; 0 = any.
int connect_loopback(int port, std::uint32_t source = 0);

}  // namespace ebb::bench
