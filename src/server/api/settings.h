#pragma once

#include <ebb/queue.h>
#include <ebb/retention.h>

#include "server/api/body.h"

// What an operator sets: by a request, or in the configuration file of a server.

namespace ebb::server {

/// All of the body. Throws Problem.
QueueLimits read_queue_limits(Body& body);
Retention read_retention(Body& body);

}  // namespace ebb::server
