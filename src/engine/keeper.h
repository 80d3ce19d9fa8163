#pragma once

#include "engine/claim_signals.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/lookout.h"
#include "engine/service.h"

namespace ebb::engine {

/// Keeps this worker alive for the other workers (one heartbeat for all its leases), learns from
/// the store which leases are lost or must stop, and occasionally does the work that any worker can
/// do: taking away the leases of dead workers.
class Keeper final : public Service {
 public:
    Keeper(Environment& environment, Committer& committer, ClaimSignals& signals, HintBox& hints);

    std::string_view name() const override { return "keeper"; }

    SteadyPoint tick(SteadyPoint now) override;

 private:
    bool beat(SteadyPoint now);
    /// Whether the database again allows what it had denied.
    void check_rights(SteadyPoint now);
    /// Reads the subscriptions if they have changed.
    void learn_subscriptions(const std::string& mark);
    /// Gives way to the process that has this worker's name now.
    void give_way(item::Heartbeat heartbeat);
    /// How often it looks for tasks that no dead worker's deadline announces.
    Duration maintenance_pause() const;
    void maintain();
    /// Logs what the store has noticed, for the operator.
    void log_notices();
    WorkerRow row() const;

    Environment& environment_;
    Committer& committer_;
    ClaimSignals& signals_;
    HintBox& hints_;
    Lookout lookout_;
    const Duration heartbeat_every_;
    const Duration maintain_every_;
    bool has_name_ = false;     // a later heartbeat may report that the name is gone
    SteadyPoint next_check_{};  // of rights that were missing
    SteadyPoint next_heartbeat_{};
    SteadyPoint next_maintenance_{};
    SteadyPoint next_expiry_ = kSteadyNever;  // of another worker, if it sends no more heartbeats
};

}  // namespace ebb::engine
