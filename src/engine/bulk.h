#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <ebb/engine.h>
#include <ebb/handler.h>

#include "engine/bulk_job.h"
#include "store/store.h"

namespace ebb::engine {

/// Adds the handler `ebb:bulk`, which counts the instances of a bulk and acts on at most
/// kBulkTurnMax of them in each turn. Each instance is acted on once, however often a turn is
/// repeated: its history names the bulk, and the act is done only at the revision at which it did
/// not. `engine` acts; it is called only while a handler runs. Both must outlive the registry.
void add_bulk_handler(HandlerRegistry& registry, Store& store, std::function<Engine&()> engine);

inline constexpr int kBulkTurnMax = 500;

/// Starts a bulk; with a key that was used before, yields that one. Workers find it with their next
/// claim, or at once after Engine::wake_workers. `id`: the one that a new bulk gets; none = any.
/// Throws Error.
StartedInstance start_bulk(
    Store& store,
    const BulkJob& job,
    const std::string& key = {},
    const std::optional<InstanceId>& id = {}
);

/// Ids from this one on are started after `at`. It is above all ids that this process has made,
/// also if its clock has gone back since then: the date of a database is known with an error.
InstanceId bulk_limit(const Clock& clock, TimePoint at);

/// The instances of a job as a search from its beginning. Throws ExpressionError for a filter that
/// cannot be used.
InstanceSearch bulk_search(const BulkJob& job);
/// How many they are; none if `stop` came first.
std::optional<std::int64_t> count_bulk(
    Store& store, const BulkJob& job, const std::stop_token& stop
);
/// Whether the job may act on an instance of this workflow.
bool is_in_bulk(const BulkJob& job, const std::string& workflow);

}  // namespace ebb::engine
