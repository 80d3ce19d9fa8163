#pragma once

#include <string>

#include "store/store.h"
#include "view/payload_json.h"

namespace ebb::server {

/// The items of the page of instances that a query of `/instances` asks for. Throws Problem.
view::Json list_page(Store& store, const std::string& query);

}  // namespace ebb::server
