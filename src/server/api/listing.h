#pragma once

#include <string>

#include "server/api/service.h"
#include "view/payload_json.h"

// Lists of instances.

namespace ebb::server {

http::Response list_instances(Service& service, Call& call);

/// The items of the page of instances that a query of `/instances` asks for, of those that the
/// principal may see. Throws Problem.
view::Json list_page(Service& service, const Principal& principal, const std::string& query);

}  // namespace ebb::server
