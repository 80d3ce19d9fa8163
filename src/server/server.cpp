#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <ebb/engine.h>
#include <ebb/metrics.h>
#include <ebb/server.h>
#include <ebb/telemetry.h>

#include "server/api/api.h"
#include "server/api/failed_logins.h"
#include "server/api/sign_in.h"
#include "server/auth/access.h"
#include "server/live/hub.h"
#include "server/openapi.h"
#include "server/page_links.h"
#include "server/remote/desk.h"
#include "server/server_metrics.h"
#include "server/start_rules.h"
#include "support/json.h"
#include "support/sha256.h"
#include "support/warning_limit.h"
#include "view/payload_json.h"

namespace ebb {

namespace {

using server::Access;
using server::Api;
using server::Hub;

/// An I/O thread that has done nothing for so long is stuck.
constexpr auto kStuckAfter = std::chrono::seconds(10);

const Clock& system_clock() {
    static const SystemClock clock;
    return clock;
}

/// The characters of a name of a header (RFC 9110, token).
bool is_header_name(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    });
}

void check_proxy_login(const ServerOptions& options) {
    if (!options.proxy_login) return;
    for (const std::string* name :
         {&options.proxy_login->user_header, &options.proxy_login->groups_header}) {
        if (name->empty() || is_header_name(*name)) continue;
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("\"{}\" is not the name of a header.", clean_text(*name, 100))
        );
    }
    if (options.behind_proxy.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            "A login by a proxy needs --behind-proxy: only the proxy's addresses are believed."
        );
    }
    constexpr std::size_t kSecretBytesMin = 16;
    if (options.proxy_login->secret.size() < kSecretBytesMin) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("The secret of the proxy has less than {} bytes.", kSecretBytesMin)
        );
    }
}

void check_oidc(const ServerOptions& options) {
    server::check_public_url(options.public_url);
    if (!options.oidc) return;
    server::oidc::check_oidc_login(*options.oidc);
    if (options.needs_login) return;
    throw Error(
        ErrorCode::InvalidArgument,
        "Without a login (--no-auth) there is no login by OIDC: leave one of them out."
    );
}

void check_cors(const ServerOptions& options) {
    for (const std::string& origin : options.cors_origins) {
        try {
            server::check_origin(origin);
        } catch (const Error& error) {
            throw Error(error.code(), fmt::format("--cors-origins: {}", error.what()));
        }
    }
    if (options.cors_origins.empty() || options.needs_login) return;
    throw Error(
        ErrorCode::InvalidArgument,
        "Pages of other origins log in by a token, and with --no-auth there is no login: leave "
        "--cors-origins or --no-auth out."
    );
}

/// With the name in the public URL.
std::vector<std::string> allowed_hosts(const ServerOptions& options) {
    std::vector<std::string> hosts = options.allowed_hosts;
    const std::size_t slashes = options.public_url.find("://");
    if (slashes == std::string::npos) return hosts;
    const std::string_view rest = std::string_view(options.public_url).substr(slashes + 3);
    hosts.emplace_back(server::host_name(rest.substr(0, rest.find('/'))));
    return hosts;
}

http::TlsFiles tls_files(const ServerOptions& options) {
    return {
        .certificate = options.tls_certificate,
        .key = options.tls_key,
        .client_ca = options.tls_client_ca,
    };
}

std::vector<http::Endpoint> parse_endpoints(const ServerOptions& options) {
    std::vector<http::Endpoint> endpoints;
    for (const std::string& text : options.listen) endpoints.push_back(http::parse_endpoint(text));
    if (endpoints.empty()) {
        throw Error(ErrorCode::InvalidArgument, "A server needs an address to listen on.");
    }
    server::check_start_rules(options, endpoints);
    check_proxy_login(options);
    check_oidc(options);
    server::check_page_links(options.links);
    check_cors(options);
    return endpoints;
}

/// Clients cause warnings as often as they like.
std::unique_ptr<LogSink> limited_log(LogSink* log, const Clock& clock) {
    if (log == nullptr) return nullptr;
    return std::make_unique<WarningLimit>(*log, clock, std::chrono::seconds(1));
}

/// `/ebb/` as `/ebb`, and `/` as nothing.
std::string base_of(std::string path) {
    while (path.ends_with('/')) path.pop_back();
    const bool is_path = path.empty() || path.front() == '/';
    const bool is_safe = std::all_of(path.begin(), path.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               c == '/' || c == '-' || c == '_' || c == '.';
    });
    // Clients and proxies resolve these two, so no request would ever have them.
    const bool has_dots = (path + "/").find("/./") != std::string::npos ||
                          (path + "/").find("/../") != std::string::npos;
    if (is_path && is_safe && !has_dots && path.find("//") == std::string::npos) return path;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("\"{}\" is not a base path such as / or /ebb/.", path)
    );
}

