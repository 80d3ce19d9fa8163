#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/serve_options.h"
#include "cli/worker_log.h"
#include "store/admin_store.h"
#include "store/store.h"

namespace ebb::cli {

class Demo;

/// Two handles of one database, so that no dashboard waits for a commit or the reverse. A database
/// in memory has one.
struct ServeStores {
    StorePtr store{};
    StorePtr own_reads{};
    Store* reads = nullptr;
    std::unique_ptr<AdminStore> admin{};
};

/// Throws Error if the settings of the databases do not go together. Opens none.
void check_stores(const ServeOptions& options, const std::string& url);

/// Opens the database `url` and the one of `db_read`. If a server of PostgreSQL does not answer, it
/// is asked again until it does; meanwhile the addresses of `listen` answer that the server is not
/// ready, and why. `demo` opens the database instead, unless it is null. Empty: a signal has ended
/// the wait. Throws Error for what waiting cannot fix, and with --no-wait for anything.
std::optional<ServeStores> open_stores(
    Session& session,
    const ServeOptions& options,
    const std::string& url,
    WorkerLog& log,
    Demo* demo
);

}  // namespace ebb::cli
