#pragma once

#include <ebb/engine.h>

#include "cli/report.h"

namespace ebb::cli {

/// Waits as `ebb wait` does, and answers with its exit code.
int wait_for_end(Session& session, Engine& engine, const InstanceId& id, Duration timeout);

/// Complains of `why`, with the instance that nobody waits for any more and how to go on with it.
/// Returns its exit code.
int tell_left_alone(Session& session, const InstanceId& id, const Complaint& why);
int tell_left_alone(Session& session, const InstanceId& id, const Error& why);

}  // namespace ebb::cli
