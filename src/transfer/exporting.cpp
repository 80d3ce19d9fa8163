// Turns a durable instance into a snapshot and marks its row as moved.

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "call/request.h"
#include "stateless/codec.h"
#include "support/json.h"
#include "transfer/transfer.h"

namespace ebb {

namespace transfer {
namespace {

/// The reason of an export's pause. It identifies an export that died after pausing.
constexpr std::string_view kPauseReason = "for its export";
constexpr Duration kLook = std::chrono::milliseconds(20);
/// Each retry means that the instance has advanced in between.
constexpr int kRoundsMax = 1'000;

bool may_start(InstanceStatus status) {
    return status == InstanceStatus::Running || status == InstanceStatus::Compensating;
}

bool is_paused_for_export(Store& store, const InstanceId& id) {
    const auto events = store.history({
        .instance = id,
        .limit = 1,
        .order = HistoryQuery::Order::Backward,
        // A pause from before the instance was elsewhere does not matter for the present one.
        .types = {HistoryType::Paused, HistoryType::Arrived},
        .node = {},
    });
    if (events.empty() || events.front().type != HistoryType::Paused) return false;
    const Json json = Json::parse(events.front().payload, nullptr, false);
    return json.is_object() && json.value("reason", "") == kPauseReason;
}

/// A task that a worker holds: a handler may be running.
std::optional<TaskRow> held_task(const std::vector<TaskRow>& tasks) {
    const auto held = std::find_if(tasks.begin(), tasks.end(), [](const TaskRow& task) {
        return !task.lease_owner.empty();
    });
    return held == tasks.end() ? std::nullopt : std::optional(*held);
}

class Exporter {
 public:
    Exporter(Engine::Core& core, const InstanceId& id, const ExportOptions& options)
        : core_(core), id_(id), by_(clean_name(options.by)), wait_(options.wait) {}

    std::string run() {
        for (int round = 0; round < kRoundsMax; ++round) {
            const InstanceRow row = core_.load(id_);
            refuse_rules(row);
            if (row.status == InstanceStatus::Moved) return snapshot_of(core_, row);
            if (may_start(row.status)) {
                core_.request(id_, event::Paused{.by = by_, .reason = std::string(kPauseReason)});
                continue;
            }
            if (make_idle(row)) move(row);
        }
        throw Error(
            ErrorCode::StoreBusy,
            fmt::format("Instance {} changes faster than it can be exported.", id_.to_string())
        );
    }

 private:
    Store& store() const { return core_.environment.store; }

    /// A snapshot must also run in the stateless engine, which does not support rules.
    void refuse_rules(const InstanceRow& row) const {
        if (core_.program(row.workflow, row.version)->rules() == nullptr) return;
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "Instance {} cannot be exported: its workflow \"{}\" has rules.",
                id_.to_string(),
                row.workflow
            )
        );
    }

    /// Nothing new starts any more. True: no handler is running either, and nothing is open.
    bool make_idle(const InstanceRow& row) {
        core_.committer.combine(engine::Committer::Role::Guest);
        std::vector<TaskRow> tasks = store().tasks(id_);
        if (held_task(tasks)) {
            store().maintain();  // its holder may be dead
            tasks = store().tasks(id_);
        }
        if (const auto held = held_task(tasks)) {
            wait_or_give_up(*held);
            return false;
        }
        refuse_mail(tasks);
        return !has_settled_losses(row, tasks);
    }

