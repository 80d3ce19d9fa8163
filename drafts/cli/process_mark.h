#pragma once

#include <string>

#include "store/store.h"

namespace ebb::cli {

/// A worker's name that says which process it is: host, process id, what tells this boot and
/// process namespace from others, and when the process began. So another process on this host can
/// tell whether it is still there.
std::string process_worker_id();

/// Whether `worker` was named so by a process of this host that has ended: its leases need not run
/// out before somebody takes them over. False if that cannot be known.
bool has_died_here(const WorkerRow& worker);

}  // namespace ebb::cli
