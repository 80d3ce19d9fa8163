#pragma once

#include "server/api/service.h"

namespace ebb::server {

void add_activity_routes(Routes& routes, Service& service);

}  // namespace ebb::server
