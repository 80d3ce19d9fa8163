#pragma once

#include <string>

#include <ebb/stateless.h>

#include "golden_case.h"
#include "store/store.h"
#include "support/clock.h"

namespace ebb::golden {

/// Does the case depend on what only several processes can do: something that happens while a
/// handler runs, a worker that dies, a handler that is deployed later? A snapshot has one owner at
/// a time.
bool needs_processes(const Case& test_case);

/// Does a handler of the case not return in time? The stateless engine cannot take the caller's
/// thread from it, so a result that comes late is a result.
bool needs_watchdog(const std::string& name);

/// Plays a case by the stateless engine: one process per step, as it were, because the snapshot
/// goes through its JSON text before each. Tells the same as play(), without steps and waits.
std::string play_stateless(const Case& test_case, const stateless::HistoryPolicy& policy);

/// The same, but the instance travels: before each step its snapshot is imported into `store`,
/// where a durable engine does one more step, and is exported again. Tells only what handlers were
/// called, and the end.
std::string play_travelling(
    const Case& test_case, const stateless::HistoryPolicy& policy, Store& store, ManualClock& clock
);

/// What play_travelling tells, of what play_stateless does.
std::string only_calls_and_end(const std::string& told);

}  // namespace ebb::golden
