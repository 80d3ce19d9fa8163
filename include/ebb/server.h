#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ebb/time.h>

// The HTTP server of `ebb serve`, for a program that shows and steers its own engine: REST API,
// live streams, and the web UI if this build has it. Component ebb::server.

namespace ebb {

class AdminStore;
class Clock;
class Engine;
class LogSink;
class Store;

struct ServerOptions {
    /// `HOST:PORT` (port 0 = any free one), `[::1]:PORT`, `unix:PATH` or `fd:N`.
    std::vector<std::string> listen{"127.0.0.1:8322"};
    std::string tls_certificate{};  ///< files in PEM; both or none
    std::string tls_key{};
    /// Addresses or ranges such as `10.0.0.0/8`. Only they are served, and their X-Forwarded-Proto
    /// is believed.
    std::vector<std::string> behind_proxy{};
    bool allows_plaintext = false;  ///< off loopback without TLS and without a proxy
    bool needs_login = true;        ///< false is refused off loopback
    std::string base_path = "/";    ///< everything is below it: `/`, `/ebb/`
    /// Names of the server besides `localhost` and addresses; others get 421.
    std::vector<std::string> allowed_hosts{};
    int http_threads = 2;
    int api_threads = 8;          ///< requests that use the store at once
    std::size_t api_queue = 256;  ///< requests that wait for one of those
    /// Of each token or person, with bursts of twice as many; 0 = no limit. More gets 429.
    int requests_per_second = 1'000;
    std::string title{};      ///< shown by the UI
    bool has_worker = false;  ///< said by the API: whether the engine runs handlers
    /// Where tokens and sessions are kept; null = in this process, until it ends. Must outlive the
    /// server. Ebb's own programs have those of SQLite and PostgreSQL.
    AdminStore* admin = nullptr;
    Clock* clock = nullptr;  ///< null = the system's; must outlive the server
    LogSink* log = nullptr;  ///< null = silent; must outlive the server
};

/// Throws what the constructor of Server would throw for these options. Neither listens nor asks a
/// store, so an address that is in use is not noticed.
void check_server_options(const ServerOptions& options);

/// Serves one engine. Thread-safe. The engine and the stores must outlive it.
class Server {
 public:
    /// Binds at once. To be made before Engine::run and before the first instance: it observes the
    /// engine. `reads` is what the API reads through, so that no dashboard slows a commit; it may
    /// be `store` itself. Throws Error with InvalidArgument for an address that it cannot listen
    /// on, and where the options would let anybody in: off loopback it needs a login, and TLS, a
    /// proxy, or `allows_plaintext`.
    Server(Engine& engine, Store& store, Store& reads, const ServerOptions& options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void start();
    /// Reads the certificate and the key again, and takes over `allowed_hosts` and
    /// `requests_per_second`; everything else stays as it is. Connections that are open go on.
    /// Throws Error, having changed nothing, when the certificate cannot be used.
    void reload(const ServerOptions& options);
    /// Where it listens, with the ports that were chosen.
    std::vector<std::string> addresses() const;
    /// `http://127.0.0.1:8322/`, or with `https`.
    std::string url() const;
    /// A link that logs `user` in once, within 10 minutes. `role`: `viewer`, `approver`,
    /// `operator`, `developer`, `admin`.
    std::string login_link(const std::string& user, const std::string& role);
    /// /readyz says from now on that the server shuts down; waits and streams end. Connections
    /// still come in, so that a load balancer has time to notice.
    void begin_drain();
    /// Accepts nothing more and lets what is under way finish within `limit`. True when all did.
    bool drain(Duration limit);

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb
