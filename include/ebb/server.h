#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ebb/definition.h>
#include <ebb/error.h>
#include <ebb/time.h>

// The HTTP server behind `ebb serve`, for a program that shows and controls its own engine: REST
// API, live streams, and the web UI if this build has it. Component ebb::server.

namespace ebb {

class AdminStore;
class Clock;
class Engine;
class LogSink;
class Metrics;
class SecretBox;
class Store;
class Telemetry;

/// A file of a folder of definitions, and its outcome.
struct DefinitionFileReport {
    std::string file;
    /// `registered`, `invalid`, `refused` (the store has other content under this version),
    /// `unreadable`, or `gone` (it is not in the folder any more).
    std::string state;
    std::string workflow{};  ///< empty if the file could not be read so far
    int version = 0;         ///< 0 = unknown
    std::string message{};   ///< why it is not registered
    std::vector<Diagnostic> problems{};
    TimePoint since{};
};

/// A setting of the program that serves, for the API.
struct SettingReport {
    std::string key;
    std::string value{};   ///< empty = the default; never a secret
    std::string origin{};  ///< `default`, `flag`, `environment` or `file`
    std::string place{};   ///< the variable, or FILE:LINE:COLUMN; empty for the other origins
    std::string about{};
    bool is_live = false;        ///< a reload applies it
    bool needs_restart = false;  ///< it was changed since the start, and a restart will apply that
};

/// The settings of the program that serves, and how it last read them.
struct ConfigReport {
    std::vector<SettingReport> settings{};
    TimePoint loaded_at{};  ///< when the settings were read last, and accepted
    std::string error{};    ///< why the settings of now are refused; empty if they are not
};

/// What a reload of the settings has done.
struct ReloadReport {
    std::vector<std::string> changed{};        ///< settings whose new values are in force
    std::vector<std::string> applied{};        ///< `queues mail`: what the file declares now
    std::vector<std::string> removed{};        ///< what it does not declare any more
    std::vector<std::string> needs_restart{};  ///< settings that were changed since the start
};

/// Something in the file of the settings is not valid.
class ConfigError : public Error {
 public:
    /// `place` is FILE:LINE:COLUMN.
    ConfigError(std::string place, const std::string& what)
        : Error(ErrorCode::InvalidArgument, place + ": " + what), place_(std::move(place)) {}

    const std::string& place() const { return place_; }

