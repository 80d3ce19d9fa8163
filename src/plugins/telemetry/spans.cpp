#include "plugins/telemetry/spans.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "support/json.h"
#include "support/sha256.h"
#include "support/uuid.h"

namespace ebb::telemetry {

namespace {

constexpr std::size_t kSpanIdDigits = 16;
constexpr std::size_t kTraceIdDigits = 32;
constexpr std::size_t kRandomBytes = 7;

// `00-` trace id `-` span id `-` flags
constexpr std::size_t kParentAt = 3 + kTraceIdDigits + 1;
constexpr std::size_t kFlagsAt = kParentAt + kSpanIdDigits + 1;
constexpr std::size_t kTraceparentBytes = kFlagsAt + 2;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Of the version 00, or of a later one, which may be longer.
bool is_traceparent(std::string_view text) {
    const auto version = text.substr(0, 2);
    const bool has_length =
        text.size() == kTraceparentBytes ||
        (text.size() > kTraceparentBytes && version != "00" && text[kTraceparentBytes] == '-');
    if (!has_length || !is_hex(version) || version == "ff") return false;
    if (text[2] != '-' || text[kParentAt - 1] != '-' || text[kFlagsAt - 1] != '-') return false;
    const auto trace = text.substr(3, kTraceIdDigits);
    const auto parent = text.substr(kParentAt, kSpanIdDigits);
    const auto is_zero = [](std::string_view id) {
        return id.find_first_not_of('0') == std::string_view::npos;
    };
    return is_hex(trace) && is_hex(parent) && is_hex(text.substr(kFlagsAt, 2)) && !is_zero(trace) &&
           !is_zero(parent);
}

/// As whole numbers: a double has fewer digits than there are random bits.
bool is_in_share(std::uint64_t random, double ratio) {
    return random >= static_cast<std::uint64_t>(std::ldexp(1 - ratio, 8 * kRandomBytes));
}

/// Derived, so that every process gives the same span the same id.
std::string span_id(const InstanceId& instance, std::string_view what) {
    return sha256_hex(fmt::format("{} {}", instance.to_string(), what)).substr(0, kSpanIdDigits);
}

std::string root_id(const InstanceId& instance) {
    return span_id(instance, "root");
}

/// The same from an event of its end and from the call itself.
std::string attempt_id(const CallId& call) {
    const std::string_view word = call.is_compensation ? "compensate" : "attempt";
    return span_id(call.instance, fmt::format("{} {} {}", word, call.visit, call.attempt));
}

std::string step_id(const InstanceId& instance, const HistoryEntry& event) {
    return span_id(instance, fmt::format("step {}", event.visit));
}

/// `text` up to a limit, and not in the middle of a character.
std::string shortened(std::string text) {
    if (text.size() <= SpanMaker::kMessageBytesMax) return text;
    std::size_t end = SpanMaker::kMessageBytesMax;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.resize(end);
    return text;
}

/// The failure in the payload of an event: its code and message.
void add_failure(Span& span, const HistoryEntry& event) {
    span.is_error = true;
    const Json failure = Json::parse(event.payload, nullptr, false);
    if (!failure.is_object()) return;
    const auto text = [&](const char* name) {
        const auto found = failure.find(name);
        const bool is_text = found != failure.end() && found->is_string();
        return is_text ? found->get<std::string>() : std::string();
    };
    if (auto code = text("code"); !code.empty()) {
        span.attributes.emplace_back("error.type", std::move(code));
    }
    span.message = shortened(text("message"));
}

Span span_of(const InstanceSummary& instance, std::string id, std::string name) {
    return {
        .trace_id = trace_id_of(instance.id),
        .id = std::move(id),
        .parent_id = root_id(instance.id),
        .name = std::move(name),
        .attributes =
            {{"ebb.instance.id", instance.id.to_string()},
             {"ebb.workflow.name", instance.workflow},
             {"ebb.workflow.version", std::int64_t{instance.version}}},
    };
}

struct Kind {
    std::string_view event;
    bool is_compensation = false;
    bool is_failure = false;
    bool ends_step = false;
};

/// The events that end an attempt.
constexpr Kind kKinds[] = {
    {.event = "step_completed", .ends_step = true},
    {.event = "step_retried", .is_failure = true},
    {.event = "step_failed", .is_failure = true, .ends_step = true},
    {.event = "step_compensated", .is_compensation = true},
    {.event = "compensation_retried", .is_compensation = true, .is_failure = true},
    {.event = "compensation_failed", .is_compensation = true, .is_failure = true},
};

const Kind* kind_of(const HistoryEntry& event) {
    const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& kind) {
        return kind.event == event.type;
    });
    return found == std::end(kKinds) ? nullptr : found;
}

