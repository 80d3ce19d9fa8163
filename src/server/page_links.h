#pragma once

#include <vector>

#include <ebb/server.h>

namespace ebb::server {

/// Throws Error with InvalidArgument, and says which link is wrong and what is allowed.
void check_page_links(const std::vector<PageLink>& links);

}  // namespace ebb::server
