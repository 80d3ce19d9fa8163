#pragma once

#include <string>
#include <string_view>

#include <ebb/engine.h>
#include <ebb/snapshot_store.h>
#include <ebb/stored_run.h>

// Moves an instance from a durable store to a store of snapshots, and back. Even if processes
// crash, it has one owner at every moment, or none while it is being moved: any process can repeat
// the call until it succeeds. See docs/how-to/state-management.md.

namespace ebb::stateless {

/// Moves an instance out of `from` into `to`. Saved: this call stored it there. Idle: it was
/// already there, and `snapshot` is its current state. From then on, run_stored and the related
/// functions run it.
///
/// The snapshot is first stored in a form that cannot be executed (released), and becomes
/// executable only if its row in `from` is still `moved`. A process that sleeps in the middle of
/// this, while others run the instance and perhaps move it back, therefore does no harm. Throws
/// InvalidState if the instance has ended, if a handler of it still runs, if it came back in the
/// meantime, or if `to` has an older snapshot of its name that can be executed; also throws what
/// the stores and the engine throw.
StoredRun move_out(
    ebb::Engine& from,
    SnapshotStore& to,
    const Engine& engine,
    const InstanceId& id,
    const ExportOptions& options = {}
);

/// Moves the stored snapshot with this workflow_id into `to`, where its workflow must be
/// registered: releases it, imports it, removes it. `is_new` is false if it had been imported
/// before. Throws InstanceNotFound if neither store has this id, InvalidState if it has ended or if
/// move_out has not finished (repeat move_out first), and what ebb::Engine::import_snapshot throws.
ImportedInstance move_in(
    SnapshotStore& from,
    const Engine& engine,
    std::string_view id,
    ebb::Engine& to,
    const ImportOptions& options = {}
);

}  // namespace ebb::stateless