/// The whole life of an instance that has ended.
Span root_of(const InstanceSummary& instance) {
    Span root = span_of(instance, root_id(instance.id), "workflow " + instance.workflow);
    root.parent_id.clear();
    root.start = instance.created_at;
    root.end = instance.finished_at;
    root.attributes.emplace_back("ebb.instance.status", std::string(to_string(instance.status)));
    root.is_error = instance.status != InstanceStatus::Completed;
    return root;
}

Json attribute(const std::string& name, const std::variant<std::string, std::int64_t>& value) {
    Json json{{"key", name}};
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        json["value"] = {{"intValue", std::to_string(*number)}};
    } else {
        json["value"] = {{"stringValue", std::get<std::string>(value)}};
    }
    return json;
}

std::string nanoseconds(TimePoint time) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count()
    );
}

Json to_json(const Span& span) {
    constexpr int kError = 2;
    Json json{
        {"traceId", span.trace_id},
        {"spanId", span.id},
        {"name", span.name},
        {"kind", static_cast<int>(span.kind)},
        {"startTimeUnixNano", nanoseconds(span.start)},
        {"endTimeUnixNano", nanoseconds(std::max(span.start, span.end))},
        {"attributes", Json::array()},
    };
    if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
    for (const auto& [name, value] : span.attributes) {
        json["attributes"].push_back(attribute(name, value));
    }
    for (const Span::Link& link : span.links) {
        json["links"].push_back({{"traceId", link.trace_id}, {"spanId", link.id}});
    }
    if (!span.is_error) return json;
    json["status"] = {{"code", kError}};
    if (!span.message.empty()) json["status"]["message"] = span.message;
    return json;
}

}  // namespace

std::string trace_id_of(const InstanceId& instance) {
    std::string text = instance.to_string();
    std::erase(text, '-');
    return text;
}

bool is_sampled(const InstanceId& instance, double ratio) {
    std::uint64_t random = 0;
    for (std::size_t i = instance.bytes.size() - kRandomBytes; i < instance.bytes.size(); ++i) {
        random = random << 8U | instance.bytes[i];
    }
    return is_in_share(random, ratio);
}

std::string traceparent_of(const CallId& call, bool is_sampled) {
    return fmt::format(
        "00-{}-{}-{}", trace_id_of(call.instance), attempt_id(call), is_sampled ? "01" : "00"
    );
}

RequestTrace request_trace(std::string_view traceparent, double ratio) {
    RequestTrace trace;
    trace.span_id = fmt::format("{:016x}", std::max<std::uint64_t>(random_bits(), 1));
    if (is_traceparent(traceparent)) {
        trace.trace_id = traceparent.substr(3, kTraceIdDigits);
        trace.parent_id = traceparent.substr(kParentAt, kSpanIdDigits);
        const char flags = traceparent[kFlagsAt + 1];
        trace.is_sampled = std::string_view("13579bdf").find(flags) != std::string_view::npos;
        return trace;
    }
    const std::uint64_t low = std::max<std::uint64_t>(random_bits(), 1);
    trace.trace_id = fmt::format("{:016x}{:016x}", random_bits(), low);
    trace.is_sampled = is_in_share(low & ((std::uint64_t{1} << (8 * kRandomBytes)) - 1), ratio);
    return trace;
}

Span request_span(const RequestTrace& trace, const RequestEnd& end) {
    constexpr int kServerError = 500;
    Span span{
        .trace_id = trace.trace_id,
        .id = trace.span_id,
        .parent_id = trace.parent_id,
        .name = end.route.empty() ? end.method : end.method + " " + end.route,
        .start = end.start,
        .end = end.end,
        .attributes =
            {{"http.request.method", end.method},
             {"url.scheme", end.scheme},
             {"http.response.status_code", std::int64_t{end.status}}},
    };
    span.kind = Span::Kind::Server;
    if (!end.route.empty()) span.attributes.emplace_back("http.route", end.route);
    if (end.status < kServerError) return span;
    span.is_error = true;
    span.attributes.emplace_back("error.type", std::to_string(end.status));
    return span;
}

