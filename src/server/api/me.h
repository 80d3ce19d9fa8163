#pragma once

#include <nlohmann/json.hpp>

#include "server/auth/access.h"

namespace ebb::server {

/// Who the principal is and what it may do, as `GET /me` shows it.
nlohmann::ordered_json me_json(const Principal& principal);

}  // namespace ebb::server
