#pragma once

#include <ebb/id.h>

#include "cli/client.h"
#include "cli/options.h"
#include "cli/session.h"

namespace ebb::cli {

/// What `ebb recover` would do, as text or JSON. Returns the exit code.
int print_recovery_plan(
    Session& session, Client& client, const InstanceId& id, const RecoverCommandOptions& options
);

}  // namespace ebb::cli
