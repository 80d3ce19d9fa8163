#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/store_faulty.h"

namespace ebb::sim {

/// What all stores of one cluster share.
struct StoreLog {
    std::uint64_t commits = 0;                       ///< that changed something
    std::function<void(const std::string&)> note{};  ///< of what is written; may be null
    std::function<void(const Claim&)> limited{};     ///< of what is claimed under limits
};

/// A worker's own way to the shared store, with its own faults: what befalls one worker leaves the
/// others alone.
class SimStore : public testing::FaultyStore {
 public:
    SimStore(Store& shared, StoreLog& log) : FaultyStore(shared), shared_(shared), log_(log) {}

    std::vector<CommitResult> commit(std::span<const Commit> commits) override;

    /// The next commit is in doubt, and is performed only by `perform_late`.
    void delay_next_commit() { is_next_late_ = true; }

    void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    MaintenanceResult maintain() override;

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;

    /// Sent commits, whatever their outcome.
    int heartbeats() const { return heartbeats_; }

    void perform_late();

    bool has_late() const { return !late_.empty(); }

    void calm_down() {
        calm();
        is_next_late_ = false;
    }

 private:
    /// A commit that owns what it refers to.
    struct Kept {
        explicit Kept(const Commit& commit);

        Commit commit;
        std::vector<HistoryEvent> history;
        std::vector<TaskChange> tasks;
        Effects effects;
    };

    void log(const Commit& commit, CommitResult result);

    Store& shared_;
    StoreLog& log_;
    bool is_next_late_ = false;
    int heartbeats_ = 0;
    std::vector<Kept> late_;
};

}  // namespace ebb::sim