 private:
    std::string place_;
};

/// The headers in which a trusted proxy names the user who is logged in.
struct ProxyLogin {
    std::string user_header = "X-Forwarded-User";
    std::string groups_header = "X-Forwarded-Groups";  ///< names between commas
    std::string email_header = "X-Forwarded-Email";
    /// At least 16 bytes. The headers count only if the proxy sends it in `X-Ebb-Proxy-Secret`.
    std::string secret{};
};

/// An OpenID provider that logs people in (OpenID Connect: authorization code with PKCE). Its
/// people have the principal `user:SUB@ISSUER`, and the grants of that and of their groups.
struct OidcLogin {
    /// As the provider's tokens name it: `https://login.example.com`. Plain http is only for
    /// loopback.
    std::string issuer{};
    std::string client_id{};      ///< of this server
    std::string client_secret{};  ///< empty = a public client
    std::string name{};           ///< of the provider, on the login page; empty = its host
    std::vector<std::string> scopes{"openid", "profile", "email"};
    /// The claim with the groups: a name, or a JSON pointer such as `/realm_access/roles`.
    std::string groups_claim = "groups";
    /// Access tokens of the provider for this audience are accepted as bearer tokens; empty = none
    /// are.
    std::string audience{};
    std::string ca_file{};  ///< PEM certificates that prove the provider; empty = the system's
};

/// A link of the UI from an instance to another system: its logs, its trace, its customer.
struct PageLink {
    std::string name{};  ///< as the UI shows it; 1 to 64 bytes
    /// `http` or `https`. `${instance.id}`, `trace_id`, `workflow`, `version`, `key` and
    /// `created_at` of `instance` are replaced, percent-encoded.
    std::string url{};
};

struct ServerOptions {
    /// `HOST:PORT` (port 0 = any free one), `[::1]:PORT`, `unix:PATH` or `fd:N`.
    std::vector<std::string> listen{"127.0.0.1:8322"};
    std::string tls_certificate{};  ///< PEM files; give both or neither
    std::string tls_key{};
    /// PEM certificates of authorities. A client that presents a certificate which one of them has
    /// signed is logged in as `cert:NAME`: the first URI, else the first DNS name, else the first
    /// mail address among its subject alternative names. Others log in as without. Needs
    /// `tls_certificate`. Empty = no client is asked for a certificate.
    std::string tls_client_ca{};
    /// Addresses or ranges such as `10.0.0.0/8`. If any are given, the server accepts only
    /// connections from them, and trusts their X-Forwarded-Proto.
    std::vector<std::string> behind_proxy{};
    bool allows_plaintext = false;  ///< off loopback without TLS and without a proxy
    bool needs_login = true;        ///< false is allowed on loopback only
    /// A proxy logs people in and names them in headers. Needs `behind_proxy`; other peers are not
    /// believed.
    std::optional<ProxyLogin> proxy_login{};
    /// An OpenID provider logs people in. Needs `needs_login`.
    std::optional<OidcLogin> oidc{};
    /// Where browsers find this server: `https://ebb.example.com`, without the base path. Empty =
    /// the scheme and the host of each request.
    std::string public_url{};
    std::string base_path = "/";  ///< everything is below it: `/`, `/ebb/`
    /// Names of the server besides `localhost` and addresses. Requests for other names get 421.
    std::vector<std::string> allowed_hosts{};
    /// Origins such as `https://app.example.com`, whose pages may call the API with a token, and
    /// read the answers. Cookies and all other logins of such pages are refused. Needs
    /// `needs_login`.
    std::vector<std::string> cors_origins{};
    int http_threads = 2;
    /// Open connections, streams included. Further ones wait until one of them closes.
    std::size_t connections_max = 4'096;
    int api_threads = 8;          ///< requests that use the store at the same time
    std::size_t api_queue = 256;  ///< requests that wait for one of those
    /// The limit for each token or person, with bursts of twice as many; 0 = no limit. Further
    /// requests get 429.
    int requests_per_second = 1'000;
    /// Members of payloads with these names are shown only with the permission
    /// `payloads.sensitive`; none = `password`, `secret`, `token` and others.
    std::optional<std::vector<std::string>> redact_names{};
    /// The same of values at places: `WORKFLOW:/POINTER`, such as `order:/card/number`.
    std::vector<std::string> redact_pointers{};
    bool hides_payloads = false;    ///< only the sizes of payloads are shown
    std::string title{};            ///< shown by the UI
    std::vector<PageLink> links{};  ///< on the page of each instance; at most 16
    bool has_worker = false;        ///< whether the engine runs handlers; the API reports it
    bool is_dev = false;            ///< a developer's own; the API and the UI say so
    /// Where tokens and sessions are kept; null = in this process, until it ends. Must outlive the
    /// server. The `ebb` command keeps them in SQLite or PostgreSQL.
    AdminStore* admin = nullptr;
    Clock* clock = nullptr;  ///< null = the system clock; must outlive the server
    LogSink* log = nullptr;  ///< null = silent; must outlive the server
    /// <ebb/metrics.h>: the server adds what it knows of itself, its engine and its stores, and
    /// answers with all of it at /metrics. Null = there is no /metrics; must outlive the server.
    Metrics* metrics = nullptr;
    /// Seals the secrets in the store; null = they are in clear text. Must outlive the server.
    const SecretBox* box = nullptr;
    /// <ebb/telemetry.h>: requests get spans, and the calls of remote workers, too. Give it to the
    /// engine as well (Engine::add_observer). Null = none.
    std::shared_ptr<Telemetry> telemetry{};
    /// /metrics needs no login. Otherwise it needs the permission `stats.read`, which a token with
    /// the role `viewer` has.
    bool has_public_metrics = false;
    /// The files of a folder of definitions, for the API; null = there is no such folder. Called
    /// from any thread.
    std::function<std::vector<DefinitionFileReport>()> definition_files{};
    /// The settings of this program, for administrators; null = it shows none. Called from any
    /// thread.
    std::function<ConfigReport()> config{};
    /// Reads the settings of this program again, and applies them; null = it cannot. Called from
    /// any thread. Throws Error and applies nothing if they are not valid.
    std::function<ReloadReport()> reload{};
    /// The secrets of a hook whose settings name a file, one on each line; null = no hook may name
    /// one. Called from any thread, for each event; throws Error if there is none.
    std::function<std::string(const std::string& name)> hook_secret{};
};

/// Throws what the constructor of Server would throw for these options. Neither listens nor calls a
/// store, so it does not detect an address that is in use.
void check_server_options(const ServerOptions& options);

/// Serves one engine. Thread-safe. The engine and the stores must outlive it.
class Server {
 public:
    /// Binds immediately. Construct it before Engine::run and before the first instance, because it
    /// observes the engine. The API reads through `reads`, so that dashboards do not slow commits;
    /// it may be `store` itself. Throws Error with InvalidArgument if it cannot listen on an
    /// address, and if the options would leave the server open to everyone: off loopback it needs a
    /// login, and TLS, a proxy, or `allows_plaintext`.
    Server(Engine& engine, Store& store, Store& reads, const ServerOptions& options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void start();
    /// Reads the TLS files again, and applies `allowed_hosts` and
    /// `requests_per_second`; all other options stay as they are. Open connections continue. If the
    /// certificate cannot be used, throws Error and changes nothing.
    void reload(const ServerOptions& options);
    /// What /livez says: all threads have done something within 10 s. Asks no store.
    bool is_alive() const;
    /// Its counters at this moment, by name, for logs.
    std::vector<std::pair<std::string, std::int64_t>> state() const;

    /// A request or a stream that is not answered or ended yet.
    struct OpenRequest {
        static constexpr std::size_t kShownMax = 64;

        std::string method{};  ///< `GET`, ..., or `_OTHER`
        std::string route{};   ///< the template of the path: no name, no key and no query is in it
        Duration age{};
    };

    /// The oldest of them, at most OpenRequest::kShownMax.
    std::vector<OpenRequest> open_requests() const;
    /// The addresses on which the server listens, with the ports that were chosen.
    std::vector<std::string> addresses() const;
    /// `http://127.0.0.1:8322/`, or with `https`; `unix:PATH` if it listens on nothing else.
    std::string url() const;
    /// A link that logs `user` in once, within 10 minutes. `role`: `viewer`, `approver`,
    /// `operator`, `developer`, `admin`. Empty if no browser can open `url()`.
    std::string login_link(const std::string& user, const std::string& role);
    /// From now on, /readyz says that the server is shutting down, and waits and streams end. The
    /// server still accepts connections, so that a load balancer has time to notice.
    void begin_drain();
    /// Stops accepting requests and lets the current ones finish within `limit`. True if all of
    /// them did.
    bool drain(Duration limit);

 private:
    class Core;
    std::unique_ptr<Core> core_;
};

}  // namespace ebb
