#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

// HTTP/1.1 as the rest of the server sees it. Which library speaks it is known in this folder only.

namespace ebb::http {

struct Header {
    std::string name;
    std::string value;

    bool operator==(const Header&) const = default;
};

/// Whether two names of headers are the same: they do not depend on case.
bool is_same_name(std::string_view left, std::string_view right);

/// A whole request: it is read before anybody sees it.
struct Request {
    std::string method;
    std::string target;  ///< as it stands in the request line, in origin form
    std::string path;    ///< the target up to `?`, still percent-encoded
    std::string query;   ///< what follows `?`
    std::vector<Header> headers;
    std::string body;
    std::string remote;          ///< the peer's address; `unix:UID` for a Unix socket
    bool is_tls = false;         ///< the connection is encrypted
    bool is_loopback = false;    ///< the peer is this machine
    std::size_t head_bytes = 0;  ///< of request line and headers

    /// The value of the first such header; empty if there is none.
    std::string_view header(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::vector<Header> headers{};
    std::string body{};
    bool closes = false;  ///< the connection ends after it

    void set(std::string_view name, std::string value);
};

/// The body of a response that goes on. Thread-safe; every call returns at once.
class Stream {
 public:
    virtual ~Stream() = default;

    /// Adds to what is to be written. False if the stream is closed, or if it is backed up: then
    /// nothing was added.
    virtual bool send(std::string bytes) = 0;
    /// What was sent is still written, and then the response is complete.
    virtual void close() = 0;
    /// The client has gone, or the stream was closed.
    virtual bool is_closed() const = 0;
};

/// Answers one request, once, from any thread. If the last copy goes without an answer, the client
/// gets a 500.
class Responder {
 public:
    /// What a connection does about it.
    class Sink {
     public:
        virtual ~Sink() = default;
        virtual void respond(Response response) = 0;
        virtual std::shared_ptr<Stream> stream(Response head) = 0;
        virtual bool is_gone() const = 0;
    };

    explicit Responder(std::shared_ptr<Sink> sink) : sink_(std::move(sink)) {}

    void operator()(Response response) const { sink_->respond(std::move(response)); }

    /// Sends the head and leaves the body open.
    std::shared_ptr<Stream> stream(Response head) const { return sink_->stream(std::move(head)); }

    /// Nobody waits for the answer any more.
    bool is_gone() const { return sink_->is_gone(); }

 private:
    std::shared_ptr<Sink> sink_;
};

/// Called on an I/O thread with every whole request; must not block.
using Handler = std::function<void(Request, Responder)>;

/// Named bounds of a connection.
struct Limits {
    using Milliseconds = std::chrono::milliseconds;

    std::size_t connections_max = 4'096;
    std::size_t connections_per_address_max = 256;
    std::size_t request_line_bytes_max = std::size_t{8} << 10;
    std::size_t head_bytes_max = std::size_t{16} << 10;
    std::size_t headers_max = 64;
    std::size_t stream_bytes_max = std::size_t{256} << 10;  ///< not yet written, of one stream
    int requests_per_connection_max = 10'000;
    Milliseconds handshake_timeout{5'000};
    Milliseconds head_timeout{10'000};  ///< from its first byte; not reset by further ones
    Milliseconds body_timeout{30'000};  ///< and one second more for each 16 KiB declared
    Milliseconds idle_timeout{60'000};
    Milliseconds busy_idle_timeout{5'000};  ///< instead, if 80 % of the connections are used
    Milliseconds write_timeout{30'000};
    Milliseconds stream_write_timeout{20'000};
    Milliseconds linger{2'000};  ///< reading on after a refusal, so that the client sees it
};

/// Why a request was refused before any handler saw it.
struct Refusal {
    int status = 400;
    std::string code;    ///< of the problem: `bad_request`, `headers_too_large`, ...
    std::string detail;  ///< a sentence
};

struct TlsFiles {
    std::string certificate;
    std::string key;
    bool is_tls13_only = false;
};

/// Throws Error with InvalidArgument when the files cannot be used.
void check_tls(const TlsFiles& files);

/// Where to listen: `HOST:PORT`, `[::1]:PORT`, `unix:PATH` or `fd:N`.
struct Endpoint {
    enum class Kind { Tcp, Unix, Descriptor };

    Kind kind = Kind::Tcp;
    std::string host;  ///< of Tcp: a numeric address, or `localhost`; of Unix the path
    std::uint16_t port = 0;
    int descriptor = -1;

    /// Nobody but this machine can connect.
    bool is_local() const;
};

/// Throws Error with InvalidArgument.
Endpoint parse_endpoint(std::string_view text);

struct ServerOptions {
    std::vector<Endpoint> listen;
    int threads = 2;
    Limits limits{};
    std::vector<TlsFiles> tls{};  ///< none = plain text
    Handler handler{};
    /// How large the body of this request may be; its `body` is still empty. 0 = it has none.
    std::function<std::size_t(const Request& head)> body_bytes_max{};
    /// How a refusal is answered.
    std::function<Response(const Refusal& refusal, const std::string& remote)> refuse{};
};

struct ConnectionCounts {
    std::size_t open = 0;
    std::size_t streams = 0;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  ///< connections, because there were too many
};

/// Listens and serves. Thread-safe.
class Server {
 public:
    /// Binds and listens at once. Throws Error with InvalidArgument where it cannot.
    explicit Server(ServerOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Begins to accept.
    void start();
    /// Where it listens, with the ports that were chosen: `127.0.0.1:8322`.
    std::vector<std::string> addresses() const;
    /// Reads the certificates again; connections from now on use them. Throws Error if they cannot
    /// be used, and goes on with the old ones.
    void reload_tls(const std::vector<TlsFiles>& files);
    /// Accepts no more connections, and closes those that are idle.
    void stop_accepting();
    /// Waits until no request is under way, for at most `limit`. True if none is.
    bool wait_for_requests(std::chrono::milliseconds limit);
    /// Ends all connections and threads. Idempotent.
    void stop();

    ConnectionCounts counts() const;
    /// Whether every I/O thread has done something within `limit`: for health checks.
    bool is_ticking(std::chrono::milliseconds limit) const;

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb::http
