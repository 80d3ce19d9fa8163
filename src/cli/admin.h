#pragma once

#include <memory>
#include <string>

#include "cli/session.h"
#include "store/admin_store.h"

namespace ebb::cli {

/// The database of `ebb serve`: that of --db, or `ebb.db` in the current folder.
std::string served_url(const Session& session);

/// That of a database that outlives this command: one that a server uses or will use. Throws Error
/// if the database does not exist.
std::unique_ptr<AdminStore> open_shared_admin(Session& session);

/// The secret in a file, without the line feed at its end. Throws Error if all users can read it.
std::string read_secret_file(const std::string& path);

/// Where the server of this database keeps its tokens and sessions.
std::unique_ptr<AdminStore> open_admin_store(const std::string& url);

}  // namespace ebb::cli
