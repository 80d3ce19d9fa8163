#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <ebb/time.h>

#include "core/filter/filter.h"
#include "server/api/query.h"
#include "store/search.h"

namespace ebb::server {

/// What one request may read if no index serves its filter.
inline constexpr int kScanRowsMax = InstanceSearch::kScanMax;
inline constexpr auto kScanTimeMax = std::chrono::milliseconds(150);

/// What the parameters `where`, `label`, `failure`, `error_code`, `error_step` and `q` say; none if
/// none of them is there. Throws Problem.
std::optional<filter::Condition> read_where(Query& query, TimePoint now);

/// The same for a member of a body.
filter::Condition compile_where(const std::string& where, TimePoint now);

}  // namespace ebb::server
