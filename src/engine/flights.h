#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <span>
#include <unordered_set>
#include <vector>

#include "engine/committer_role.h"
#include "engine/flight.h"
#include "engine/holdings.h"
#include "engine/pace.h"
#include "engine/room.h"
#include "engine/settle.h"
#include "engine/store_trouble.h"

namespace ebb::engine {

/// What is written: decided turns are packed into batches, take off, and are settled when they have
/// landed. An instance is pending from the first to the last of these.
class Flights {
 public:
    struct Parts {
        Environment& environment;
        Pace& pace;
        const Room& room;
        Holdings& holdings;
        Settler& settler;
        StoreTrouble& trouble;
    };

    explicit Flights(const Parts& parts)
        : parts_(parts),
          commits_at_once_(parts.environment.store.traits().commits_at_once),
          flights_max_(commits_at_once_) {}

    /// Chooses what the turns write, and packs them into batches.
    void pack(std::vector<Turn> turns) EBB_REQUIRES(kCommitter);

    /// The next batch, if the store takes one now; else null.
    FlightPtr take_off(SteadyPoint now) EBB_REQUIRES(kCommitter);
    /// Writes the batch. Needs no role: other threads continue with other instances.
    void fly(Flight& flight) const noexcept;
    void settle(std::span<const FlightPtr> landed, SteadyPoint now) EBB_REQUIRES(kCommitter);

    /// Answers the requests in batches that wait, with the trouble of the store.
    void drop_requests() EBB_REQUIRES(kCommitter);

    /// All workers share what the store does at the same time: two workers may write as if each
    /// were alone.
    void share_store(int others) EBB_REQUIRES(kCommitter);

    bool is_pending(const InstanceId& id) const EBB_REQUIRES(kCommitter) {
        return pending_.contains(id);
    }

    bool has_pending() const EBB_REQUIRES(kCommitter) { return !pending_.empty(); }

    bool has_batches() const EBB_REQUIRES(kCommitter) { return !batches_.empty(); }

    /// Does the store take one more?
    bool has_room() const EBB_REQUIRES(kCommitter) { return under_way_ < flights_max_; }

    /// Rises with each flight that is settled.
    std::uint64_t settled() const EBB_REQUIRES(kCommitter) { return settled_; }

    /// Asserts what must hold between the parts of a round: books.cpp.
    void check() const EBB_REQUIRES(kCommitter);

 private:
    void settle_flight(Flight& flight, SteadyPoint now) EBB_REQUIRES(kCommitter);
    void settle_all(Batch& batch, std::vector<CommitResult>& results) EBB_REQUIRES(kCommitter);
    /// Finds the conflicts that are with an earlier attempt of the batch whose answer was lost.
    void recognize(Batch& batch, std::vector<CommitResult>& results) const;
    void write_one_by_one(Batch& batch, const std::exception& error) EBB_REQUIRES(kCommitter);
    void drop_requests(Batch& batch) EBB_REQUIRES(kCommitter);

    Environment& environment() const { return parts_.environment; }

    const Parts parts_;
    const int commits_at_once_;  // for a worker that is alone
    std::deque<Batch> batches_ EBB_GUARDED_BY(kCommitter);
    std::unordered_set<InstanceId> pending_ EBB_GUARDED_BY(kCommitter);
    int under_way_ EBB_GUARDED_BY(kCommitter) = 0;
    int flights_max_ EBB_GUARDED_BY(kCommitter);
    std::uint64_t settled_ EBB_GUARDED_BY(kCommitter) = 0;
};

}  // namespace ebb::engine
