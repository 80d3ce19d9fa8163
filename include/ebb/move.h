#pragma once

#include <string>
#include <string_view>

#include <ebb/engine.h>
#include <ebb/snapshot_store.h>
#include <ebb/stored_run.h>

// An instance moves from a durable store to a store of snapshots, and back. It has one owner at
// every moment, or none while it is on its way, whatever crashes: repeat the call, by any process,
// until it succeeds. See docs/how-to/state-management.md.

namespace ebb::stateless {

/// Moves an instance out of `from` into `to`. Saved: it was stored there by this call; Idle: it was
/// there already, and `snapshot` is as it stands now. From then on run_stored and its siblings
/// bring it on.
///
/// Its snapshot is stored as one that cannot be executed (released), and is let go on only when its
/// row in `from` is found to be `moved` still: so a process that slept in the middle of this, while
/// others brought the instance on and perhaps back, does no harm. Throws InvalidState when the
/// instance has ended, when a handler of it still runs, when it came back meanwhile, or when `to`
/// has an older snapshot of its name that could be executed; and what the stores and the engine
/// throw.
StoredRun move_out(
    ebb::Engine& from,
    SnapshotStore& to,
    const Engine& engine,
    const InstanceId& id,
    const ExportOptions& options = {}
);

/// Moves the stored snapshot with this workflow_id into `to`, where its workflow must be
/// registered: releases it, imports it, removes it. `is_new` is false when it had been imported
/// before. Throws InstanceNotFound when there is none with this id in either store, InvalidState
/// when it has ended or its way out is not finished (repeat move_out first), and what
/// ebb::Engine::import_snapshot throws.
ImportedInstance move_in(
    SnapshotStore& from,
    const Engine& engine,
    std::string_view id,
    ebb::Engine& to,
    const ImportOptions& options = {}
);

}  // namespace ebb::stateless
