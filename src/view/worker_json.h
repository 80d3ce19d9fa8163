#pragma once

#include <ebb/queue.h>

#include "view/payload_json.h"

// Who runs what, and what waits because no worker runs it.

namespace ebb::view {

Json worker_json(const WorkerView& worker);
Json unserved_json(const UnservedTasks& tasks);
Json queue_json(const QueueView& queue);

}  // namespace ebb::view
