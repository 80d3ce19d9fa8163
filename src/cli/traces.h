#pragma once

#include <memory>

#include <ebb/telemetry.h>

#include "cli/session.h"

namespace ebb::cli {

/// Sends traces to the collector that the variables of OpenTelemetry name. Null: they name none, or
/// this build has no traces. `log` gets warnings and must outlive it; null = none. `has_messages`:
/// as in TelemetryOptions.
std::shared_ptr<Telemetry> traces_from_environment(
    Session& session, LogSink* log, bool has_messages
);

}  // namespace ebb::cli
