#include "engine/system_workflows.h"

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
    return fmt::format("{}/{}/{}", notice.subscription, row.instance.to_string(), notice.seq);
}

Payload delivery_input(const OutboxRow& row) {
    const Notice& notice = row.notice;
    const nlohmann::ordered_json head{
        {"subscription", notice.subscription},
        {"id", fmt::format("evt_{}_{}", row.instance.to_string(), notice.seq)},
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
