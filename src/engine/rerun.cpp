#include "engine/rerun.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "core/kernel/label_codec.h"

namespace ebb::engine {

namespace {

/// An instance that has as many labels as are allowed keeps them, and has no room for the link.
Labels rerun_labels(const InstanceRow& old) {
    Labels labels = labels_of_state(old.state);
    labels.erase(std::string(kRerunOfLabel));
    if (labels.size() < LabelLimits::kLabelsMax) {
        labels.emplace(kRerunOfLabel, old.id.to_string());
    }
    return labels;
}

}  // namespace

StartedInstance rerun(
    Engine& engine, Store& store, const InstanceRow& old, const RerunRequest& request
) {
    check_rerun(old.status, RerunScope::One);
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
         .labels = rerun_labels(old)}
    );
}

std::string rerun_key(const InstanceId& old) {
    return std::string(kRerunKey) + old.to_string();
}

void check_rerun(InstanceStatus status, RerunScope scope) {
    switch (status) {
        case InstanceStatus::Failed:
        case InstanceStatus::Cancelled:
        case InstanceStatus::Aborted:
            return;
        case InstanceStatus::Completed:
            if (scope == RerunScope::One) return;
            throw Error(
                ErrorCode::InvalidState,
                "It is completed. A rerun of many repeats only what has failed or was cancelled or "
                "aborted."
            );
        case InstanceStatus::DeadLetter:
            throw Error(
                ErrorCode::InvalidState,
                "It is dead-lettered: it has not ended. A requeue continues it."
            );
        default:
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "It is {}. Only an instance that has ended is rerun.", to_string(status)
                )
            );
    }
}

}  // namespace ebb::engine
