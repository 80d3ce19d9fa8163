#include "server/api/api.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "server/api/activity.h"
#include "server/api/bulk.h"
#include "server/api/encoding.h"
#include "server/api/failed_logins.h"
#include "server/api/pages.h"
#include "server/assets/assets.h"
#include "server/live/hub.h"
#include "support/uuid.h"

namespace ebb::server {

namespace {

constexpr std::string_view kPrefix = "/api/v1";
/// Each route below these names one instance or one workflow.
constexpr std::string_view kInstancePath = "/instances/{id}";
constexpr std::string_view kWorkflowPath = "/workflows/{name}";
constexpr std::string_view kMetricsPath = "/metrics";
constexpr std::string_view kReadinessPath = "/readyz";
constexpr Duration kStuckAfter = std::chrono::seconds(10);
/// A request that waits for a thread and occupies one for longer than this is logged as slow.
constexpr Duration kSlowAfter = std::chrono::seconds(1);
constexpr std::size_t kRequestIdBytesMax = 64;

bool is_request_id(std::string_view text) {
    return !text.empty() && text.size() <= kRequestIdBytesMax &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_' || c == '-';
           });
}

/// What the proxy says of its client: whether the connection is encrypted, and its address, which
/// is the last one since a client may send any others.
void believe_proxy(http::Request& request) {
    if (request.header("X-Forwarded-Proto") == "https") request.is_tls = true;
    std::string_view client = request.header("X-Forwarded-For");
    client.remove_prefix(client.rfind(',') + 1);
    while (client.starts_with(' ')) client.remove_prefix(1);
    constexpr std::size_t kAddressBytesMax = 45;
    if (!client.empty() && client.size() <= kAddressBytesMax) request.remote = client;
}

/// The value of a label: methods are as many as clients invent.
std::string_view known_method(std::string_view method) {
    constexpr std::array<std::string_view, 5> kMethods{"GET", "HEAD", "POST", "PUT", "DELETE"};
    const auto found = std::find(kMethods.begin(), kMethods.end(), method);
    return found == kMethods.end() ? "_OTHER" : *found;
}

}  // namespace

/// A request and what is known of it, until it is answered.
struct Api::Exchange {
    http::Request request;
    http::Responder respond;
    std::shared_ptr<OpenRequests::Entry> entry;
    std::string request_id{};
    SteadyPoint begun{};
    std::string_view route = OpenRequests::kNoRoute;  ///< the template, for the log
    std::string principal{};
    std::string method{};
    std::string path{};
    std::string remote{};
    std::size_t bytes_in = 0;
    std::optional<RateLimit::Share> share{};  ///< of its principal; none = there is no limit
    bool accepts_gzip = false;
    bool may_compress = false;  ///< of the route
    bool is_tls = false;
    bool is_proxy = false;         ///< the peer is a proxy that is believed
    bool is_api = false;           ///< the path is below /api/v1
    std::string foreign_origin{};  ///< of the page that sends it, if it may; empty = none does
    RequestTrace trace{};          ///< empty: it is not traced
    TimePoint begun_at{};          ///< if it is traced
};

Routes make_routes(Service& service) {
    Routes routes;
    add_server_routes(routes, service);
    add_access_routes(routes, service);
    add_session_routes(routes, service);
    add_project_routes(routes, service);
    add_audit_routes(routes, service);
    add_workflow_routes(routes, service);
    add_instance_routes(routes, service);
    add_related_routes(routes, service);
    add_count_routes(routes, service);
    add_history_routes(routes, service);
    add_start_routes(routes, service);
    add_rerun_routes(routes, service);
    add_steering_routes(routes, service);
    add_bulk_routes(routes, service);
    add_operation_routes(routes, service);
    add_activity_routes(routes, service);
    add_people_routes(routes, service);
    add_config_routes(routes, service);
    add_definition_routes(routes, service);
    add_rehearsal_routes(routes);
    add_live_routes(routes, service);
    add_remote_routes(routes, service);
    add_webhook_routes(routes, service);
    add_hook_routes(routes, service);
    add_view_routes(routes, service);
    add_callback_routes(routes, service);
    return routes;
}