server::RedactionRules redaction_rules(const ServerOptions& options) {
    server::RedactionRules rules{
        .names = options.redact_names.value_or(server::RedactionRules::default_names()),
        .places = {},
        .hides_payloads = options.hides_payloads,
    };
    for (const std::string& text : options.redact_pointers) {
        rules.places.push_back(server::parse_redacted_place(text));
    }
    return rules;
}

server::Redaction::DefinitionText definitions_of(Store& store) {
    return [&store](const std::string& name, int version) -> std::optional<std::string> {
        auto row = store.find_workflow(name, version);
        if (!row) return std::nullopt;
        return std::move(row->definition);
    };
}

/// Those who want to hear of what this process commits, until the server goes away.
struct Listeners {
    std::atomic<Hub*> hub{nullptr};
    std::atomic<server::WorkerDesk*> desk{nullptr};
};

class ListenersObserver : public Observer {
 public:
    explicit ListenersObserver(std::shared_ptr<Listeners> listeners)
        : listeners_(std::move(listeners)) {}

    void on_committed(
        const InstanceSummary& instance, std::span<const HistoryEntry> /*events*/
    ) override {
        if (Hub* hub = listeners_->hub) hub->note(instance);
        if (server::WorkerDesk* desk = listeners_->desk) desk->note_commit();
    }

 private:
    std::shared_ptr<Listeners> listeners_;
};

}  // namespace

class Server::Core {
 public:
    Core(Engine& engine, Store& store, Store& reads, const ServerOptions& options)
        : options_(options),
          endpoints_(parse_endpoints(options)),
          clock_(options.clock != nullptr ? *options.clock : system_clock()),
          log_(limited_log(options.log, clock_)),
          failed_logins_(log_.get()),
          own_admin_(make_memory_admin_store()),
          access_(options.admin != nullptr ? *options.admin : *own_admin_, clock_),
          audit_(options.admin != nullptr ? *options.admin : *own_admin_, clock_, options.log),
          redaction_(redaction_rules(options), definitions_of(reads)),
          reader_(reads, no_handlers_, {.clock = options.clock, .log = options.log}),
          hub_(reads, reader_, clock_),
          listeners_(std::make_shared<Listeners>()),
          desk_({
              .engine = engine,
              .store = store,
              .admin = options.admin != nullptr ? *options.admin : *own_admin_,
              .clock = clock_,
              .log = options.log,
              .observers = remote_observers(options.telemetry),
              .box = options.box,
          }),
          service_{
              engine,
              reader_,
              store,
              reads,
              access_,
              audit_,
              options.admin != nullptr ? *options.admin : *own_admin_,
              redaction_,
              clock_,
              hub_,
              desk_,
              failed_logins_,
              EBB_VERSION
          } {
        service_.has_worker = options.has_worker;
        service_.is_dev = options.is_dev;
        service_.needs_login = options.needs_login;
        if (options.oidc) {
            sign_in_ = std::make_unique<server::SignIn>(
                *options.oidc, options.public_url, service_.admin, access_, clock_
            );
            service_.sign_in = sign_in_.get();
        }
        service_.title = options.title;
        service_.links = options.links;
        service_.definition_files = options.definition_files;
        service_.config = options.config;
        service_.reload = options.reload;
        service_.hook_secret = options.hook_secret;
        service_.box = options.box;
        service_.telemetry = options.telemetry.get();
        if (log_) {
            service_.report = [log = log_.get()](std::string_view event, const std::string& why) {
                const LogField fields[] = {{"error", why}};
                log->write(LogLevel::Warning, event, fields);
            };
        }
        service_.openapi = std::string(server::openapi_document());
        service_.openapi_etag = fmt::format("\"{}\"", sha256_hex(service_.openapi).substr(0, 16));
        listeners_->hub = &hub_;
        listeners_->desk = &desk_;
        engine.add_observer(std::make_shared<ListenersObserver>(listeners_));
        api_ = std::make_unique<Api>(service_, api_options());
        http_ = std::make_unique<http::Server>(http_options());
        if (options.metrics != nullptr) add_metrics(engine, *options.metrics);
    }

    ~Core() {
        begin_drain();
        forget_address();
        http_->stop();
        if (sign_in_) sign_in_->stop();
        api_->stop();
        desk_.stop();
        listeners_->hub = nullptr;
        listeners_->desk = nullptr;
    }

    void start() {
        http_->start();
        record_address();
    }

