#pragma once

#include <optional>
#include <string_view>

#include "store/sqlite/database.h"
#include "store/store.h"

namespace ebb::sqlite {

/// Leases one task in the transaction that is open. Empty when its instance cannot be understood:
/// the task is then parked, so one broken row does not stop all work.
std::optional<Claim> lease_task(
    Database& database, std::string_view instance, TokenId token, std::string_view worker
);

/// Does another process have the worker's name now?
bool is_displaced(Database& database, const WorkerProcess& worker);

}  // namespace ebb::sqlite
