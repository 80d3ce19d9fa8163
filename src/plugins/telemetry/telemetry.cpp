#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/telemetry.h>

#include "handlers/header.h"
#include "handlers/http_client.h"
#include "plugins/telemetry/exporter.h"
#include "plugins/telemetry/spans.h"

namespace ebb {

namespace {

using telemetry::Answer;
using telemetry::Exporter;
using telemetry::Span;
using telemetry::SpanMaker;

constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 16;

/// Posts batches to the collector.
class Collector {
 public:
    explicit Collector(const TelemetryOptions& options)
        : options_(options), client_(std::make_shared<HttpClient>()) {
        options_.resource.insert(
            options_.resource.begin(), {"service.name", options_.service_name}
        );
    }

    Answer operator()(std::span<const Span> spans, const std::stop_token& stop) const {
        HttpRequest request{
            .method = "POST",
            .url = options_.url,
            .headers = options_.headers,
            .body = telemetry::to_otlp(spans, options_.resource, EBB_VERSION),
            .proxy = {},
            .ca_file = {},
            .client_cert = {},
            .client_key = {},
            .timeout = options_.timeout,
            .response_bytes_max = kAnswerBytesMax,
            .stop = stop,
        };
        request.headers.emplace_back("Content-Type", "application/json");
        request.headers.emplace_back("User-Agent", "ebb/" EBB_VERSION);
        try {
            return answer_of(client_->perform(request).status);
        } catch (const HttpError& error) {
            return error.kind() == HttpError::Kind::InvalidUrl ? Answer::Refused : Answer::NotNow;
        }
    }

 private:
    /// As OTLP/HTTP says which answers may be tried again.
    static Answer answer_of(int status) {
        if (status >= 200 && status < 300) return Answer::Accepted;
        const bool is_later = status == 429 || status == 502 || status == 503 || status == 504;
        return is_later ? Answer::NotNow : Answer::Refused;
    }

    TelemetryOptions options_;
    std::shared_ptr<HttpClient> client_;
};

class OtlpTelemetry final : public Telemetry {
 public:
    explicit OtlpTelemetry(const TelemetryOptions& options)
        : sampled_(options.sampled),
          has_messages_(options.has_messages),
          exporter_(options, Collector(options)) {}

    void on_committed(const InstanceSummary& instance, std::span<const HistoryEntry> events)
        override {
        if (!telemetry::is_sampled(instance.id, sampled_)) return;
        std::vector<Span> spans;
        {
            const Lock lock(mutex_);
            spans = maker_.make(instance, events);
        }
        if (!has_messages_) {
            for (telemetry::Span& span : spans) span.message.clear();
        }
        exporter_.add(std::move(spans));
    }

    std::string traceparent(const CallId& call) override {
        return telemetry::traceparent_of(call, telemetry::is_sampled(call.instance, sampled_));
    }

    RequestTrace begin_request(std::string_view traceparent) override {
        return telemetry::request_trace(traceparent, sampled_);
    }

    void end_request(const RequestTrace& trace, const RequestEnd& end) override {
        if (trace.is_sampled) exporter_.add({telemetry::request_span(trace, end)});
    }

    void on_requested_start(
        const RequestTrace& trace,
        const std::string& workflow,
        const InstanceId& instance,
        TimePoint start,
        TimePoint end
    ) override {
        if (!trace.is_sampled) return;
        Span span = telemetry::start_span(trace, workflow, instance);
        span.start = start;
        span.end = end;
        exporter_.add({std::move(span)});
    }

    bool flush(Duration most) override { return exporter_.flush(most); }

    TelemetryCounters counters() const override { return exporter_.counters(); }

 private:
    const double sampled_;
    const bool has_messages_;
    Mutex mutex_;
    SpanMaker maker_ EBB_GUARDED_BY(mutex_);
    Exporter exporter_;
};

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

}  // namespace

std::shared_ptr<Telemetry> make_telemetry(const TelemetryOptions& options) {
    const auto url = parse_url(options.url);
    if (!url || (url->scheme != "http" && url->scheme != "https")) {
        refuse(
            "The URL of the telemetry is not an http or https URL such as "
            "http://127.0.0.1:4318/v1/traces."
        );
    }
    for (const auto& [name, value] : options.headers) {
        if (is_header_name(name) && is_header_value(value)) continue;
        refuse(fmt::format("\"{}\" is not a header with a valid name and value.", name));
    }
    if (!(options.sampled >= 0 && options.sampled <= 1)) {
        refuse(fmt::format("The sampled share is {}. It must be from 0 to 1.", options.sampled));
    }
    if (options.queue_max == 0 || options.batch_max == 0) {
        refuse("The limits queue_max and batch_max of the telemetry must be at least 1.");
    }
    if (options.pause < Duration::zero() || options.timeout <= Duration::zero()) {
        refuse("The pause of the telemetry must not be negative, and its timeout must be positive."
        );
    }
    return std::make_shared<OtlpTelemetry>(options);
}

}  // namespace ebb
