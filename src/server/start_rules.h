#pragma once

#include <vector>

#include <ebb/server.h>

#include "server/http/http.h"

namespace ebb::server {

/// Nothing is open by default. If these options would leave the server open to everyone, throws
/// Error with InvalidArgument and lists the ways to fix it.
void check_start_rules(const ServerOptions& options, const std::vector<http::Endpoint>& endpoints);

}  // namespace ebb::server
