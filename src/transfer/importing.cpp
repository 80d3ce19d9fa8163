// A snapshot becomes a durable instance.

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "call/request.h"
#include "stateless/codec.h"
#include "support/sha256.h"
#include "transfer/transfer.h"

namespace ebb {

namespace transfer {
namespace {

constexpr std::size_t kSnapshotBytesMax = std::size_t{64} << 20;
/// Each means that another import, or an answer that was lost, came in between.
constexpr int kTriesMax = 10;

class Importer {
 public:
    Importer(Engine::Core& core, std::string_view json, const ImportOptions& options)
        : core_(core), data_(read(json)) {
        if (is_terminal(data_->state.status)) {
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "The snapshot of \"{}\" is {}; only an instance that has not ended can be "
                    "imported.",
                    data_->workflow_id,
                    to_string(data_->state.status)
                )
            );
        }
        arrival_ = {
            .workflow_id = data_->workflow_id,
            .sha256 = sha256_hex(stateless::write_snapshot(*data_)),
            .version = data_->version,
            .metadata = data_->metadata,
            .by = clean_name(options.by),
        };
        if (data_->state.status != InstanceStatus::Moved) {
            data_->state.moved_from = data_->state.status;
            data_->state.status = InstanceStatus::Moved;
        }
    }

    ImportedInstance run() {
        bool is_new = false;
        for (int tries = 0; tries < kTriesMax; ++tries) {
            const auto row = store().load(id());
            if (row && row->status != InstanceStatus::Moved) {
                check_is_this_one(*row);
                core_.signals.ring();
                return {.id = id(), .is_new = is_new};
            }
            if (row) check_is_newer(*row);
            try {
                is_new = row ? come_back(*row) : begin();
            } catch (const Error& error) {
                // Looks whether it is there.
                if (error.code() != ErrorCode::StoreInDoubt || tries + 1 == kTriesMax) throw;
            }
        }
        throw Error(
            ErrorCode::StoreBusy,
            fmt::format("Instance {} changes faster than it can be imported.", id().to_string())
        );
    }

 private:
    Store& store() const { return core_.environment.store; }

    const InstanceId& id() const { return data_->identity.id; }

    std::unique_ptr<stateless::Snapshot::Data> read(std::string_view json) {
        if (json.size() > kSnapshotBytesMax) {
            throw Error(
                ErrorCode::PayloadTooLarge,
                fmt::format(
                    "The snapshot has {} bytes; {} are allowed.", json.size(), kSnapshotBytesMax
                )
            );
        }
        const auto find = [this](std::string_view name, int version) {
            const auto program = core_.program(name, version);
            return std::make_shared<const stateless::Workflow>(
                stateless::Workflow{program, definition_checksum(program->definition())}
            );
        };
        return stateless::read_snapshot(json, find, {});
    }