Span start_span(
    const RequestTrace& trace, const std::string& workflow, const InstanceId& instance
) {
    const std::string word = "start " + workflow;
    Span span{
        .trace_id = trace.trace_id,
        .id = span_id(instance, trace.span_id + " start"),
        .parent_id = trace.span_id,
        .name = word,
        .attributes = {{"ebb.instance.id", instance.to_string()}, {"ebb.workflow.name", workflow}},
    };
    span.kind = Span::Kind::Producer;
    span.links.push_back({trace_id_of(instance), root_id(instance)});
    return span;
}

void SpanMaker::remember(const Visit& visit, TimePoint began) {
    if (!began_.emplace(visit, began).second) return;
    order_.push_back(visit);
    if (order_.size() <= kRememberedMax) return;
    began_.erase(order_.front());
    order_.pop_front();
}

void SpanMaker::add_attempt(
    std::vector<Span>& spans, const InstanceSummary& instance, const HistoryEntry& event
) {
    const Kind& kind = *kind_of(event);
    const std::string_view word = kind.is_compensation ? "compensate" : "attempt";
    Span span = span_of(
        instance,
        attempt_id(
            {.instance = instance.id,
             .visit = event.visit,
             .attempt = event.attempt,
             .is_compensation = kind.is_compensation}
        ),
        fmt::format("{} {}", word, event.node)
    );
    if (!kind.is_compensation) span.parent_id = step_id(instance.id, event);
    span.start = event.started_at;
    span.end = event.at;
    span.attributes.emplace_back("ebb.step.name", event.node);
    span.attributes.emplace_back("ebb.attempt", std::int64_t{event.attempt});
    if (!event.worker.empty()) span.attributes.emplace_back("ebb.worker.id", event.worker);
    if (kind.is_failure) add_failure(span, event);
    spans.push_back(std::move(span));
}

void SpanMaker::add_step(
    std::vector<Span>& spans, const InstanceSummary& instance, const HistoryEntry& event
) {
    const Kind& kind = *kind_of(event);
    const Visit visit{instance.id, event.visit};
    // A requeue continues the visit of a step that is frozen, so the step has not ended.
    const bool is_frozen = kind.is_failure && instance.status == InstanceStatus::DeadLetter;
    if (!kind.ends_step || is_frozen) {
        if (!kind.is_compensation) remember(visit, event.started_at);
        return;
    }
    Span span = span_of(instance, step_id(instance.id, event), "step " + event.node);
    span.start = event.started_at;
    if (const auto found = began_.find(visit); found != began_.end()) {
        span.start = std::min(found->second, span.start);
        began_.erase(found);
        std::erase(order_, visit);
    }
    span.end = event.at;
    span.attributes.emplace_back("ebb.step.name", event.node);
    span.attributes.emplace_back("ebb.attempts", std::int64_t{event.attempt});
    if (kind.is_failure) add_failure(span, event);
    spans.push_back(std::move(span));
}

std::vector<Span> SpanMaker::make(
    const InstanceSummary& instance, std::span<const HistoryEntry> events
) {
    std::vector<Span> spans;
    for (const HistoryEntry& event : events) {
        // Without it, no attempt was made: a step that was refused before its call.
        if (kind_of(event) == nullptr || event.started_at == TimePoint{}) continue;
        add_attempt(spans, instance, event);
        add_step(spans, instance, event);
    }
    if (instance.finished_at != TimePoint{}) spans.push_back(root_of(instance));
    return spans;
}

std::string to_otlp(
    std::span<const Span> spans,
    const std::vector<std::pair<std::string, std::string>>& resource,
    const std::string& version
) {
    Json attributes = Json::array();
    for (const auto& [name, value] : resource) attributes.push_back(attribute(name, value));
    Json list = Json::array();
    for (const Span& span : spans) list.push_back(to_json(span));
    const Json scope{
        {"scope", {{"name", "ebb"}, {"version", version}}}, {"spans", std::move(list)}
    };
    const Json one{
        {"resource", {{"attributes", std::move(attributes)}}}, {"scopeSpans", Json::array({scope})}
    };
    return to_text(Json{{"resourceSpans", Json::array({one})}});
}

}  // namespace ebb::telemetry
