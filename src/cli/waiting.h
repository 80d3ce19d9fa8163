#pragma once

#include "cli/client.h"
#include "cli/report.h"

namespace ebb::cli {

/// Waits as `ebb wait` does, and answers with its exit code.
int wait_for_end(Session& session, Client& engine, const InstanceId& id, Duration timeout);

/// Prints the error `why`, with the instance that is no longer waited for and how to continue with
/// it. Returns its exit code.
int tell_left_alone(Session& session, const InstanceId& id, const Complaint& why);
int tell_left_alone(Session& session, const InstanceId& id, const Error& why);

}  // namespace ebb::cli
