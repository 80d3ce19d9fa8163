#pragma once

#include <memory>

#include "cli/api_call.h"
#include "cli/client.h"

namespace ebb::cli {

/// A client of the server at `address`. Who acts is the owner of the token. Asks nothing before it
/// is used.
std::unique_ptr<Client> make_remote_client(ServerAddress address, std::string token);

}  // namespace ebb::cli
