#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ebb/engine.h>

#include "engine/bulk_job.h"
#include "store/store.h"
#include "view/payload_json.h"

// Bulk operations, and how far they have come.

namespace ebb::view {

/// What was asked for, how far it is, and what was left alone. `status` is that of its instance, or
/// `canary_failed`: the instances that were requeued or started first have failed again, and an
/// operator continues or cancels it.
Json bulk_json(Store& store, const InstanceSummary& bulk);

struct BulkListQuery {
    std::string by{};  ///< only those that were started by this user; empty = all
    std::optional<InstanceId> before{};
    int limit = 50;
};

/// The newest first.
InstancePage list_bulks(Engine& engine, const BulkListQuery& query);

/// What a job would concern.
struct BulkPreview {
    std::int64_t matched = 0;
    std::vector<std::pair<InstanceStatus, std::int64_t>> counts{};
    std::vector<InstanceSummary> samples{};
    bool is_complete = true;  ///< false: it took too long to count all of them
};

/// Changes nothing.
BulkPreview preview_bulk(Store& store, const engine::BulkJob& job);

Json preview_json(const BulkPreview& preview);

}  // namespace ebb::view