    void reload(const ServerOptions& options) {
        check_server_options(options);
        if (!options_.tls_certificate.empty()) http_->reload_tls({tls_files(options)});
        api_->set_limits(allowed_hosts(options), options.requests_per_second);
    }

    std::vector<std::string> addresses() const { return http_->addresses(); }

    std::string url() const {
        const std::vector<std::string> addresses = http_->addresses();
        const auto found =
            std::find_if(addresses.begin(), addresses.end(), [](const std::string& address) {
                return !address.starts_with("unix:");
            });
        if (found == addresses.end()) return addresses.front();
        const std::string_view scheme = options_.tls_certificate.empty() ? "http" : "https";
        return fmt::format("{}://{}{}/", scheme, *found, base_of(options_.base_path));
    }

    std::string login_link(const std::string& user, const std::string& role) {
        const auto parsed = server::parse_role(role);
        if (!parsed) {
            throw Error(ErrorCode::InvalidArgument, fmt::format("\"{}\" is not a role.", role));
        }
        const std::string page = url();
        if (page.starts_with("unix:")) return {};
        return page + "#login=" + access_.create_login({.name = user, .role = *parsed});
    }

    bool is_alive() const { return api_->is_alive(); }

    std::vector<std::pair<std::string, std::int64_t>> state() const {
        const http::ConnectionCounts connections = http_->counts();
        return {
            {"connections", static_cast<std::int64_t>(connections.open)},
            {"connections_accepted", static_cast<std::int64_t>(connections.accepted)},
            {"connections_refused", static_cast<std::int64_t>(connections.refused)},
            {"streams", static_cast<std::int64_t>(connections.streams)},
            {"requests", api_->active()},
            {"requests_waiting", static_cast<std::int64_t>(api_->waiting())},
            {"watchers", static_cast<std::int64_t>(hub_.watchers())},
        };
    }

    std::vector<OpenRequest> open_requests() const {
        return api_->open_requests(OpenRequest::kShownMax);
    }

    void begin_drain() {
        api_->begin_drain();
        hub_.drain();
        desk_.drain();
    }

    bool drain(Duration limit) {
        begin_drain();
        http_->stop_accepting();
        const bool is_clean =
            http_->wait_for_requests(std::chrono::duration_cast<std::chrono::milliseconds>(limit));
        http_->stop();
        return is_clean;
    }

 private:
    /// Of what the calls of remote workers become.
    std::vector<std::shared_ptr<Observer>> remote_observers(
        const std::shared_ptr<Telemetry>& telemetry
    ) const {
        std::vector<std::shared_ptr<Observer>> observers{
            std::make_shared<ListenersObserver>(listeners_)
        };
        if (telemetry) observers.push_back(telemetry);
        return observers;
    }

    void add_metrics(Engine& engine, Metrics& metrics) {
        metrics.watch(engine);
        metrics.watch_store(reader_);
        metrics.add([this] {
            const auto refusals = api_->refusals();
            const auto failed_logins = failed_logins_.counts();
            return server::server_metrics(
                {http_->counts(),
                 refusals,
                 failed_logins,
                 api_->active(),
                 api_->waiting(),
                 hub_.watchers(),
                 http_->certificate_expires_at()}
            );
        });
    }

    server::ApiOptions api_options() {
        server::ApiOptions api;
        api.base = base_of(options_.base_path);
        api.allowed_hosts = allowed_hosts(options_);
        for (const std::string& range : options_.behind_proxy) api.proxies.emplace_back(range);
        api.only_proxies = !options_.behind_proxy.empty();
        api.proxy_login = options_.proxy_login;
        api.requests_per_second = options_.requests_per_second;
        api.pool = {.threads = options_.api_threads, .queue_max = options_.api_queue};
        api.log = log_.get();
        api.check_database = [this] { return check_database(); };
        api.cors_origins = options_.cors_origins;
        api.metrics = options_.metrics;
        api.has_public_metrics = options_.has_public_metrics;
        api.is_ticking = [this] { return http_->is_ticking(kStuckAfter); };
        return api;
    }

    http::ServerOptions http_options() {
        http::ServerOptions http;
        http.listen = endpoints_;
        http.threads = options_.http_threads;
        http.limits.connections_max = options_.connections_max;
        if (!options_.behind_proxy.empty()) {
            http.limits.connections_per_address_max = http.limits.connections_max;
        }
        if (!options_.tls_certificate.empty()) {
            http.tls = {tls_files(options_)};
        }
        http.handler = [this](http::Request request, const http::Responder& respond) {
            api_->handle(std::move(request), respond);
        };
        http.body_bytes_max = [this](const http::Request& head) {
            return api_->body_bytes_max(head);
        };
        http.refuse = [this](const http::Refusal& refusal, const std::string& remote) {
            return api_->refuse(refusal, remote);
        };
        return http;
    }

