#include "engine/rerun.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "engine/view.h"

namespace ebb::engine {

namespace {

void check_rerun(InstanceStatus status) {
    switch (status) {
        case InstanceStatus::Failed:
        case InstanceStatus::Cancelled:
        case InstanceStatus::Aborted:
            return;
        case InstanceStatus::DeadLetter:
            throw Error(
                ErrorCode::InvalidState,
                "It is dead-lettered: it has not ended. A requeue continues it."
            );
        default:
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "It is {}. Only instances that have failed or were cancelled or aborted are "
                    "rerun.",
                    to_string(status)
                )
            );
    }
}

}  // namespace

StartedInstance rerun(
    Engine& engine, Store& store, const InstanceRow& old, const RerunRequest& request
) {
    check_rerun(old.status);
    Payload input = request.input.value_or(Payload());
    if (!request.input) {
        const std::vector<HistoryEvent> events = store.history({.instance = old.id, .limit = 1});
        if (events.empty() || events.front().type != HistoryType::Started) {
            throw Error(
                ErrorCode::CorruptState,
                fmt::format("The history of {} does not begin with its start.", old.id.to_string())
            );
        }
        input = events.front().payload;
    }
    return engine.start(
        old.workflow,
        input,
        {.version = request.version,
         .key = request.key,
         .priority = old.priority,
         .by = request.by,
         .labels = to_summary(old).labels}
    );
}

std::string rerun_key(const InstanceId& old) {
    return std::string(kRerunKey) + old.to_string();
}

}  // namespace ebb::engine
