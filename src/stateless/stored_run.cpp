#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/stored_run.h>

#include "support/clock.h"
#include "support/uuid.h"

namespace ebb::stateless {

namespace {

/// A save whose answer was lost is repeated this often: under its own name that is safe.
constexpr int kInDoubtTries = 3;
/// Each time, another process was faster.
constexpr int kChangesMax = 100;

template <class Save>
SaveResult save_surely(Save save) {
    for (int tries = 1;; ++tries) {
        try {
            return save();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::StoreInDoubt || tries == kInDoubtTries) throw;
        }
    }
}

SaveOptions save_options(const Snapshot& snapshot, const StoredRunOptions& options) {
    return {
        .by = options.by,
        .save_id = make_instance_id(SystemClock()).to_string(),
        .keep_for = snapshot.is_finished() ? options.keep_finished_for : std::nullopt,
    };
}

SaveResult save(
    SnapshotStore& store,
    const Snapshot& snapshot,
    std::int64_t read_version,
    const StoredRunOptions& options
) {
    const SaveOptions saving = save_options(snapshot, options);
    return save_surely([&] { return store.save(snapshot, read_version, saving); });
}

std::optional<Snapshot> load(SnapshotStore& store, const Engine& engine, std::string_view id) {
    const auto stored = store.load(id);
    if (!stored) return std::nullopt;
    Snapshot snapshot = engine.parse(stored->json);
    if (snapshot.version() != stored->info.version) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The row of the snapshot \"{}\" has version {}, but the snapshot in it has version "
                "{}. Set the row's version to that of the snapshot; only the store should write "
                "either.",
                id,
                stored->info.version,
                snapshot.version()
            )
        );
    }
    if (snapshot.run_id() != stored->info.run_id) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The row of the snapshot \"{}\" has the run id \"{}\", but the snapshot in it has "
                "\"{}\". Set the row's run_id to the snapshot's runId; only the store should write "
                "either.",
                id,
                stored->info.run_id,
                snapshot.run_id()
            )
        );
    }
    return snapshot;
}

/// Applies the outcome of a save. False: the save was lost.
bool note(StoredRun& run, SaveResult result, Snapshot next) {
    switch (result.kind) {
        case SaveResult::Kind::Saved:
            ++run.saves;
            run.kind = StoredRun::Kind::Saved;
            run.snapshot = std::move(next);
            return true;
        case SaveResult::Kind::Unchanged:
            run.snapshot = std::move(next);
            return true;
        case SaveResult::Kind::Conflict:
            run.kind = StoredRun::Kind::Lost;
            run.winner = std::move(result.current);
            break;
        case SaveResult::Kind::NotFound:
            run.kind = StoredRun::Kind::NotFound;
            break;
    }
    run.snapshot.reset();
    return false;
}

Snapshot deliver(const Engine& engine, Snapshot snapshot, const ExecuteOptions& options) {
    // Stopped before its first step.
    std::stop_source stopped;
    stopped.request_stop();
    return engine.execute(
        std::move(snapshot),
        {.payload = options.payload, .now = options.now, .stop = stopped.get_token()}
    );
}

}  // namespace

std::string_view to_string(StoredRun::Kind kind) {
    switch (kind) {
        case StoredRun::Kind::Saved:
            return "saved";
        case StoredRun::Kind::Idle:
            return "idle";
        case StoredRun::Kind::Lost:
            return "lost";
        case StoredRun::Kind::NotFound:
            return "not_found";
    }
    return "lost";
}

std::string StoredRun::sentence() const {
    switch (kind) {
        case Kind::Saved:
            return fmt::format(
                "{} is at version {} now, {}",
                id,
                snapshot->version(),
                to_string(snapshot->status())
            );
        case Kind::Idle:
            return fmt::format("{} has nothing that is due", id);
        case Kind::Lost:
            return fmt::format(
                "{} has changed in the meantime: version {} was saved by {} at {}",
                id,
                winner.version,
                winner.saved_by.empty() ? "another process" : winner.saved_by,
                format_time(winner.updated_at)
            );
        case Kind::NotFound:
            return fmt::format("{} is not stored", id);
    }
    return id;
}

StoredRun run_stored(
    SnapshotStore& store, const Engine& engine, std::string_view id, const StoredRunOptions& options
) {
    StoredRun run{.id = std::string(id)};
    if (options.execute.payload) {
        run = change_stored(
            store,
            engine,
            id,
            [&](Snapshot read) { return deliver(engine, std::move(read), options.execute); },
            options
        );
    } else {
        run.snapshot = load(store, engine, id);
        if (!run.snapshot) run.kind = StoredRun::Kind::NotFound;
    }
    ExecuteOptions stepping = options.execute;
    stepping.payload.reset();
    for (std::int64_t steps = 0; run.snapshot && steps < options.execute.step_limit; ++steps) {
        Snapshot next = engine.step(*run.snapshot, stepping);
        const std::int64_t read = run.snapshot->version();
        if (next.version() == read) break;
        SaveResult result = save(store, next, read, options);
        if (!note(run, std::move(result), std::move(next))) break;
    }
    return run;
}

StoredRun change_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view id,
    const std::function<Snapshot(Snapshot)>& change,
    const StoredRunOptions& options
) {
    StoredRun run{.id = std::string(id)};
    for (int tries = 1; tries <= kChangesMax; ++tries) {
        std::optional<Snapshot> read = load(store, engine, id);
        run.kind = read ? StoredRun::Kind::Idle : StoredRun::Kind::NotFound;
        if (!read) return run;
        const std::int64_t version = read->version();
        Snapshot next = change(std::move(*read));
        SaveResult result = save(store, next, version, options);
        note(run, std::move(result), std::move(next));
        if (run.kind != StoredRun::Kind::Lost) return run;
    }
    throw Error(
        ErrorCode::StoreBusy,
        fmt::format("The snapshot of \"{}\" changes faster than it can be changed; try again.", id)
    );
}

StoredRun start_stored(
    SnapshotStore& store,
    const Engine& engine,
    std::string_view workflow,
    const Payload& input,
    const StartOptions& start,
    const StoredRunOptions& options
) {
    Snapshot made = engine.start(workflow, input, start);
    StoredRun run{.id = made.workflow_id()};
    const SaveOptions saving = save_options(made, options);
    SaveResult result = save_surely([&] { return store.insert_if_absent(made, saving); });
    const bool is_taken = result.kind == SaveResult::Kind::Conflict;
    if (!is_taken) {
        note(run, std::move(result), std::move(made));
        return run;
    }
    run.snapshot = load(store, engine, run.id);
    if (!run.snapshot) run.kind = StoredRun::Kind::NotFound;
    return run;
}

}  // namespace ebb::stateless
