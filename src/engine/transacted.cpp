#include "engine/transacted.h"

#include <utility>

#include <fmt/format.h>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "engine/turn.h"
#include "store/stored_definition.h"

namespace ebb::engine {

namespace {

using Kind = item::Transacted::Kind;

/// The handler has returned, but no edge has the handle that it names.
bool has_failed(const Turn& turn) {
    return !turn.history.empty() && turn.history.front().type == HistoryType::StepFailed;
}

/// While the handler ran, the instance may have followed to another version.
std::shared_ptr<const Program> program_of(
    Store& store, const InstanceRow& row, const std::shared_ptr<const Program>& called
) {
    if (row.version == called->definition().version) return called;
    const auto stored = store.find_workflow(row.workflow, row.version);
    if (!stored) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format("The store has no version {} of {}.", row.version, row.workflow)
        );
    }
    return stored_program(*stored);
}

/// Does what the committer would do for any other outcome, on the instance as it is now and in the
/// handler's own transaction. Null if the outcome is no longer wanted. A turn in which the step
/// fails is not committed.
std::shared_ptr<Turn> decide_and_commit(
    Environment& environment,
    const AttemptPtr& attempt,
    const Event& event,
    StoreTransaction& transaction
) {
    const TaskRef task = attempt->task();
    auto row = transaction.lock(task.instance);
    if (!row) return nullptr;
    const std::shared_ptr<const Program> program =
        program_of(environment.store, *row, attempt->call().program);
    Work work{.instance = task.instance, .causes = {}, .rewrites = {}};
    work.causes.push_back({event, attempt, {}, {}});
    const Judge judge{.environment = environment, .store = environment.store};
    auto turn = std::make_shared<Turn>(
        decide_turn(judge, make_live(std::move(*row), program), work, environment.now())
    );
    if (!turn->has_changed) return nullptr;
    if (has_failed(*turn)) return turn;
    // Its row may contain something by now that must not outlive this commit, so it is rewritten.
    HeldTable held;
    held.add({.task = task, .is_row_dirty = true, .lost_by = {}, .slot = {}});
    int capacity = 0;
    choose_writes(*turn, held, environment, capacity);
    transaction.commit(turn->to_commit(environment.options.worker_id));
    return turn;
}

std::unique_ptr<StoreTransaction> begin_transaction(Environment& environment) {
    try {
        return environment.store.begin_transaction();
    } catch (...) {
        environment.worker.may_transact = false;
        throw;
    }
}

Event refused_commit(
    const Environment& environment, const Attempt& attempt, const std::exception& error
) {
    Failure failure{
        .code = "commit_refused",
        .message = clean_text(error.what(), environment.options.error_bytes_max),
        .is_permanent = false,
        .retry_after = {},
        .details = {},
    };
    return event::StepFailed{
        .attempt = attempt.call().invocation.attempt,
        .failure = std::move(failure),
        .started_at = attempt.started_at(),
        .worker = environment.options.worker_id
    };
}

}  // namespace

Item run_in_transaction(Environment& environment, const AttemptPtr& attempt) {
    const std::unique_ptr<StoreTransaction> transaction = begin_transaction(environment);
    Event event = run_attempt(environment, *attempt, transaction.get());
    if (!std::holds_alternative<event::StepCompleted>(event)) {
        if (!transaction->is_lost())
            return item::Outcome{.attempt = attempt, .event = std::move(event)};
        // Whatever the handler reports, the database took its work away, as the loss of a lease
        // does.
        return item::Outcome{
            .attempt = attempt,
            .event =
                event::LeaseLost{
                    .attempt = attempt->call().invocation.attempt,
                    .worker = environment.options.worker_id
                }
        };
    }
    try {
        auto turn = decide_and_commit(environment, attempt, event, *transaction);
        // No effect of a failed step may stay. The committer reaches the same result without it.
        if (turn && has_failed(*turn))
            return item::Outcome{.attempt = attempt, .event = std::move(event)};
        const Kind kind = turn ? Kind::Committed : Kind::Stale;
        return item::Transacted{.attempt = attempt, .kind = kind, .turn = std::move(turn)};
    } catch (const Error& error) {
        // A lost race or a lost connection: the state shows the outcome.
        if (error.is_transient() || error.code() == ErrorCode::StoreInDoubt) {
            environment.report("transaction_lost", error);
            return item::Transacted{.attempt = attempt, .kind = Kind::Unknown, .turn = nullptr};
        }
        // For example, a deferred constraint of the application that does not hold.
        return item::Outcome{
            .attempt = attempt, .event = refused_commit(environment, *attempt, error)
        };
    }
}

}  // namespace ebb::engine
