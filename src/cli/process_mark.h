#pragma once

#include <string>

#include "store/store.h"

namespace ebb::cli {

/// A worker's name that identifies its process: host, process id, a mark of this boot and process
/// namespace, and the time at which the process began. So another process on this host can find out
/// whether that process still exists. Empty if the system does not say: the engine then makes a
/// name.
std::string process_worker_id();

/// Whether a process of this host named `worker` so and has ended: its leases need not run out
/// before another process takes them over. False if that cannot be known.
bool has_died_here(const WorkerRow& worker);

/// Ends the leases of all processes that have died on this host, as if their time had run out: what
/// they were doing counts as lost and can be claimed at once. Does nothing if there are none.
void end_leases_of_dead_processes(Store& store);

}  // namespace ebb::cli
