#include "server/remote/poll_answer.h"

#include "support/clock.h"

namespace ebb::server {

namespace {

std::string_view or_null(const Payload& payload) {
    return payload.empty() ? std::string_view("null") : std::string_view(payload);
}

std::string_view boolean(bool value) {
    return value ? "true" : "false";
}

void write_time(JsonWriter& writer, TimePoint time) {
    if (time == TimePoint{} || time == kNever) {
        writer.raw("null");
    } else {
        writer.plain(format_time(time));
    }
}

/// `write` is called with each item.
template <typename Items, typename Write>
void write_list(JsonWriter& writer, const Items& items, Write&& write) {
    writer.put('[');
    bool is_first = true;
    for (const auto& item : items) {
        if (!is_first) writer.put(',');
        is_first = false;
        write(item);
    }
    writer.put(']');
}

void write_result(JsonWriter& writer, const TaskResult& result) {
    writer.put('{');
    writer.string("task", result.token);
    writer.string("outcome", to_string(result.outcome));
    if (!result.code.empty()) {
        writer.raw("problem", "{");
        writer.string("code", result.code);
        writer.string("detail", result.detail);
        writer.put('}');
    }
    writer.put('}');
}

}  // namespace

PollAnswer::PollAnswer() {
    writer_.put('{');
    writer_.raw("tasks", "[");
}

void PollAnswer::add_task(
    std::string_view token, const StepContext& context, const Payload& input
) {
    if (has_tasks_) writer_.put(',');
    has_tasks_ = true;
    writer_.put('{');
    writer_.string("task", token);
    writer_.plain("instance", context.instance.to_string());
    writer_.string("workflow", context.workflow);
    writer_.number("version", context.workflow_version);
    writer_.string("step", context.step);
    writer_.string("handler", context.handler);
    writer_.number("attempt", context.attempt);
    writer_.number("max_attempts", context.max_attempts);
    writer_.number("pauses", context.pauses);
    writer_.string("idempotency_key", context.idempotency_key);
    writer_.key("deadline");
    write_time(writer_, context.deadline);
    writer_.raw("is_compensation", boolean(context.compensates.has_value()));
    writer_.raw("payload", context.payload ? or_null(*context.payload) : "null");
    writer_.raw("metadata", or_null(context.metadata));
    if (const std::string trace = context.traceparent(); !trace.empty()) {
        writer_.string("traceparent", trace);
    }
    writer_.raw("input", or_null(input));
    writer_.put('}');
}

std::string PollAnswer::take(const Rest& rest) {
    const auto write_token = [this](std::string_view token) { writer_.string(token); };
    writer_.put(']');
    writer_.key("results");
    write_list(writer_, rest.results, [this](const TaskResult& each) {
        write_result(writer_, each);
    });
    writer_.key("stop");
    write_list(writer_, rest.stops, write_token);
    writer_.key("lost");
    write_list(writer_, rest.lost, write_token);
    writer_.key("lease_until");
    write_time(writer_, rest.lease_until);
    writer_.raw("drain", boolean(rest.is_draining));
    writer_.put('}');
    return writer_.take();
}

}  // namespace ebb::server
