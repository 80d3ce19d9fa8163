#include "server/server_metrics.h"

namespace ebb::server {

namespace {

Metric gauge(const char* name, const char* help, std::size_t value) {
    return {
        .name = name,
        .help = help,
        .kind = Metric::Kind::Gauge,
        .values = {{.value = static_cast<double>(value)}},
    };
}

Metric counter(const char* name, const char* help, std::uint64_t value) {
    return {
        .name = name,
        .help = help,
        .kind = Metric::Kind::Counter,
        .values = {{.value = static_cast<double>(value)}},
    };
}

}  // namespace

std::vector<Metric> server_metrics(const ServerState& state) {
    Metric refused{
        .name = "ebb_http_refused_total",
        .help = "Requests that were refused before a handler saw them, by the problem's code.",
        .kind = Metric::Kind::Counter,
    };
    for (const auto& [code, count] : state.refusals) {
        refused.values.push_back({{{"reason", code}}, static_cast<double>(count)});
    }
    Metric failed_logins{
        .name = "ebb_auth_failures_total",
        .help = "Requests with a credential that is not valid, by its kind.",
        .kind = Metric::Kind::Counter,
    };
    for (const auto& [credential, count] : state.failed_logins) {
        failed_logins.values.push_back({{{"credential", credential}}, static_cast<double>(count)});
    }
    std::vector<Metric> metrics{
        gauge(
            "http_server_active_requests",
            "Requests that are not answered yet, and open streams.",
            static_cast<std::size_t>(state.active)
        ),
        gauge("ebb_http_connections", "Open connections.", state.connections.open),
        gauge("ebb_sse_streams", "Open streams of events.", state.connections.streams),
        gauge("ebb_http_queue_depth", "Requests that wait for a thread.", state.queued),
        gauge("ebb_watchers", "Waits and streams that look for changes.", state.watchers),
        counter(
            "ebb_http_connections_accepted_total",
            "Connections that were accepted.",
            state.connections.accepted
        ),
        counter(
            "ebb_http_connections_refused_total",
            "Connections that were refused, because there were too many.",
            state.connections.refused
        ),
        std::move(refused),
        std::move(failed_logins),
    };
    if (state.certificate_expires_at) {
        const auto end = state.certificate_expires_at->time_since_epoch();
        metrics.push_back(gauge(
            "ebb_tls_certificate_expiry_timestamp_seconds",
            "When the certificate that new connections get expires.",
            static_cast<std::size_t>(std::chrono::duration_cast<std::chrono::seconds>(end).count())
        ));
    }
    return metrics;
}

}  // namespace ebb::server
