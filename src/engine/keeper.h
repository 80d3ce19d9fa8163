#pragma once

#include "engine/claim_signals.h"
#include "engine/committer.h"
#include "engine/environment.h"
#include "engine/service.h"

namespace ebb::engine {

/// Keeps this worker alive in the eyes of the others (one heartbeat for all its leases), hears from
/// the store which of them are lost or to be stopped, and does now and then what anybody must do:
/// take the leases of dead workers away.
class Keeper final : public Service {
 public:
    Keeper(Environment& environment, Committer& committer, ClaimSignals& signals, HintBox& hints);

    std::string_view name() const override { return "keeper"; }

    SteadyPoint tick(SteadyPoint now) override;

 private:
    bool beat(SteadyPoint now);
    /// Whether the database allows again what it has denied.
    void check_rights(SteadyPoint now);
    /// To the process that has this worker's name now.
    void give_way(item::Heartbeat heartbeat);
    /// How often it looks for what no dead worker's deadline tells.
    Duration maintenance_pause() const;
    void maintain();
    /// What the store has noticed, for the operator.
    void log_notices();
    WorkerRow row() const;

    Environment& environment_;
    Committer& committer_;
    ClaimSignals& signals_;
    HintBox& hints_;
    const Duration heartbeat_every_;
    const Duration maintain_every_;
    bool has_name_ = false;     // of which a later heartbeat may hear that it is gone
    SteadyPoint next_check_{};  // of rights that were missing
    SteadyPoint next_heartbeat_{};
    SteadyPoint next_maintenance_{};
    SteadyPoint next_expiry_ = kSteadyNever;  // of another worker, if that sends no more heartbeats
};

}  // namespace ebb::engine
