#pragma once

#include <string>

#include "server/api/service.h"

namespace ebb::server {

/// The start key that represents the Idempotency-Key of a request; empty if it has none. `~` is in
/// no key of a user's own request. Throws Problem.
std::string reserved_key(const Call& call);

}  // namespace ebb::server
