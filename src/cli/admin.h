#pragma once

#include <memory>
#include <string>

#include "cli/session.h"
#include "store/admin_store.h"

namespace ebb::cli {

/// The database of `ebb serve`: that of --db, or `ebb.db` in the current folder.
std::string served_url(const Session& session);

/// Where the server of this database keeps its tokens and sessions.
std::unique_ptr<AdminStore> open_admin_store(const std::string& url);

}  // namespace ebb::cli
