#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include <openssl/types.h>

#include "server/http/http.h"
#include "server/http/listening.h"
#include "support/sync.h"

namespace boost::asio {
class io_context;

namespace ssl {
class context;
}
}  // namespace boost::asio

namespace ebb::http {

/// What the server can ask of a connection, from any thread.
class LiveConnection {
 public:
    virtual ~LiveConnection() = default;
    /// Of one that waits for its next request. `has_served`: only if it has had a request before.
    enum class Idle { HasServed, Any };
    virtual void close_if_idle(Idle which) = 0;
    virtual void close_now() = 0;
};

/// What all connections of a server share.
class Hall {
 public:
    explicit Hall(ServerOptions server_options) : options(std::move(server_options)) {}

    /// Counts a connection. False: there are too many, or too many from this address.
    bool enter(const std::string& address);
    void leave(const std::string& address, const LiveConnection* connection);
    void add(const std::shared_ptr<LiveConnection>& connection);

    /// Calls `each` for every living connection.
    void for_each(const std::function<void(LiveConnection&)>& each);

    /// A connection counts as busy until it can bring no request any more, and has the answer to
    /// its last one: a request may be on its way on every other one.
    void begin_busy();
    void end_busy();
    bool wait_for_requests(std::chrono::milliseconds limit);
    /// Until no connection is left, for at most `limit`.
    void wait_until_empty(std::chrono::milliseconds limit);

    Limits::Milliseconds idle_timeout() const;

    const ServerOptions options;
    std::atomic<std::size_t> open{0};
    std::atomic<std::size_t> streams{0};
    std::atomic<std::uint64_t> accepted{0};
    std::atomic<std::uint64_t> refused{0};
    /// The outcome of connections in a drain. Each phase includes those before it.
    enum class Drain {
        None,
        Answers,  ///< the next answer of each connection is its last one
        Used,     ///< connections that have had an answer and bring nothing new are closed
        All,      ///< so are those that have never brought a request
    };

    bool is_draining() const { return drain != Drain::None; }

    std::atomic<Drain> drain{Drain::None};

 private:
    Mutex mutex_;
    CondVar changed_;
    std::size_t busy_ EBB_GUARDED_BY(mutex_) = 0;
    std::map<std::string, std::size_t> by_address_ EBB_GUARDED_BY(mutex_);
    std::unordered_map<const LiveConnection*, std::weak_ptr<LiveConnection>> connections_
        EBB_GUARDED_BY(mutex_);
};

/// Serves the connection on `descriptor`, which it owns from now on, until it ends. Without `tls`
/// in plain text. The caller has entered the hall for it.
void serve_connection(
    boost::asio::io_context& io,
    FileDescriptor descriptor,
    Peer peer,
    std::shared_ptr<Hall> hall,
    std::shared_ptr<boost::asio::ssl::context> tls
);

/// Of the client at the other end; null if it has presented none. After the handshake.
std::shared_ptr<const ClientCertificate> client_certificate(const SSL& connection);

/// Throws Error with InvalidArgument when the files cannot be used.
std::shared_ptr<boost::asio::ssl::context> make_tls_context(const TlsFiles& files);

/// When the certificate of such a context expires.
std::chrono::system_clock::time_point expiry_of(boost::asio::ssl::context& tls);

}  // namespace ebb::http
