#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/print.h>
#include <ebb/snapshot_store.h>
#include <ebb/stateless.h>

// The usual ways to run a stored snapshot: load it, run a step, save it with the expected version,
// and handle the case that another process was faster.

namespace ebb::stateless {

struct StoredRunOptions {
    /// Options of the steps; the payload is delivered and saved before the first step.
    ExecuteOptions execute{};
    /// Names the process that saves, for the process that loses: at most 256 bytes.
    std::string by{};
    /// How long a row stays after its instance has ended; absent = forever.
    std::optional<Duration> keep_finished_for{};
};

struct StoredRun {
    enum class Kind {
        Saved,     ///< at least one transition, all of them saved
        Idle,      ///< nothing was due
        Lost,      ///< another process was faster: the work since the last save is discarded
        NotFound,  ///< there is no snapshot with this id
    };

    Kind kind = Kind::Idle;
    std::string id{};
    std::optional<Snapshot> snapshot{};  ///< Saved, Idle: as it is stored now
    SnapshotInfo winner{};               ///< Lost: what is stored now
    std::int64_t saves = 0;              ///< of this call, also if it lost in the end

    /// For a log: `order-17 has changed in the meantime: version 4 was saved by worker-2 at ...`.
    std::string sentence() const;
};

/// `saved`, `idle`, `lost`, `not_found`.
std::string_view to_string(StoredRun::Kind kind);

/// Runs a stored instance: step after step, each saved before the next begins, until nothing is
/// due, the instance ends, or `execute.step_limit` is reached. A process that loses a race stops
/// immediately and throws nothing: the winner continues. Throws what Engine::parse, Engine::step
/// and the store throw. Repeats a save whose answer was lost.
StoredRun run_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view id,
    const StoredRunOptions& options = {}
);

/// For inputs from outside, which must not get lost: loads the snapshot, applies `change` to it and
/// saves the result. If another process was faster, tries again, up to 100 times, then throws
/// StoreBusy. `change` may be called several times; its exceptions are thrown to the caller.
/// Executes no steps.
///
///   change_stored(store, engine, id, [&](Snapshot s) { return engine.cancel(std::move(s)); });
StoredRun change_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view id,
    const std::function<Snapshot(Snapshot)>& change,
    const StoredRunOptions& options = {}
);

/// Starts an instance and stores it, unless its workflow_id is taken. Saved: it is new. Idle: it
/// existed before, and `snapshot` is its current state.
StoredRun start_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view workflow,
    const Payload& input = {},
    const StartOptions& start = {},
    const StoredRunOptions& options = {}
);

}  // namespace ebb::stateless