    void wait_or_give_up(const TaskRow& held) {
        if (waited_ < wait_) {
            const Duration slice = std::min(kLook, wait_ - waited_);
            engine::Waiters::Waiter(core_.waiters, id_).wait(slice);
            waited_ += slice;
            return;
        }
        if (is_paused_for_export(store(), id_)) core_.request(id_, event::Resumed{by_});
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "Instance {} cannot be exported now: worker {} holds its task {} (handler \"{}\"). "
                "Try again later, or let the export wait longer.",
                id_.to_string(),
                held.lease_owner,
                held.task.token,
                held.handler
            )
        );
    }

    /// It belongs to the instance, and a snapshot has no place for it.
    void refuse_mail(const std::vector<TaskRow>& tasks) {
        const bool has_mail = std::any_of(tasks.begin(), tasks.end(), [](const TaskRow& task) {
            return task.task.token == kMailTask;
        });
        if (!has_mail) return;
        if (is_paused_for_export(store(), id_)) core_.request(id_, event::Resumed{by_});
        throw Error(
            ErrorCode::InvalidState,
            fmt::format(
                "Instance {} cannot be exported now: it has unread mail, which a worker must "
                "decide first. Try again later.",
                id_.to_string()
            )
        );
    }

    /// A worker that died may have called a handler. The kernel must record this before the task is
    /// removed.
    bool has_settled_losses(const InstanceRow& row, const std::vector<TaskRow>& tasks) {
        const engine::LivePtr live = engine::make_live(row, core_.programs);
        bool has_any = false;
        for (const TaskRow& task : tasks) {
            const Token* token = live->state.find_token(task.task.token);
            if (!task.was_lost || token == nullptr) continue;
            if (token->stopping) {
                core_.request(
                    id_,
                    event::TokenStopped{
                        .token = token->id, .visit = token->visit, .was_called = true
                    }
                );
                has_any = true;
                continue;
            }
            const auto answer = core_.request(
                id_, event::LeaseLost{.attempt = present_attempt(*token), .worker = {}}
            );
            has_any |= answer.verdict == Decision::Verdict::Changed;
        }
        return has_any;
    }

    void move(const InstanceRow& row) {
        const engine::LivePtr live = engine::make_live(row, core_.programs);
        const bool ends_pause =
            row.status == InstanceStatus::Paused && is_paused_for_export(store(), id_);
        const event::MoveRequested request{
            .seen = live->state.last_seq, .ends_pause = ends_pause, .by = by_
        };
        try {
            core_.request(id_, request);
        } catch (const Error& error) {
            // Another process was faster: look again. An ended instance stays here.
            const bool has_ended = is_terminal(core_.load(id_).status);
            if (error.code() != ErrorCode::InvalidState || has_ended) throw;
        }
    }

    Engine::Core& core_;
    const InstanceId id_;
    const std::string by_;
    const Duration wait_;
    Duration waited_{0};
};

/// The total time of handlers.
void read_times(stateless::Snapshot::Data& data, const std::vector<HistoryEvent>& history) {
    for (const HistoryEvent& event : history) {
        if (event.started_at == TimePoint{}) continue;
        data.last_started_at = std::max(
            data.last_started_at,
            TimePoint(std::chrono::floor<std::chrono::milliseconds>(event.started_at))
        );
        data.total_execution_time += std::max(event.at - event.started_at, Duration::zero());
    }
}

}  // namespace

std::string snapshot_of(Engine::Core& core, const InstanceRow& row) {
    Store& store = core.environment.store;
    const engine::LivePtr live = engine::make_live(row, core.programs);
    auto workflow = std::make_shared<stateless::Workflow>(stateless::Workflow{
        .program = live->program, .checksum = definition_checksum(live->program->definition())
    });
    std::vector<HistoryEvent> history = read_history(store, row.id);
    // The instance may have come back and continued since the row was read.
    const Seq last = live->state.last_seq;
    std::erase_if(history, [last](const HistoryEvent& event) { return event.seq > last; });
    const std::optional<Arrival> arrival = find_arrival(history);
    stateless::Snapshot::Data data{
        .workflow = std::move(workflow),
        .workflow_id = arrival ? arrival->workflow_id : row.id.to_string(),
        .identity = live->identity(),
        .state = live->state,
        .record = stateless::Record(live->program.get(), {}),
        .version = version_of(row, arrival),
        .metadata = arrival ? arrival->metadata : "{}",
    };
    data.state.status = std::exchange(data.state.moved_from, InstanceStatus::Running);
    read_times(data, history);
    data.record.absorb(std::move(history), data.state);
    return stateless::write_snapshot(data);
}

std::string export_instance(
    Engine::Core& core, const InstanceId& id, const ExportOptions& options
) {
    return Exporter(core, id, options).run();
}

}  // namespace transfer

std::string Engine::export_instance(const InstanceId& id, const ExportOptions& options) {
    return transfer::export_instance(*core_, id, options);
}

}  // namespace ebb
