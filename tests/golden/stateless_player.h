#pragma once

#include <string>

#include <ebb/stateless.h>

#include "golden_case.h"

namespace ebb::golden {

/// Does the case depend on something that happens while a handler runs? A snapshot has one owner at
/// a time, so that cannot be.
bool happens_during_calls(const Case& test_case);

/// Plays a case by the stateless engine: one process per step, as it were, because the snapshot
/// goes through its JSON text before each. Tells the same as play(), without steps and waits.
std::string play_stateless(const Case& test_case, const stateless::HistoryPolicy& policy);

}  // namespace ebb::golden
