#pragma once

#include "store/store.h"

namespace ebb {

// What every store must answer alike.

/// Throws WorkflowConflict for a definition that differs from the one kept under the same name and
/// version.
[[noreturn]] void throw_workflow_conflict(const WorkflowRow& row);

/// Whether a worker takes tasks of that handler and queue. Any worker runs the engine's own tasks.
bool can_run(const WorkerRow& worker, const Store::Unserved& waiting);

}  // namespace ebb
