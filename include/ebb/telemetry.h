#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ebb/observer.h>
#include <ebb/time.h>

// Traces of instances for OpenTelemetry, sent to a collector as OTLP over HTTP (JSON). `ebb serve`
// and `ebb worker` send them if OTEL_EXPORTER_OTLP_ENDPOINT is set. Component ebb::telemetry.

namespace ebb {

class LogSink;

struct TelemetryOptions {
    /// Where spans are posted, such as `http://127.0.0.1:4318/v1/traces`.
    std::string url;
    std::vector<std::pair<std::string, std::string>> headers{};   ///< such as Authorization
    std::vector<std::pair<std::string, std::string>> resource{};  ///< besides `service.name`
    std::string service_name = "ebb";
    /// The share of instances whose spans are sent, 0 to 1. It is chosen by the trace id, so all
    /// processes choose the same instances.
    double sampled = 1;
    /// Whether the spans of failures have the failure's message, which may have a part of a
    /// payload. The code is always sent.
    bool has_messages = true;
    /// If this many spans wait to be sent, further ones are dropped and counted.
    std::size_t queue_max = 8'192;
    std::size_t batch_max = 512;               ///< spans of one request
    Duration pause = std::chrono::seconds(1);  ///< how long a span waits for others
    Duration timeout = std::chrono::seconds(10);
    LogSink* log = nullptr;  ///< gets a warning when spans are dropped; must outlive the telemetry
};

/// The options that the variables of the OpenTelemetry specification ask for:
/// OTEL_EXPORTER_OTLP_ENDPOINT (spans go to `/v1/traces` below it) or
/// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME,
/// OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG and OTEL_SDK_DISABLED.
/// Empty if they name no endpoint, or switch traces off. Throws Error with InvalidArgument, which
/// names the variable.
std::optional<TelemetryOptions> telemetry_from_environment(
    const std::function<std::optional<std::string>(const std::string& name)>& variable
);

struct TelemetryCounters {
    std::uint64_t exported = 0;  ///< spans that the collector has accepted
    std::uint64_t dropped = 0;   ///< spans that were not sent, or were refused
};

/// A request that a server answers, and its place among other spans (W3C Trace Context).
struct RequestTrace {
    std::string trace_id{};   ///< 32 hexadecimal digits: the caller's, or a new one
    std::string span_id{};    ///< 16: of the request itself
    std::string parent_id{};  ///< of the caller; empty = it sent no trace context
    bool is_sampled = false;
};

/// How a request has ended. `route` is the template of the path: names and keys are not in it.
struct RequestEnd {
    std::string method{};  ///< `GET`, ..., or `_OTHER`
    std::string route{};   ///< `/api/v1/instances/{id}`; empty = no route fits
    std::string scheme{};  ///< `http` or `https`
    int status = 0;
    TimePoint start{};
    TimePoint end{};
};

/// An observer that sends a span for each instance, step and attempt when it has ended. Add it with
/// Engine::add_observer, to several engines if you like. Thread-safe.
///
/// The trace id is the id of the instance, and span ids are derived from it: so spans that several
/// processes send are one trace, and nothing has to be stored. Spans have no payloads. The engine
/// never waits for the collector: spans that cannot be sent are dropped after five tries. The
/// destructor tries to send what is left, for at most TelemetryOptions::timeout.
class Telemetry : public Observer {
 public:
    /// Waits until everything so far was sent or dropped. False: `most` has passed before.
    virtual bool flush(Duration most) = 0;
    virtual TelemetryCounters counters() const = 0;

    /// The trace of a request with this header `traceparent`. A header that is not valid counts as
    /// absent: then the request begins a trace, which is sampled by `TelemetryOptions::sampled`.
    virtual RequestTrace begin_request(std::string_view traceparent) = 0;
    /// A span of the kind `server`, named `METHOD ROUTE`.
    virtual void end_request(const RequestTrace& trace, const RequestEnd& end) = 0;
    /// A span `start WORKFLOW` of the kind `producer` below the request, with a link to the trace
    /// of the instance.
    virtual void on_requested_start(
        const RequestTrace& trace,
        const std::string& workflow,
        const InstanceId& instance,
        TimePoint start,
        TimePoint end
    ) = 0;
};

/// Throws Error with InvalidArgument: `url` is not an http or https URL, or a limit is not
/// positive.
std::shared_ptr<Telemetry> make_telemetry(const TelemetryOptions& options);

}  // namespace ebb