Api::Api(Service& service, ApiOptions options)
    : service_(service),
      options_(std::move(options)),
      routes_(make_routes(service)),
      cross_origin_(options_.cors_origins),
      open_(std::make_shared<OpenRequests>(service.clock)),
      allowed_hosts_(options_.allowed_hosts),
      authentication_(service, options_.proxy_login, options_.requests_per_second),
      pool_(options_.pool, service.clock) {
    for (std::size_t i = 0; i < routes_.size(); ++i) {
        router_.add(routes_[i].method, routes_[i].path, i);
    }
    add_plain_routes();
}

/// Those that are not below /api/v1, so the router does not know them.
void Api::add_plain_routes() {
    routes_.push_back(
        {.method = "GET",
         .path = kReadinessPath,
         .operation = "getReadiness",
         .permission = "ops",
         .handle = [this](Call&) { return readiness_response(readiness(), true); }}
    );
    if (options_.metrics == nullptr) return;
    routes_.push_back(
        {.method = "GET",
         .path = kMetricsPath,
         .operation = "getMetrics",
         .permission = options_.has_public_metrics ? "none" : "stats.read",
         .handle =
             [this](Call& call) {
                 call.query.check_all_used();
                 http::Response response{.body = options_.metrics->text()};
                 response.set("Cache-Control", "no-store");
                 response.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
                 return response;
             }}
    );
}

Api::~Api() = default;

void Api::handle(http::Request request, const http::Responder& respond) {
    const std::string_view method = known_method(request.method);
    auto exchange = std::make_shared<Exchange>(
        Exchange{std::move(request), respond, std::make_shared<OpenRequests::Entry>(open_, method)}
    );
    Exchange& now = *exchange;
    now.begun = service_.clock.steady_now();
    now.method = now.request.method;
    now.path = now.request.path;
    now.bytes_in = now.request.body.size();
    now.accepts_gzip = accepts_encoding(now.request, "gzip");
    const std::string peer = now.request.remote;
    const std::string_view given = now.request.header("X-Request-Id");
    now.request_id =
        is_request_id(given) ? std::string(given) : make_instance_id(service_.clock).to_string();
    const bool is_proxy = std::any_of(
        options_.proxies.begin(),
        options_.proxies.end(),
        [&](const AddressRange& range) { return range.contains(peer); }
    );
    now.is_proxy = is_proxy;
    if (is_proxy) believe_proxy(now.request);
    now.remote = now.request.remote;
    now.is_tls = now.request.is_tls;
    try {
        if (is_health(now.path)) return answer_health(exchange);
        begin_trace(now);
        if (options_.only_proxies && !is_proxy) {
            throw Problem("not_allowed", "Only the proxy may connect to this server.");
        }
        if (!answers_to(now.request.header("Host"))) {
            throw Problem("misdirected", "The server does not answer to this name.");
        }
        if (now.path == kMetricsPath && options_.metrics != nullptr)
            return answer_metrics(exchange);
        std::string path = now.path;
        if (!options_.base.empty()) {
            if (path == options_.base) path += "/";
            if (!path.starts_with(options_.base + "/")) {
                throw Problem("not_found", "There is nothing at this path.");
            }
            path.erase(0, options_.base.size());
        }
        if (path == kPrefix || path.starts_with(std::string(kPrefix) + "/")) {
            now.is_api = true;
            if (answer_preflight(now)) return;
            return answer_api(exchange, path.substr(kPrefix.size()));
        }
        now.path = path;
        answer_page(now);
    } catch (const std::exception& error) {
        send_problem(now, error);
    }
}

void Api::answer_health(const std::shared_ptr<Exchange>& exchange) {
    const Exchange& now = *exchange;
    if (!is_safe_method(now.method)) {
        throw Problem("method_not_allowed", "Use GET for health checks.")
            .with_header("Allow", "GET, HEAD");
    }
    if (now.path == "/livez") {
        return send(now, health_response(is_alive() ? "" : "stuck"));
    }
    if (is_verbose(now.request.query)) {
        const bool is_here = now.request.is_loopback && !now.is_proxy;
        if (!is_here && options_.only_proxies && !now.is_proxy) {
            throw Problem("not_allowed", "Only the proxy may connect to this server.");
        }
        if (!answers_to(now.request.header("Host"))) {
            throw Problem("misdirected", "The server does not answer to this name.");
        }
        // A user of this machine sees what anyone may know; others prove that they are operators.
        const bool has_login = !bearer_token(now.request).empty();
        if (is_here && !has_login) return send(now, readiness_response(readiness(), false));
        return post_plain(exchange, kReadinessPath);
    }
    send(now, health_response(trouble_of(readiness())));
}

