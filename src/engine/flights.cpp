#include "engine/flights.h"

#include <algorithm>
#include <string>
#include <utility>

#include <ebb/error.h>

#include "support/assert.h"

namespace ebb::engine {

void Flights::pack(std::vector<Turn> turns) {
    const auto max = static_cast<std::size_t>(environment().options.commit_batch_max);
    const std::size_t bytes_max = environment().options.commit_bytes_max;
    int capacity = parts_.room.free_capacity();
    std::size_t bytes = 0;
    bool is_open = false;  // may the last batch take more?
    std::size_t left = turns.size();
    for (Turn& turn : turns) {
        choose_writes(turn, parts_.holdings.tasks(), environment(), capacity);
        pending_.insert(turn.live->row.id);
        const std::size_t more = bytes_of(turn);
        const bool has_room =
            is_open && batches_.back().turns.size() < max && bytes + more <= bytes_max;
        // Work that the store could not write earlier must not delay other instances.
        is_open = turn.delays == 0;
        if (!has_room || !is_open) {
            batches_.emplace_back();
            batches_.back().turns.reserve(std::min(left, max));
            bytes = 0;
        }
        --left;
        bytes += more;
        batches_.back().turns.push_back(std::move(turn));
    }
}

FlightPtr Flights::take_off(SteadyPoint now) {
    if (batches_.empty() || parts_.trouble.is_blocking(now) || !has_room()) return nullptr;
    auto flight = std::make_shared<Flight>();
    flight->batch = std::move(batches_.front());
    flight->begun = now;
    batches_.pop_front();
    ++under_way_;
    return flight;
}

void Flights::fly(Flight& flight) const noexcept {
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

void Flights::settle(std::span<const FlightPtr> landed, SteadyPoint now) {
    for (const FlightPtr& flight : landed) {
        --under_way_;
        settle_flight(*flight, now);
    }
}

void Flights::settle_flight(Flight& flight, SteadyPoint now) {
    Batch& batch = flight.batch;
    ++settled_;
    try {
        if (flight.error) std::rethrow_exception(flight.error);
        parts_.pace.record_commit(flight.ended - flight.begun);
        ++environment().statistics.commits;
        parts_.trouble.end();
        settle_all(batch, flight.results);
    } catch (const std::exception& error) {
        const auto* known = dynamic_cast<const Error*>(&error);
        // Only the store's own errors prove that the batch was not written.
        if (known == nullptr && !flight.error) throw;
        if (known == nullptr || !may_pass(*known)) return write_one_by_one(batch, error);
        ++batch.tries;
        parts_.trouble.begin(now, error);
        drop_requests(batch);
        if (!batch.turns.empty()) batches_.push_front(std::move(batch));
    }
    // The stores of Ebb throw only std::exception: a test uses this to simulate the death of a
    // process.
}

void Flights::settle_all(Batch& batch, std::vector<CommitResult>& results) {
    EBB_ASSERT(results.size() == batch.turns.size(), "the store answers for every commit");
    // If this throws, the batch is tried again: turns that were written are then conflicts and are
    // looked up again.
    if (batch.tries > 0) recognize(batch, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        pending_.erase(batch.turns[i].live->row.id);
        parts_.settler.settle(batch.turns[i], results[i]);
    }
}

void Flights::recognize(Batch& batch, std::vector<CommitResult>& results) const {
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

void Flights::write_one_by_one(Batch& batch, const std::exception& error) {
    if (batch.turns.size() == 1) {
        pending_.erase(batch.turns.front().live->row.id);
        return parts_.settler.set_aside(batch.turns.front(), error);
    }
    // One instance must not prevent the others from being written.
    for (auto turn = batch.turns.rbegin(); turn != batch.turns.rend(); ++turn) {
        Batch single;
        single.tries = batch.tries;
        single.turns.push_back(std::move(*turn));
        batches_.push_front(std::move(single));
    }
}

void Flights::drop_requests(Batch& batch) {
    std::erase_if(batch.turns, [&](Turn& turn) EBB_REQUIRES(kCommitter) {
        if (!parts_.settler.drop_requests(turn, parts_.trouble.error())) return false;
        pending_.erase(turn.live->row.id);
        return true;
    });
}

void Flights::drop_requests() {
    for (Batch& waiting : batches_) drop_requests(waiting);
    std::erase_if(batches_, [](const Batch& batch) { return batch.turns.empty(); });
}

void Flights::share_store(int others) {
    // Two, so that one is on its way while the other is answered and its consequences are decided.
    const int least = std::min(2, commits_at_once_);
    flights_max_ = std::clamp(2 * commits_at_once_ / (others + 1), least, commits_at_once_);
}

}  // namespace ebb::engine
