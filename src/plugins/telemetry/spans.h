#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <ebb/instance.h>
#include <ebb/observer.h>
#include <ebb/telemetry.h>
#include <ebb/time.h>

namespace ebb::telemetry {

/// One span as OTLP has it.
struct Span {
    /// The numbers are those of OTLP.
    enum class Kind { Internal = 1, Server = 2, Producer = 4 };

    /// A span of another trace that has to do with it.
    struct Link {
        std::string trace_id;
        std::string id;
    };

    std::string trace_id;   ///< 32 hexadecimal digits
    std::string id;         ///< 16
    std::string parent_id;  ///< empty: the root
    std::string name;
    TimePoint start{};
    TimePoint end{};
    std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>> attributes;
    bool is_error = false;
    std::string message;  ///< of the error
    Kind kind = Kind::Internal;
    std::vector<Link> links{};
};

/// The trace of an instance: its id without hyphens.
std::string trace_id_of(const InstanceId& instance);

/// Whether a share of `ratio` of all instances has this one. By the random bits of its id, as W3C
/// Trace Context level 2 has them (the rightmost 56).
bool is_sampled(const InstanceId& instance, double ratio);

/// The `traceparent` of a call: its span is the parent of what the called service does.
std::string traceparent_of(const CallId& call, bool is_sampled);

/// A request with this header, or without one (empty, or not valid).
RequestTrace request_trace(std::string_view traceparent, double ratio);

Span request_span(const RequestTrace& trace, const RequestEnd& end);
Span start_span(const RequestTrace& trace, const std::string& workflow, const InstanceId& instance);

/// Makes spans of what was committed. It remembers when the first attempts of steps that are tried
/// again began, of kRememberedMax steps. Not thread-safe.
class SpanMaker {
 public:
    static constexpr std::size_t kRememberedMax = 10'000;
    static constexpr std::size_t kMessageBytesMax = 256;

    /// The spans that have ended with these events.
    std::vector<Span> make(const InstanceSummary& instance, std::span<const HistoryEntry> events);

 private:
    using Visit = std::pair<InstanceId, std::int64_t>;

    void add_attempt(
        std::vector<Span>& spans, const InstanceSummary& instance, const HistoryEntry& event
    );
    void add_step(
        std::vector<Span>& spans, const InstanceSummary& instance, const HistoryEntry& event
    );
    void remember(const Visit& visit, TimePoint began);

    std::map<Visit, TimePoint> began_;  // of steps that are tried again
    std::deque<Visit> order_;
};

/// The body of a request to `/v1/traces`.
std::string to_otlp(
    std::span<const Span> spans,
    const std::vector<std::pair<std::string, std::string>>& resource,
    const std::string& version
);

}  // namespace ebb::telemetry