std::vector<ReadinessCheck> Api::readiness() const {
    ReadinessCheck serving{.name = "serving"};
    if (is_draining_) {
        serving.is_ok = false;
        serving.reason = "draining";
        // The database does not matter any more.
        return {serving};
    }
    return {serving, options_.check_database()};
}

bool Api::answer_preflight(Exchange& now) {
    now.foreign_origin = cross_origin_.listed_origin(now.request);
    if (now.foreign_origin.empty() || !CrossOrigin::is_preflight(now.request)) return false;
    send(now, CrossOrigin::preflight_response());
    return true;
}

bool Api::is_alive() const {
    return options_.is_ticking() && pool_.is_moving(kStuckAfter);
}

void Api::answer_page(const Exchange& exchange) {
    if (!is_safe_method(exchange.method)) {
        throw Problem("method_not_allowed", "Use GET for pages.").with_header("Allow", "GET, HEAD");
    }
    send(exchange, page_response(exchange.request, exchange.path, options_.base + "/"));
}

std::size_t Api::body_bytes_max(const http::Request& head) const {
    std::string_view path = head.path;
    if (!path.starts_with(options_.base)) return 0;
    path.remove_prefix(options_.base.size());
    if (!path.starts_with(kPrefix)) return 0;
    const auto found = router_.find(head.method, path.substr(kPrefix.size()));
    // What is refused anyway is read, so that its client gets to see why.
    if (!found.match) return kJsonBytesMax;
    return routes_[found.match->route].body_bytes_max;
}

void Api::answer_api(std::shared_ptr<Exchange> exchange, std::string path) {
    auto found = router_.find(exchange->method, path);
    if (!found.match) {
        if (found.allowed.empty()) {
            throw Problem("not_found", "There is nothing at this path of the API.");
        }
        throw Problem(
            "method_not_allowed",
            fmt::format("This path is for {}.", fmt::join(found.allowed, ", "))
        )
            .with_header("Allow", fmt::format("{}", fmt::join(found.allowed, ", ")));
    }
    post(exchange, std::move(*found.match));
}

void Api::answer_metrics(const std::shared_ptr<Exchange>& exchange) {
    if (!is_safe_method(exchange->method)) {
        throw Problem("method_not_allowed", "Use GET for metrics.")
            .with_header("Allow", "GET, HEAD");
    }
    post_plain(exchange, kMetricsPath);
}

void Api::post_plain(const std::shared_ptr<Exchange>& exchange, std::string_view path) {
    std::size_t last = routes_.size() - 1;
    while (routes_[last].path != path) --last;
    post(exchange, {.route = last, .parameters = {}});
}

void Api::post(const std::shared_ptr<Exchange>& exchange, Router::Match match) {
    exchange->route = routes_[match.route].path;
    exchange->entry->set_route(exchange->route);
    exchange->may_compress = may_compress(routes_[match.route].operation);
    const auto work = [this, exchange, match = std::move(match)] { call(exchange, match); };
    const auto late = [this, exchange] {
        send_problem(*exchange, Problem("overloaded", "The request has waited for too long."));
    };
    if (!pool_.post(work, late)) {
        throw Problem("overloaded", "The server has more requests than it can take.");
    }
}

void Api::set_limits(std::vector<std::string> allowed_hosts, int requests_per_second) {
    authentication_.set_requests_per_second(requests_per_second);
    const Lock lock(hosts_mutex_);
    allowed_hosts_ = std::move(allowed_hosts);
}

bool Api::answers_to(std::string_view authority) {
    const Lock lock(hosts_mutex_);
    return is_allowed_host(authority, allowed_hosts_);
}

