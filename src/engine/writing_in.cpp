// Requests that an application makes in a transaction of its own.

#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

#include "call/refusal.h"
#include "engine/core.h"
#include "engine/turn.h"
#include "store/store_decorator.h"

namespace ebb {

namespace {

/// The store as the transaction sees it: what an earlier request in it has written, too.
class StoreInside final : public StoreDecorator {
 public:
    StoreInside(Store& store, BorrowedTransaction& transaction)
        : StoreDecorator(store), transaction_(transaction) {}

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        return transaction_.history(query);
    }

    std::vector<HistoryEvent> events(const InstanceId& id, const std::vector<Seq>& seqs) override {
        return transaction_.events(id, seqs);
    }

 private:
    BorrowedTransaction& transaction_;
};

/// Nothing of it is held here, so no lease is kept.
void write_turn(
    engine::Turn& turn, engine::Environment& environment, BorrowedTransaction& transaction
) {
    engine::HeldTable held;
    int capacity = 0;
    engine::choose_writes(turn, held, environment, capacity);
    transaction.commit(turn.to_commit({}));
}

}  // namespace

bool Engine::Core::request_in(
    const Transaction& transaction,
    const InstanceId& id,
    Event event,
    std::optional<std::int64_t> expected_revision
) {
    const auto borrowed = environment.store.borrow(transaction);
    auto row = borrowed->lock(id);
    if (!row) {
        throw Error(
            ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", id.to_string())
        );
    }
    StoreInside store(environment.store, *borrowed);
    engine::Work work{.instance = id, .causes = {}, .rewrites = {}};
    work.causes.push_back(
        {.event = std::move(event), .origin = TokenId{0}, .expected_revision = expected_revision}
    );
    engine::Turn turn = engine::decide_turn(
        {environment, store, &programs},
        engine::make_live(std::move(*row), programs),
        work,
        environment.now()
    );
    const engine::Cause& cause = turn.causes.front();
    if (cause.verdict == Decision::Verdict::Refused) throw_refusal(cause.refusal);
    if (turn.has_changed) write_turn(turn, environment, *borrowed);
    return cause.verdict == Decision::Verdict::Changed;
}

}  // namespace ebb
