// The committer's way to the store and back: decided batches take off, and are settled when they
// have landed.

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/committer.h"
#include "support/assert.h"

namespace ebb::engine {

namespace {

constexpr Duration kRetryMin = std::chrono::milliseconds(20);
constexpr Duration kRetryMax = std::chrono::seconds(2);

Duration retry_pause(int failures) {
    return std::min(kRetryMax, kRetryMin * (1 << std::min(failures, 10)));
}

}  // namespace

FlightPtr Committer::take_off(SteadyPoint now) {
    if (batches_.empty() || now < retry_at_ || flights_ >= flights_max_) return nullptr;
    auto flight = std::make_shared<Flight>();
    flight->batch = std::move(batches_.front());
    flight->begun = now;
    batches_.pop_front();
    ++flights_;
    return flight;
}

void Committer::fly(Flight& flight) noexcept {
    try {
        std::vector<Commit> commits;
        commits.reserve(flight.batch.turns.size());
        for (const Turn& turn : flight.batch.turns) {
            commits.push_back(turn.to_commit(environment().options.worker_id));
        }
        flight.results = environment().store.commit(commits);
    } catch (...) {
        flight.error = std::current_exception();
    }
    flight.ended = environment().steady_now();
}

void Committer::settle_landed(SteadyPoint now) {
    for (const FlightPtr& flight : inbox_.take_landed()) {
        --flights_;
        settle_flight(*flight, now);
    }
}

void Committer::settle_flight(Flight& flight, SteadyPoint now) {
    Batch& batch = flight.batch;
    has_settled_ = true;
    try {
        if (flight.error) std::rethrow_exception(flight.error);
        parts_.pace.record_commit(flight.ended - flight.begun);
        ++environment().statistics.commits;
        failures_ = 0;
        settle_all(batch, flight.results);
    } catch (const std::exception& error) {
        const auto* known = dynamic_cast<const Error*>(&error);
        // Only the store's own errors prove that the batch was not written.
        if (known == nullptr && !flight.error) throw;
        if (known == nullptr || !may_pass(*known)) return write_one_by_one(batch, error);
        ++batch.tries;
        block(now, error);
        drop_requests(batch);
        if (!batch.turns.empty()) batches_.push_front(std::move(batch));
    }
    // The stores of Ebb throw only std::exception: a test uses this to simulate the death of a
    // process.
}

void Committer::settle_all(Batch& batch, std::vector<CommitResult>& results) {
    EBB_ASSERT(results.size() == batch.turns.size(), "the store answers for every commit");
    // If this throws, the batch is tried again: turns that were written are then conflicts and are
    // looked up again.
    if (batch.tries > 0) recognize(batch, results);
    for (std::size_t i = 0; i < results.size(); ++i) settle(batch.turns[i], results[i]);
}

void Committer::recognize(Batch& batch, std::vector<CommitResult>& results) {
    const std::string& worker = environment().options.worker_id;
    std::vector<std::size_t> places;
    std::vector<Commit> doubtful;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i] != CommitResult::Conflict) continue;
        places.push_back(i);
        doubtful.push_back(batch.turns[i].to_commit(worker));
    }
    if (doubtful.empty()) return;
    const std::vector<bool> are_ours = environment().store.were_committed(doubtful);
    std::vector<InstanceId> ids;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (are_ours[i] && !batch.turns[places[i]].kept.empty())
            ids.push_back(doubtful[i].instance);
    }
    // Another worker may have written exactly the same, or may have taken the tasks since then.
    std::vector<TaskRef> own;
    if (!ids.empty()) own = environment().store.leased_tasks(worker, ids);
    std::sort(own.begin(), own.end());
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (!are_ours[i]) continue;
        results[places[i]] = CommitResult::Committed;
        std::erase_if(batch.turns[places[i]].kept, [&](TokenId token) {
            const TaskRef task{doubtful[i].instance, token};
            return !std::binary_search(own.begin(), own.end(), task);
        });
    }
}

void Committer::write_one_by_one(Batch& batch, const std::exception& error) {
    if (batch.turns.size() == 1) return set_aside(batch.turns.front(), error);
    // One instance must not prevent the others from being written.
    for (auto turn = batch.turns.rbegin(); turn != batch.turns.rend(); ++turn) {
        Batch single;
        single.tries = batch.tries;
        single.turns.push_back(std::move(*turn));
        batches_.push_front(std::move(single));
    }
}

void Committer::drop_requests(Batch& batch) {
    std::erase_if(batch.turns, [&](Turn& turn) {
        refuse(turn.deferred, last_error_);
        for (const Cause& cause : turn.causes) {
            if (!is_request(cause)) continue;
            std::get<ReplyPtr>(cause.origin)->give({.refusal = {}, .error = last_error_});
        }
        const bool is_only_requests =
            !turn.causes.empty() && std::all_of(turn.causes.begin(), turn.causes.end(), is_request);
        if (!is_only_requests) return false;
        // The requests were answered. They are not repeated, whether or not they were written.
        reopen(std::move(turn.deferred), turn.live->row.id, turn.conflicts);
        forget_instance(turn);
        return true;
    });
}

void Committer::block(SteadyPoint now, const std::exception& error) {
    retry_at_ = now + (is_denial(error) ? kDenialPause : retry_pause(failures_++));
    last_error_ = std::make_exception_ptr(Error(
        ErrorCode::StoreUnavailable, std::string("The store does not answer: ") + error.what()
    ));
    if (const auto* known = dynamic_cast<const Error*>(&error)) {
        last_error_ = std::make_exception_ptr(*known);
    }
    environment().report("commit_delayed", error);
    refuse_requests(last_error_);
}

void Committer::refuse_requests(const std::exception_ptr& error) {
    std::vector<Item> kept;
    for (Item& item : inbox_.take(std::numeric_limits<std::size_t>::max())) {
        if (const auto* request = std::get_if<item::Request>(&item)) {
            request->reply->give({.refusal = {}, .error = error});
        } else {
            kept.push_back(std::move(item));
        }
    }
    inbox_.put_back(std::move(kept));
    std::erase_if(held_back_, [&](const Item& item) {
        const auto* request = std::get_if<item::Request>(&item);
        if (request != nullptr) request->reply->give({.refusal = {}, .error = error});
        return request != nullptr;
    });
    for (Work& work : open_) refuse(work.causes, error);
    for (Batch& waiting : batches_) drop_requests(waiting);
    std::erase_if(batches_, [](const Batch& batch) { return batch.turns.empty(); });
}

}  // namespace ebb::engine
