#pragma once

#include <vector>

#include <ebb/server.h>

#include "server/http/http.h"

namespace ebb::server {

/// Nothing is open by default. Throws Error with InvalidArgument where these options would let
/// anybody in, with the ways out.
void check_start_rules(const ServerOptions& options, const std::vector<http::Endpoint>& endpoints);

}  // namespace ebb::server