    /// Where browsers find it, for `ebb login-link`.
    void record_address() {
        recorded_ = options_.public_url.empty() ? url() : options_.public_url;
        const nlohmann::json document = {
            {"server", service_.engine.worker_id()}, {"started_at", view::time_json(clock_.now())}
        };
        try {
            service_.admin.put({"server", recorded_, document.dump()});
        } catch (const Error& error) {
            if (service_.report) service_.report("address_not_recorded", error.what());
        }
    }

    /// Unless another server has the address now.
    void forget_address() {
        if (recorded_.empty()) return;
        try {
            const auto row = service_.admin.find("server", recorded_);
            const std::string& own = service_.engine.worker_id();
            const bool is_own =
                row && nlohmann::json::parse(row->document).value("server", "") == own;
            if (is_own) service_.admin.remove("server", recorded_);
        } catch (const std::exception& error) {
            if (service_.report) service_.report("address_not_recorded", error.what());
        }
    }

    /// Asks the store only occasionally, no matter how often it is called.
    server::ReadinessCheck check_database() {
        constexpr Duration kKnownFor = std::chrono::seconds(1);
        const SteadyPoint now = clock_.steady_now();
        const Lock lock(ready_mutex_);
        if (asked_at_ != SteadyPoint{} && now - asked_at_ < kKnownFor) {
            database_.age = now - asked_at_;
            return database_;
        }
        asked_at_ = now;
        database_ = {.name = "database"};
        try {
            service_.reads.load(InstanceId{});
        } catch (const std::exception& error) {
            database_.is_ok = false;
            // Anyone may ask, so it does not say where the database is.
            database_.reason = server::to_problem(error).what();
            database_.detail = error.what();
            const LogField fields[] = {{"error", error.what()}};
            if (log_) log_->write(LogLevel::Warning, "not_ready", fields);
        }
        database_.latency = clock_.steady_now() - now;
        return database_;
    }

    const ServerOptions options_;
    const std::vector<http::Endpoint> endpoints_;
    const Clock& clock_;
    const std::unique_ptr<LogSink> log_;  ///< null = silent
    server::FailedLogins failed_logins_;
    const HandlerRegistry no_handlers_;
    std::unique_ptr<AdminStore> own_admin_;
    Access access_;
    server::Audit audit_;
    const server::Redaction redaction_;
    Engine reader_;
    Hub hub_;
    const std::shared_ptr<Listeners> listeners_;
    server::WorkerDesk desk_;
    server::Service service_;
    std::unique_ptr<server::SignIn> sign_in_;  ///< null unless it is asked for
    std::string recorded_;                     ///< the address in the database
    Mutex ready_mutex_;
    SteadyPoint asked_at_ EBB_GUARDED_BY(ready_mutex_){};
    server::ReadinessCheck database_ EBB_GUARDED_BY(ready_mutex_);
    std::unique_ptr<Api> api_;
    std::unique_ptr<http::Server> http_;  // last: its threads use all of the above
};

Server::Server(Engine& engine, Store& store, Store& reads, const ServerOptions& options)
    : core_(std::make_unique<Core>(engine, store, reads, options)) {}

Server::~Server() = default;

void check_server_options(const ServerOptions& options) {
    parse_endpoints(options);
    base_of(options.base_path);
    for (const std::string& range : options.behind_proxy) server::AddressRange{range};
    check_proxy_login(options);
    redaction_rules(options);
    if (options.connections_max < 1) {
        throw Error(ErrorCode::InvalidArgument, "A server needs at least one connection.");
    }
    if (options.requests_per_second < 0) {
        throw Error(ErrorCode::InvalidArgument, "A rate of requests is not negative.");
    }
    if (!options.tls_certificate.empty()) {
        http::check_tls(tls_files(options));
    }
}

void Server::reload(const ServerOptions& options) {
    core_->reload(options);
}

void Server::start() {
    core_->start();
}

bool Server::is_alive() const {
    return core_->is_alive();
}

std::vector<std::pair<std::string, std::int64_t>> Server::state() const {
    return core_->state();
}

std::vector<Server::OpenRequest> Server::open_requests() const {
    return core_->open_requests();
}

std::vector<std::string> Server::addresses() const {
    return core_->addresses();
}

std::string Server::url() const {
    return core_->url();
}

std::string Server::login_link(const std::string& user, const std::string& role) {
    return core_->login_link(user, role);
}

void Server::begin_drain() {
    core_->begin_drain();
}

bool Server::drain(Duration limit) {
    return core_->drain(limit);
}

}  // namespace ebb
