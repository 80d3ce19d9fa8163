#pragma once

#include <string>

#include <ebb/stateless.h>

#include "golden_case.h"

namespace ebb::golden {

/// Does the case depend on what only several processes can do: something that happens while a
/// handler runs, a worker that dies, a handler that is deployed later? A snapshot has one owner at
/// a time.
bool needs_processes(const Case& test_case);

/// Plays a case by the stateless engine: one process per step, as it were, because the snapshot
/// goes through its JSON text before each. Tells the same as play(), without steps and waits.
std::string play_stateless(const Case& test_case, const stateless::HistoryPolicy& policy);

}  // namespace ebb::golden