void Api::check_body(const http::Request& request, const Route& route) {
    const std::string_view type = request.header("Content-Type");
    const std::string_view plain_type = type.substr(0, type.find(';'));
    const bool is_understood =
        std::find(route.media_types.begin(), route.media_types.end(), plain_type) !=
        route.media_types.end();
    if (!request.body.empty() && !is_understood) {
        throw Problem(
            "unsupported_media_type",
            fmt::format("The body must be {}.", fmt::join(route.media_types, " or "))
        );
    }
    if (!request.header("Content-Encoding").empty()) {
        throw Problem("unsupported_media_type", "A body may not be compressed.");
    }
}

void Api::call(const std::shared_ptr<Exchange>& exchange, Router::Match match) {
    const Route& route = routes_[match.route];
    Call call{
        .request = std::move(exchange->request),
        .parameters = std::move(match.parameters),
        .principal = {.name = "anonymous"},
        .request_id = exchange->request_id,
        .base = options_.base,
        .permission = route.permission,
        .route = route.path
    };
    call.trace = exchange->trace;
    const bool is_inside = route.audited == Audited::Inside;
    const bool is_audited =
        route.audited == Audited::Always || is_inside ||
        (route.audited == Audited::Acts && !is_safe_method(call.request.method));
    try {
        call.principal = route.identify ? authentication_.identify(call, route)
                                        : authentication_.authenticate(
                                              call.request,
                                              route,
                                              {.is_proxy = exchange->is_proxy,
                                               .is_foreign_page = !exchange->foreign_origin.empty()}
                                          );
        exchange->principal = call.principal.name;
        const bool is_stranger = route.permission == "none" && call.principal.credential.empty();
        if (!is_stranger) exchange->share = authentication_.count(call.principal.name);
        check_permission(call.principal, route.permission, route.reach);
        call.query = Query(call.request.query);
        check_body(call.request, route);
        if (route.path.starts_with(kInstancePath)) check_instance(service_, call);
        if (route.path.starts_with(kWorkflowPath)) call.workflow = call.parameter("name");
        if (is_audited && !is_inside) {
            // Before the act: what cannot be recorded is not done.
            service_.audit.write(call.audit_entry(route.operation));
            call.is_allowed = true;
        }
        if (route.handle) {
            const SteadyPoint called = service_.clock.steady_now();
            http::Response response = route.handle(call);
            tell_if_slow(*exchange, called);
            return send(*exchange, std::move(response));
        }
        route.async(
            call,
            http::Responder(std::make_shared<Relay>(
                [this, exchange](auto response) { send(*exchange, std::move(response)); },
                exchange->respond,
                exchange->entry,
                cross_origin_.headers(exchange->foreign_origin)
            ))
        );
    } catch (const std::exception& error) {
        if (is_audited) {
            service_.audit.note(
                refusal_of(call.audit_entry(route.operation), call.is_allowed, error)
            );
        }
        send_problem(*exchange, error, wants_page(call.request) ? route.problem_page : nullptr);
    }
}

void Api::send(const Exchange& exchange, http::Response response) {
    response.set("X-Request-Id", exchange.request_id);
    if (exchange.is_api) {
        for (http::Header& header : cross_origin_.headers(exchange.foreign_origin)) {
            response.headers.push_back(std::move(header));
        }
    }
    if (exchange.share) {
        for (http::Header& header : rate_headers("principal", *exchange.share)) {
            response.headers.push_back(std::move(header));
        }
    }
    if (exchange.may_compress) compress(response, exchange.accepts_gzip);
    add_security_headers(response, exchange.is_tls);
    log(exchange, response);
    measure(exchange, response);
    end_trace(exchange, response);
    exchange.respond(std::move(response));
}

void Api::send_problem(
    const Exchange& exchange,
    const std::exception& error,
    const std::function<http::Response(const Problem&)>& page
) {
    const Problem problem = to_problem(error);
    service_.failed_logins.note(problem, {exchange.route, exchange.remote, exchange.request_id});
    if (hides_detail(problem.code()) && options_.log != nullptr) {
        const bool is_ours = problem_kind(problem.code()).status == 500;
        const LogField fields[] = {
            {"request_id", exchange.request_id}, {"route", exchange.route}, {"error", error.what()}
        };
        options_.log->write(is_ours ? LogLevel::Error : LogLevel::Warning, "http_failed", fields);
    }
    send(
        exchange,
        page ? page(problem) : problem_response(problem, exchange.path, exchange.request_id)
    );
}

