#pragma once

#include <optional>
#include <span>

#include "store/postgres/connection.h"
#include "store/store.h"

namespace ebb::postgres {

/// Writes them in the transaction that is open on the connection, or in one of their own. The
/// answer's rows name those that were not written: from 1, and whether the instance exists.
Result write_commits(
    Connection& connection, std::span<const Commit> commits, std::optional<TimePoint> now
);

}  // namespace ebb::postgres
