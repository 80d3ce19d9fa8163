// An instance goes from one kind of store to the other, even if the process that moves it crashes.

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>
#include <ebb/move.h>

#include "stateless/data.h"
#include "support/clock.h"
#include "support/uuid.h"

namespace ebb::stateless {

namespace {

/// Each means that another process has run the same instance.
constexpr int kTriesMax = 100;
constexpr int kInDoubtTries = 3;

bool is_released(const Snapshot& snapshot) {
    return snapshot.data().state.status == InstanceStatus::Moved;
}

/// The name under which a snapshot is saved while its way out is not finished. It says where its
/// life in the durable store has ended.
constexpr std::string_view kArriving = "arriving at ";

std::string arriving(Seq last) {
    return fmt::format("{}{}", kArriving, last);
}

struct Found {
    Snapshot snapshot;
    SnapshotInfo info;

    bool is_arriving() const {
        return is_released(snapshot) && info.save_id.starts_with(kArriving);
    }
};

std::optional<Found> find(SnapshotStore& store, const Engine& engine, std::string_view id) {
    auto stored = store.load(id);
    if (!stored) return std::nullopt;
    return Found{.snapshot = engine.parse(stored->json), .info = std::move(stored->info)};
}

template <class Act>
SaveResult surely(Act act) {
    for (int tries = 1;; ++tries) {
        try {
            return act();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::StoreInDoubt || tries == kInDoubtTries) throw;
        }
    }
}

/// This snapshot, and not what another process has put in its place.
SaveResult remove(SnapshotStore& store, const Snapshot& snapshot) {
    return store.remove(
        snapshot.workflow_id(), {.version = snapshot.version(), .run_id = snapshot.run_id()}
    );
}

bool is_saved(const SaveResult& result) {
    return result.kind == SaveResult::Kind::Saved;
}

[[noreturn]] void throw_busy(std::string_view id) {
    throw Error(
        ErrorCode::StoreBusy,
        fmt::format("The instance \"{}\" changes faster than it can be moved; try again.", id)
    );
}

class MoveOut {
 public:
    MoveOut(
        ebb::Engine& from,
        SnapshotStore& to,
        const Engine& engine,
        const InstanceId& id,
        const ExportOptions& options
    )
        : from_(from), to_(to), engine_(engine), id_(id), options_(options) {}

    StoredRun run() {
        for (int tries = 0; tries < kTriesMax; ++tries) {
            const Snapshot taken = engine_.parse(from_.export_instance(id_, options_));
            last_ = taken.data().state.last_seq;
            const std::string& name = taken.workflow_id();
            std::optional<Found> there = find(to_, engine_, name);
            if (there) check_is_same_run(taken, there->snapshot);
            if (!there || there->snapshot.data().state.last_seq < last_) {
                put(taken, there);
                continue;
            }
            if (!there->is_arriving() || there->info.save_id != arriving(last_)) {
                return {.kind = StoredRun::Kind::Idle, .id = name, .snapshot = there->snapshot};
            }
            if (auto arrived = arrive(*there)) return std::move(*arrived);
        }
        throw_busy(id_.to_string());
    }

 private:
    static void check_is_same_run(const Snapshot& taken, const Snapshot& there) {
        if (taken.run_id() == there.run_id()) return;
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "The store has a snapshot of another run of \"{}\": move or remove that one first.",
                taken.workflow_id()
            )
        );
    }

    /// In a form that cannot be executed. What is there of an earlier life is replaced.
    void put(const Snapshot& taken, const std::optional<Found>& there) {
        const Snapshot released = engine_.release(taken, options_.by);
        const SaveOptions saving{.by = options_.by, .save_id = arriving(last_)};
        if (!there) {
            surely([&] { return to_.insert_if_absent(released, saving); });
            return;
        }
        if (!is_released(there->snapshot)) {
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "The store has an older snapshot of \"{}\" that can be executed, so the "
                    "instance would have two owners: remove it first.",
                    taken.workflow_id()
                )
            );
        }
        surely([&] { return to_.save(released, there->info.version, saving); });
    }

    /// Nothing, if another process was faster.
    std::optional<StoredRun> arrive(const Found& there) {
        check_is_still_out(there);
        Snapshot free = engine_.reclaim(there.snapshot, options_.by);
        const SaveOptions saving{
            .by = options_.by, .save_id = make_instance_id(SystemClock()).to_string()
        };
        const auto result = surely([&] { return to_.save(free, there.info.version, saving); });
        if (!is_saved(result)) return std::nullopt;
        StoredRun run{.kind = StoredRun::Kind::Saved, .id = free.workflow_id(), .saves = 1};
        run.snapshot = std::move(free);
        return run;
    }

    /// If the row is still moved, the snapshot may continue: to bring the instance back, another
    /// process must change this snapshot first, and then this one cannot be saved any more.
    void check_is_still_out(const Found& there) {
        const auto row = from_.find(id_);
        const bool is_out = row && row->status == InstanceStatus::Moved;
        if (is_out && from_.history(id_, last_, 1).empty()) return;
        remove(to_, there.snapshot);
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "Instance {} came back while it was being moved out; its status is now {}.",
                id_.to_string(),
                row ? to_string(row->status) : "deleted"
            )
        );
    }

    ebb::Engine& from_;
    SnapshotStore& to_;
    const Engine& engine_;
    const InstanceId id_;
    const ExportOptions& options_;
    Seq last_ = 0;
};

/// Released, and stored so. Nothing: there is none with this id.
std::optional<Snapshot> release_stored(
    SnapshotStore& store, const Engine& engine, std::string_view id, const std::string& by
) {
    for (int tries = 0; tries < kTriesMax; ++tries) {
        std::optional<Found> there = find(store, engine, id);
        if (!there) return std::nullopt;
        if (there->is_arriving()) {
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "The snapshot of \"{}\" is on its way out of a durable store: repeat move_out "
                    "until it has arrived.",
                    id
                )
            );
        }
        if (is_released(there->snapshot)) return std::move(there->snapshot);
        Snapshot released = engine.release(std::move(there->snapshot), by);
        const SaveOptions saving{.by = by, .save_id = make_instance_id(SystemClock()).to_string()};
        const auto result =
            surely([&] { return store.save(released, there->info.version, saving); });
        if (is_saved(result)) return released;
    }
    throw_busy(id);
}

}  // namespace

StoredRun move_out(
    ebb::Engine& from,
    SnapshotStore& to,
    const Engine& engine,
    const InstanceId& id,
    const ExportOptions& options
) {
    return MoveOut(from, to, engine, id, options).run();
}

ImportedInstance move_in(
    SnapshotStore& from,
    const Engine& engine,
    std::string_view id,
    ebb::Engine& to,
    const ImportOptions& options
) {
    const std::optional<Snapshot> released = release_stored(from, engine, id, options.by);
    if (!released) {
        const InstanceId instance = instance_id_of(id);
        const auto row = to.find(instance);
        if (row && row->status != InstanceStatus::Moved) return {.id = instance, .is_new = false};
        throw Error(
            ErrorCode::InstanceNotFound, fmt::format("There is no snapshot of \"{}\".", id)
        );
    }
    const ImportedInstance imported = to.import_snapshot(released->to_json(), options);
    // A released snapshot does not change; in doubt it stays, which does no harm.
    surely([&] { return remove(from, *released); });
    return imported;
}

}  // namespace ebb::stateless
