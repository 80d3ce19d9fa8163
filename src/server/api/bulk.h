#pragma once

#include "server/api/service.h"
#include "view/bulks.h"

namespace ebb::server {

/// The bulk operation with this id. What the principal may not see does not exist: users whose
/// grants are in projects see only what they have started. Throws Problem.
InstanceId visible_bulk(Service& service, const Principal& principal, const std::string& id);

/// A page of those that the principal may see.
InstancePage visible_bulks(
    Service& service, const Principal& principal, view::BulkListQuery query = {}
);

/// Acts on all instances that a filter or a list names.
void add_bulk_routes(Routes& routes, Service& service);

}  // namespace ebb::server