    void check_is_this_one(const InstanceRow& row) const {
        const auto arrival = find_arrival(store(), id());
        if (arrival && arrival->sha256 == arrival_.sha256) return;
        const bool has_its_workflow =
            row.workflow == data_->definition().name && row.version == data_->definition().version;
        if (has_its_workflow) {
            check_is_same_run(row, engine::make_live(row, core_.programs)->state);
        }
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "Instance {} is already in this store, as {} of revision {}, and did not come from "
                "this snapshot: it would have two owners.",
                id().to_string(),
                to_string(row.status),
                row.revision
            )
        );
    }

    void check_is_same_run(const InstanceRow& row, const InstanceState& state) const {
        if (state.run == data_->state.run) return;
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "The store has another run of \"{}\", as instance {}, which is {}: the snapshot "
                "can be imported when the store has deleted that one.",
                data_->workflow_id,
                id().to_string(),
                to_string(row.status)
            )
        );
    }

    void check_is_newer(const InstanceRow& row) const {
        const auto live = engine::make_live(row, core_.programs);
        check_is_same_run(row, live->state);
        const bool is_same =
            row.workflow == data_->definition().name && row.version == data_->definition().version;
        if (is_same && live->state.last_seq <= data_->state.last_seq) return;
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "The snapshot of \"{}\" is not what was moved out of this store: it ends at event "
                "{}, and {} were written here.",
                data_->workflow_id,
                data_->state.last_seq,
                live->state.last_seq
            )
        );
    }

    /// The events of the snapshot that the store does not have yet, and the numbers of those that
    /// need no compensation any more although nothing in the history would say so: the snapshot's
    /// policy has dropped what did.
    struct Past {
        std::vector<HistoryEvent> events;
        std::set<Seq> settled;
    };

    Past past(const std::vector<HistoryEvent>& known) const {
        Past past;
        std::set<Seq> undoable;
        const auto look = [&](const HistoryEvent& event) {
            const NodeIndex node = data_->program().find(event.node);
            const bool has_undo =
                node != kNoNode && data_->program().node(node).compensate.has_value();
            const bool is_candidate = is_undoable(event.type) && event.attempt > 0 && has_undo;
            if (is_candidate) undoable.insert(event.seq);
            if (settles_compensation(event.type)) undoable.erase(event.ref);
        };
        for (const HistoryEvent& event : known) look(event);
        const Seq last = known.empty() ? 0 : known.back().seq;
        for (const stateless::Kept& kept : data_->record.events()) {
            if (kept.is_gone || kept.seq <= last) continue;
            past.events.push_back(data_->record.to_event(kept));
            look(past.events.back());
        }
        for (const stateless::Kept& kept : data_->record.events()) {
            if (kept.is_undoable && !kept.is_gone) undoable.erase(kept.seq);
        }
        past.settled = std::move(undoable);
        return past;
    }

    struct Arrived {
        InstanceState state;
        std::vector<HistoryEvent> history;
        std::vector<TaskChange> tasks;
        Effects effects;
    };

    /// `revision`: that the row will have.
    Arrived arrive(const std::vector<HistoryEvent>& known, std::int64_t revision) const {
        Arrival arrival = arrival_;
        arrival.revision = revision;
        Past before = past(known);
        const TimePoint now = core_.environment.now();
        InstanceState state = data_->state;
        for (const Seq seq : before.settled) {
            HistoryEvent settled;
            settled.seq = ++state.last_seq;
            settled.type = HistoryType::CompensationSkipped;
            settled.ref = seq;
            settled.at = now;
            settled.payload = "{\"by\":\"import\",\"reason\":\"it was settled in the snapshot\"}";
            before.events.push_back(std::move(settled));
        }
        Decision decision = decide(
            data_->program(),
            data_->identity,
            std::move(state),
            event::Arrived{encode_arrival(arrival)},
            data_->record,
            now
        );
        std::move(
            decision.history.begin(), decision.history.end(), std::back_inserter(before.events)
        );
        return {
            std::move(decision.state),
            std::move(before.events),
            std::move(decision.tasks),
            std::move(decision.effects)
        };
    }

    /// Into a store that does not have it. True: it is there now.
    bool begin() {
        const std::int64_t revision = data_->version + 1;
        Arrived arrived = arrive({}, revision);
        const TimePoint now = core_.environment.now();
        NewInstance made;
        made.row = {
            .id = id(),
            .workflow = data_->definition().name,
            .version = data_->definition().version,
            .key = data_->identity.key,
            .status = arrived.state.status,
            .revision = revision,
            .state = encode_state(arrived.state, data_->program()),
            .priority = data_->definition().priority,
            .created_at = arrived.history.front().at,
            .updated_at = now,
        };
        made.history = std::move(arrived.history);
        made.tasks = std::move(arrived.tasks);
        made.effects = std::move(arrived.effects);
        std::erase_if(made.tasks, [](const TaskChange& change) {
            return change.kind != TaskChange::Kind::Put;
        });
        const StartResult result = store().start({&made, 1}).front();
        if (result.kind == StartResult::Kind::Existing) {
            throw Error(
                ErrorCode::InvalidState,
                fmt::format(
                    "The snapshot's key \"{}\" belongs to instance {} of this store.",
                    data_->identity.key,
                    result.id.to_string()
                )
            );
        }
        return true;
    }

    /// Into the store that it was moved out of. False: another process was faster.
    bool come_back(const InstanceRow& row) {
        const Arrived arrived = arrive(read_history(store(), id()), row.revision + 1);
        const Commit commit{
            .instance = id(),
            .expected_revision = row.revision,
            .status = arrived.state.status,
            .state = encode_state(arrived.state, data_->program()),
            .history = arrived.history,
            .tasks = arrived.tasks,
            .effects = &arrived.effects,
            .lease_owner = {},
            .now = core_.environment.now(),
        };
        const CommitResult result = store().commit({&commit, 1}).front();
        if (result == CommitResult::Busy) {
            throw Error(
                ErrorCode::StoreBusy,
                fmt::format("Instance {} is locked in its store; try again.", id().to_string())
            );
        }
        return result == CommitResult::Committed;
    }

    Engine::Core& core_;
    std::unique_ptr<stateless::Snapshot::Data> data_;
    Arrival arrival_;
};

}  // namespace

ImportedInstance import_snapshot(
    Engine::Core& core, std::string_view json, const ImportOptions& options
) {
    return Importer(core, json, options).run();
}

}  // namespace transfer

ImportedInstance Engine::import_snapshot(std::string_view json, const ImportOptions& options) {
    return transfer::import_snapshot(*core_, json, options);
}

}  // namespace ebb
