#include "engine/system_workflows.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>

#include "support/clock.h"
#include "support/json.h"

namespace ebb::engine {

namespace {

/// 15 attempts in about three days.
constexpr std::string_view kWebhookJson = R"({
    "workflow": "ebb:webhook",
    "version": 1,
    "description": "Delivers one event to one subscription. Ebb starts it; see how-to/webhooks.",
    "on_error": "dead_letter",
    "steps": [{
        "step": "deliver",
        "handler": "ebb:deliver",
        "queue": "ebb.webhooks",
        "concurrency_key": "input.subscription",
        "timeout": "30s",
        "max_attempts": 15,
        "backoff": {"strategy": "exponential", "initial": "5s", "factor": 3, "max": "12h"}
    }]
})";

/// Of the number in the outbox of an event that is delivered again.
constexpr Seq kRedeliveryStep = 100;
static_assert(kRedeliveriesMax < kRedeliveryStep);

Seq event_of(const Notice& notice) {
    return notice.seq >= 0 ? notice.seq : -notice.seq / kRedeliveryStep;
}

[[noreturn]] void refuse(std::string_view what, std::string_view name) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "The {} \"{}\" cannot be used: names that begin with \"{}\" are Ebb's own.",
            what,
            clean_text(name, DefinitionLimits::kNameBytesMax),
            kSystemPrefix
        )
    );
}

}  // namespace

WorkflowRow webhook_workflow(TimePoint now) {
    const Definition definition = parse_definition_json(kWebhookJson);
    return {
        .name = definition.name,
        .version = definition.version,
        .definition = to_text(definition_to_json(definition)),
        .checksum = definition_checksum(definition),
        .created_at = now,
    };
}

std::string delivery_key(const OutboxRow& row) {
    const Notice& notice = row.notice;
    std::string key =
        fmt::format("{}/{}/{}", notice.subscription, row.instance.to_string(), event_of(notice));
    if (notice.seq < 0) key += fmt::format(".{}", -notice.seq % kRedeliveryStep);
    return key;
}

Seq redelivery_seq(Seq seq, int nth) {
    return -(seq * kRedeliveryStep + nth);
}

OutboxRow row_of_delivery(const std::string& key, const Payload& input) {
    const std::size_t slash = key.find('/');
    const std::size_t second = key.find('/', slash + 1);
    const auto event = nlohmann::ordered_json::parse(input, nullptr, false);
    if (second != std::string::npos && event.is_object()) {
        const auto id = InstanceId::parse(key.substr(slash + 1, second - slash - 1));
        const auto at = parse_time(event.value("timestamp", ""));
        if (id && at) {
            return {
                .instance = *id,
                .notice =
                    {.subscription = key.substr(0, slash),
                     .seq = std::strtoll(key.c_str() + second + 1, nullptr, 10),
                     .type = event.value("type", ""),
                     .data = event.value("data", nlohmann::ordered_json::object()).dump(),
                     .at = *at}
            };
        }
    }
    throw Error(ErrorCode::CorruptState, "The delivery does not say what it delivers.");
}

Payload delivery_input(const OutboxRow& row) {
    const Notice& notice = row.notice;
    const nlohmann::ordered_json head{
        {"subscription", notice.subscription},
        {"id", fmt::format("evt_{}_{}", row.instance.to_string(), event_of(notice))},
        {"type", notice.type},
        {"timestamp", format_time(notice.at)},
    };
    std::string text = head.dump();
    text.pop_back();
    return Payload::text(fmt::format("{},\"data\":{}}}", text, notice.data));
}

void refuse_reserved_names(const Program& program) {
    const std::string& name = program.definition().name;
    if (is_system_workflow(name)) refuse("workflow", name);
    for (const std::string& handler : program.handlers()) {
        if (handler.starts_with(kSystemPrefix)) refuse("handler", handler);
    }
}

void refuse_system_workflow(std::string_view workflow) {
    if (!is_system_workflow(workflow)) return;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "Only Ebb starts the workflow \"{}\".",
            clean_text(workflow, DefinitionLimits::kNameBytesMax)
        )
    );
}

}  // namespace ebb::engine
