#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ebb/log.h>
#include <ebb/metrics.h>
#include <ebb/server.h>

#include "server/api/authentication.h"
#include "server/api/cross_origin.h"
#include "server/api/guard.h"
#include "server/api/open_requests.h"
#include "server/api/pool.h"
#include "server/api/readiness.h"
#include "server/api/router.h"
#include "server/api/service.h"

namespace ebb::server {

struct ApiOptions {
    std::string base;  ///< the prefix of every path: empty, or `/ebb`
    std::vector<std::string> allowed_hosts{};
    std::vector<AddressRange> proxies{};  ///< their X-Forwarded-* headers are trusted
    bool only_proxies = false;            ///< other peers are not served
    std::optional<ProxyLogin> proxy_login{};
    Pool::Options pool{};
    int requests_per_second = 0;  ///< for each principal; 0 = no limit
    LogSink* log = nullptr;
    std::function<ReadinessCheck()> check_database{};
    std::function<bool()> is_ticking{};  ///< whether the I/O threads are alive
    Metrics* metrics = nullptr;          ///< null = there is no /metrics
    bool has_public_metrics = false;
    /// Origins whose pages may send requests with a token, and read the answers.
    std::vector<std::string> cors_origins{};
};

/// Answers every request: health, API, UI.
class Api {
 public:
    Api(Service& service, ApiOptions options);
    ~Api();
    Api(const Api&) = delete;
    Api& operator=(const Api&) = delete;

    /// Called on I/O threads.
    void handle(http::Request request, const http::Responder& respond);
    std::size_t body_bytes_max(const http::Request& head) const;
    http::Response refuse(const http::Refusal& refusal, const std::string& remote);

    /// From now on, /readyz says that the server is shutting down.
    void begin_drain() { is_draining_ = true; }

    /// Applies to requests from now on.
    void set_limits(std::vector<std::string> allowed_hosts, int requests_per_second);

    /// Waits until the pool has finished its work.
    void stop() { pool_.stop(); }

    const Routes& routes() const { return routes_; }

    /// Requests and streams that are not answered or ended yet.
    int active() const { return static_cast<int>(open_->count()); }

    /// The oldest of them.
    std::vector<ebb::Server::OpenRequest> open_requests(std::size_t most) const {
        return open_->oldest(most);
    }

    /// The requests that were refused before a handler saw them, by code.
    std::map<std::string, std::uint64_t> refusals();

    std::size_t waiting() const { return pool_.waiting(); }

    /// Whether all threads have done something lately. Asks no store.
    bool is_alive() const;

 private:
    struct Exchange;

    void add_plain_routes();
    void answer_health(const std::shared_ptr<Exchange>& exchange);
    std::vector<ReadinessCheck> readiness() const;
    /// Answers a browser that asks whether a page of another origin may send a request. False: the
    /// request is none of those.
    bool answer_preflight(Exchange& exchange);
    void answer_page(const Exchange& exchange);
    void answer_api(std::shared_ptr<Exchange> exchange, std::string path);
    void answer_metrics(const std::shared_ptr<Exchange>& exchange);
    /// Lets the pool make the call of a route that is not below /api/v1.
    void post_plain(const std::shared_ptr<Exchange>& exchange, std::string_view path);
    /// Lets the pool make the call.
    void post(const std::shared_ptr<Exchange>& exchange, Router::Match match);
    void call(const std::shared_ptr<Exchange>& exchange, Router::Match match);
    static void check_body(const http::Request& request, const Route& route);
    bool answers_to(std::string_view authority);
    void send(const Exchange& exchange, http::Response response);
    /// `page`: what shows the problem; null = the document of RFC 9457.
    void send_problem(
        const Exchange& exchange,
        const std::exception& error,
        const std::function<http::Response(const Problem&)>& page = nullptr
    );
    void log(const Exchange& exchange, const http::Response& response);
    void tell_if_slow(const Exchange& exchange, SteadyPoint called) const;
    void measure(const Exchange& exchange, const http::Response& response);
    void begin_trace(Exchange& exchange) const;
    void end_trace(const Exchange& exchange, const http::Response& response) const;

    Service& service_;
    ApiOptions options_;
    Routes routes_;
    Router router_;
    const CrossOrigin cross_origin_;
    std::atomic<bool> is_draining_{false};
    std::shared_ptr<OpenRequests> open_;
    Mutex refusals_mutex_;
    std::map<std::string, std::uint64_t> refusals_ EBB_GUARDED_BY(refusals_mutex_);
    Mutex hosts_mutex_;
    std::vector<std::string> allowed_hosts_ EBB_GUARDED_BY(hosts_mutex_);
    Authentication authentication_;
    Pool pool_;
};

/// All routes of the API.
Routes make_routes(Service& service);

}  // namespace ebb::server
