#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core.h"
#include "stateless/data.h"
#include "store/store.h"

// An instance on its way between a store and a snapshot: its row in the store is `moved` while it
// is elsewhere.

namespace ebb::transfer {

/// What an import says of itself in the history, and an export reads again.
struct Arrival {
    std::string workflow_id;  ///< the application's name of it
    std::string sha256;       ///< of the snapshot
    std::int64_t version = 0;
    std::int64_t revision = 0;  ///< that its row has with it
    Payload metadata = "{}";
    std::string by;
};

Payload encode_arrival(const Arrival& arrival);
/// Of the snapshot that a row would be: it keeps rising when the instance changes its owner,
/// although a row that waited meanwhile has been left behind.
std::int64_t version_of(const InstanceRow& row, const std::optional<Arrival>& arrival);
/// The newest one of the instance.
std::optional<Arrival> find_arrival(Store& store, const InstanceId& id);
std::optional<Arrival> find_arrival(const std::vector<HistoryEvent>& history);

/// The whole history of an instance, in order.
std::vector<HistoryEvent> read_history(Store& store, const InstanceId& id);

/// Engine::export_instance and Engine::import_snapshot.
std::string export_instance(Engine::Core& core, const InstanceId& id, const ExportOptions& options);
ImportedInstance import_snapshot(
    Engine::Core& core, std::string_view json, const ImportOptions& options
);

/// The snapshot of an instance that was moved, as it was then.
std::string snapshot_of(Engine::Core& core, const InstanceRow& row);

}  // namespace ebb::transfer
