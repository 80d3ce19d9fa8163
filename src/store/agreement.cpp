#include "store/agreement.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void throw_workflow_conflict(const WorkflowRow& row) {
    throw Error(
        ErrorCode::WorkflowConflict,
        fmt::format(
            "The store already has version {0} of the workflow '{1}' with another content. A "
            "version "
            "never changes: register the new content as version {2}.",
            row.version,
            row.name,
            row.version + 1
        )
    );
}

bool can_run(const WorkerRow& worker, const Store::Unserved& waiting) {
    if (waiting.handler == kEngineHandler) return true;
    return contains(worker.handlers, waiting.handler) &&
           (worker.queues.empty() || contains(worker.queues, waiting.queue));
}

}  // namespace ebb
