#pragma once

#include <optional>
#include <string>

#include <ebb/retention.h>

#include "store/store.h"
#include "view/payload_json.h"

// How long instances are kept, and what was deleted.

namespace ebb::view {

inline constexpr std::string_view kForever = "forever";

/// `30d`, `1d12h`: whole days are easier to read than hours; kForever if there is no limit.
std::string kept_text(const std::optional<Duration>& kept);

Json retention_json(const RetentionRule& rule, const std::optional<PartitionView>& partitions);
Json purge_json(const PurgeReport& report, bool is_dry_run);

}  // namespace ebb::view
