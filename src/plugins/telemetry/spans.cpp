#include "plugins/telemetry/spans.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "support/json.h"
#include "support/sha256.h"

namespace ebb::telemetry {

namespace {

constexpr std::size_t kSpanIdDigits = 16;

/// Derived, so that every process gives the same span the same id.
std::string span_id(const InstanceId& instance, std::string_view what) {
    return sha256_hex(fmt::format("{} {}", instance.to_string(), what)).substr(0, kSpanIdDigits);
}

std::string root_id(const InstanceId& instance) {
    return span_id(instance, "root");
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
    constexpr int kInternal = 1;
    constexpr int kError = 2;
    Json json{
        {"traceId", span.trace_id},
        {"spanId", span.id},
        {"name", span.name},
        {"kind", kInternal},
        {"startTimeUnixNano", nanoseconds(span.start)},
        {"endTimeUnixNano", nanoseconds(std::max(span.start, span.end))},
        {"attributes", Json::array()},
    };
    if (!span.parent_id.empty()) json["parentSpanId"] = span.parent_id;
    for (const auto& [name, value] : span.attributes) {
        json["attributes"].push_back(attribute(name, value));
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
    constexpr std::size_t kRandomBytes = 7;
    std::uint64_t random = 0;
    for (std::size_t i = instance.bytes.size() - kRandomBytes; i < instance.bytes.size(); ++i) {
        random = random << 8U | instance.bytes[i];
    }
    // As whole numbers: a double has fewer digits than there are random bits.
    return random >= static_cast<std::uint64_t>(std::ldexp(1 - ratio, 8 * kRandomBytes));
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
        span_id(
            instance.id, fmt::format("{} {} {} {}", word, event.visit, event.ref, event.attempt)
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
    if (!kind.ends_step) {
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