void Api::log(const Exchange& exchange, const http::Response& response) {
    const LogLevel level = is_health(exchange.path) ? LogLevel::Debug : LogLevel::Info;
    if (options_.log == nullptr || !options_.log->is_enabled(level)) return;
    const auto took = service_.clock.steady_now() - exchange.begun;
    // The template of the route, never the path: names and keys are not for the log.
    const LogField fields[] = {
        {"method", exchange.method},
        {"route", exchange.route},
        {"status", response.status},
        {"took_us", took.count()},
        {"bytes_in", exchange.bytes_in},
        {"bytes_out", response.body.size()},
        {"remote", exchange.remote},
        {"by", exchange.principal},
        {"request_id", exchange.request_id},
    };
    options_.log->write(level, "http_request", fields);
}

/// `called`: when its handler was called. Long polls and streams do not occupy a thread.
void Api::tell_if_slow(const Exchange& exchange, SteadyPoint called) const {
    const SteadyPoint now = service_.clock.steady_now();
    if (options_.log == nullptr || now - exchange.begun < kSlowAfter) return;
    const LogField fields[] = {
        {"method", exchange.method},
        {"route", exchange.route},
        {"waited_us", (called - exchange.begun).count()},
        {"worked_us", (now - called).count()},
        {"by", exchange.principal},
        {"request_id", exchange.request_id},
    };
    options_.log->write(LogLevel::Warning, "slow_request", fields);
}

void Api::measure(const Exchange& exchange, const http::Response& response) {
    if (options_.metrics == nullptr) return;
    const bool is_known = exchange.route != OpenRequests::kNoRoute;
    options_.metrics->note({
        .method = known_method(exchange.method),
        .route = is_known                   ? exchange.route
                 : is_health(exchange.path) ? std::string_view(exchange.path)
                                            : std::string_view("page"),
        .status = response.status,
        .took = service_.clock.steady_now() - exchange.begun,
        .bytes_in = exchange.bytes_in,
        .bytes_out = response.body.size(),
    });
}

void Api::begin_trace(Exchange& exchange) const {
    if (service_.telemetry == nullptr || exchange.path == kMetricsPath) return;
    exchange.trace = service_.telemetry->begin_request(exchange.request.header("traceparent"));
    exchange.begun_at = service_.clock.now();
}

/// A stream has its span when it begins.
void Api::end_trace(const Exchange& exchange, const http::Response& response) const {
    if (exchange.trace.trace_id.empty()) return;
    RequestEnd end{
        .method = std::string(known_method(exchange.method)),
        .scheme = exchange.is_tls ? "https" : "http",
        .status = response.status,
        .start = exchange.begun_at,
        .end = service_.clock.now(),
    };
    if (exchange.route != OpenRequests::kNoRoute) {
        end.route = fmt::format("{}{}{}", options_.base, kPrefix, exchange.route);
    }
    service_.telemetry->end_request(exchange.trace, end);
}

std::map<std::string, std::uint64_t> Api::refusals() {
    const Lock lock(refusals_mutex_);
    return refusals_;
}

http::Response Api::refuse(const http::Refusal& refusal, const std::string& remote) {
    {
        const Lock lock(refusals_mutex_);
        ++refusals_[refusal.code];
    }
    const std::string request_id = make_instance_id(service_.clock).to_string();
    if (options_.log != nullptr && options_.log->is_enabled(LogLevel::Warning)) {
        const LogField fields[] = {
            {"reason", refusal.detail}, {"remote", remote}, {"request_id", request_id}
        };
        options_.log->write(LogLevel::Warning, "http_refused", fields);
    }
    auto response = problem_response(Problem(refusal.code, refusal.detail), "-", request_id);
    response.status = refusal.status;
    if (refusal.status == 405) response.set("Allow", "GET, HEAD, POST, PUT, DELETE");
    response.set("X-Request-Id", request_id);
    add_security_headers(response, false);
    return response;
}

}  // namespace ebb::server
