#pragma once

#include <ebb/queue.h>

#include "view/payload_json.h"

// Workers and their tasks, and tasks that wait because no worker can run them.

namespace ebb::view {

Json worker_json(const WorkerView& worker);
Json unserved_json(const UnservedTasks& tasks);
Json queue_json(const QueueView& queue);

}  // namespace ebb::view
