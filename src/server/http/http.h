#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// HTTP/1.1 as the rest of the server sees it. Only this folder knows which library implements it.

namespace ebb::http {

struct Header {
    std::string name;
    std::string value;

    bool operator==(const Header&) const = default;
};

/// Whether two header names are the same, ignoring case.
bool is_same_name(std::string_view left, std::string_view right);

/// The certificate of a client, which an authority that the server trusts has signed.
struct ClientCertificate {
    /// Of its subject alternative names the first URI, else the first DNS name, else the first mail
    /// address; empty if it has none that can be shown.
    std::string name;
    std::chrono::system_clock::time_point expires_at{};
};

/// A whole request. It is read completely before a handler sees it.
struct Request {
    std::string method;
    std::string target;  ///< as in the request line, in origin form
    std::string path;    ///< the target up to `?`, still percent-encoded
    std::string query;   ///< the part after `?`
    std::vector<Header> headers;
    std::string body;
    std::string remote;          ///< the peer's address; `unix:UID` for a Unix socket
    bool is_tls = false;         ///< the connection is encrypted
    bool is_loopback = false;    ///< the peer is this machine
    std::size_t head_bytes = 0;  ///< of request line and headers
    std::shared_ptr<const ClientCertificate> certificate{};  ///< null = the client has none

    /// The value of the first header with this name; empty if there is none.
    std::string_view header(std::string_view name) const;
    /// How many headers have this name.
    std::size_t count(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::vector<Header> headers{};
    std::string body{};
    bool closes = false;  ///< the connection ends after it
    /// More headers, as they are sent: whole lines that many responses share. The text lives
    /// forever.
    std::string_view header_lines{};

    void set(std::string_view name, std::string value);
};

/// The body of a response that continues. Thread-safe; every call returns immediately.
class Stream {
 public:
    virtual ~Stream() = default;

    /// Queues data to write. If the stream is closed or backed up, adds nothing and returns false.
    virtual bool send(std::string bytes) = 0;
    /// Ends the response after the queued data has been written.
    virtual void close() = 0;
    /// True if the client has gone or the stream was closed.
    virtual bool is_closed() const = 0;
};

/// Answers one request, once, from any thread. If the last copy is destroyed without an answer, the
/// client gets a 500.
class Responder {
 public:
    /// What a connection does to send an answer.
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

    /// True if the client no longer waits for the answer.
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
    std::size_t stream_bytes_max = std::size_t{256} << 10;  ///< unwritten data of one stream
    int requests_per_connection_max = 10'000;
    Milliseconds handshake_timeout{5'000};
    Milliseconds head_timeout{10'000};  ///< from the first byte; later bytes do not reset it
    Milliseconds body_timeout{30'000};  ///< plus one second for each declared 16 KiB
    Milliseconds idle_timeout{60'000};
    Milliseconds busy_idle_timeout{5'000};  ///< used instead if 80 % of the connections are in use
    Milliseconds write_timeout{30'000};
    Milliseconds stream_write_timeout{20'000};
    Milliseconds linger{2'000
    };  ///< time to keep reading after a refusal, so that the client sees it
};

/// The reason why a request was refused before a handler saw it.
struct Refusal {
    int status = 400;
    std::string code;    ///< the problem's code: `bad_request`, `headers_too_large`, ...
    std::string detail;  ///< a sentence
};

struct TlsFiles {
    std::string certificate;
    std::string key;
    bool is_tls13_only = false;
    std::string client_ca{};  ///< authorities of client certificates; empty = none is asked for
};

/// Throws Error with InvalidArgument if the files cannot be used.
void check_tls(const TlsFiles& files);

/// An address to listen on: `HOST:PORT`, `[::1]:PORT`, `unix:PATH`,
/// `unix:PATH?mode=0660&group=NAME` or `fd:N`.
struct Endpoint {
    enum class Kind { Tcp, Unix, Descriptor };

    Kind kind = Kind::Tcp;
    std::string host;  ///< Tcp: a numeric address or `localhost`; Unix: the path
    std::uint16_t port = 0;
    int descriptor = -1;
    std::optional<unsigned> mode{};  ///< Unix: the permissions of the file; none = of the umask
    std::string group{};             ///< Unix: the group of the file; empty = of the process

    /// As parse_endpoint() reads it.
    std::string name() const;

    /// True if only this machine can connect. For `fd:N`, the address of the socket decides.
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
    /// The largest allowed body of this request, whose `body` is still empty. 0 = no body.
    std::function<std::size_t(const Request& head)> body_bytes_max{};
    /// Creates the answer to a refused request.
    std::function<Response(const Refusal& refusal, const std::string& remote)> refuse{};
};

struct ConnectionCounts {
    std::size_t open = 0;
    std::size_t streams = 0;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;  ///< connections refused because there were too many
};

/// Listens and serves. Thread-safe.
class Server {
 public:
    /// Binds and listens immediately. Throws Error with InvalidArgument if it cannot.
    explicit Server(ServerOptions options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Begins to accept connections.
    void start();
    /// The addresses on which it listens, with the ports that were chosen: `127.0.0.1:8322`.
    std::vector<std::string> addresses() const;
    /// Reads the certificates again; connections from now on use them. If they cannot be used,
    /// throws Error and keeps the old ones.
    void reload_tls(const std::vector<TlsFiles>& files);
    /// Stops accepting connections and closes idle ones.
    void stop_accepting();
    /// Waits at most `limit` until all current requests have ended. True if they have.
    bool wait_for_requests(std::chrono::milliseconds limit);
    /// Ends all connections and threads. Idempotent.
    void stop();

    ConnectionCounts counts() const;
    /// When the certificate that new connections get expires; none without TLS.
    std::optional<std::chrono::system_clock::time_point> certificate_expires_at() const;
    /// Whether every I/O thread has done something within `limit`: for health checks.
    bool is_ticking(std::chrono::milliseconds limit) const;

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb::http
