#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <ebb/snapshot_store.h>
#include <ebb/stateless.h>

// The usual ways to bring a stored snapshot on: load, do, save with the expected version, and know
// what to do when somebody else was faster.

namespace ebb::stateless {

struct StoredRunOptions {
    /// Of the steps; its payload is delivered and saved before the first of them.
    ExecuteOptions execute{};
    /// Who saves, for the loser to know: at most 256 bytes.
    std::string by{};
    /// How long a row stays when its instance has ended; absent = for ever.
    std::optional<Duration> keep_finished_for{};
};

struct StoredRun {
    enum class Kind {
        Saved,     ///< at least one transition, all of them saved
        Idle,      ///< nothing was due
        Lost,      ///< somebody else was faster: what was done since the last save is discarded
        NotFound,  ///< there is none with this id any more
    };

    Kind kind = Kind::Idle;
    std::string id{};
    std::optional<Snapshot> snapshot{};  ///< Saved, Idle: as it is stored now
    SnapshotInfo winner{};               ///< Lost: what is stored now
    std::int64_t saves = 0;              ///< of this call, also when it lost in the end

    /// For a log: `order-17 has got on meanwhile: version 4 was saved by worker-2 at ...`.
    std::string sentence() const;
};

/// Brings a stored instance on: step after step, each saved before the next begins, until nothing
/// is due, it ends, or `execute.step_limit` is reached. A loser stops at once and throws nothing:
/// the winner goes on. Throws what Engine::parse, Engine::step and the store throw; a save whose
/// answer was lost is repeated here.
StoredRun run_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view id,
    const StoredRunOptions& options = {}
);

/// What comes from outside must not get lost: loads the snapshot, applies `change` to it and saves
/// the result; where somebody else was faster, again, up to 100 times, then throws StoreBusy.
/// `change` may be called several times, and what it throws comes out. Executes nothing.
///
///   change_stored(store, engine, id, [&](Snapshot s) { return engine.cancel(std::move(s)); });
StoredRun change_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view id,
    const std::function<Snapshot(Snapshot)>& change,
    const StoredRunOptions& options = {}
);

/// Starts an instance and stores it, unless its workflow_id is taken. Saved: it is new; Idle: it
/// was there before, `snapshot` is as it stands now.
StoredRun start_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view workflow,
    const Payload& input = {},
    const StartOptions& start = {},
    const StoredRunOptions& options = {}
);

}  // namespace ebb::stateless
