#pragma once

#include "server/api/service.h"

namespace ebb::server {

/// Acts on all instances that a filter or a list names.
void add_bulk_routes(Routes& routes, Service& service);

}  // namespace ebb::server
