#pragma once

#include <optional>

#include "store/store_decorator.h"

namespace ebb::cli {

/// A store in which a worker finds the tasks of one instance only: `ebb run --db` runs what it was
/// asked to run, and nothing else that is due in the database.
class OneInstanceStore : public StoreDecorator {
 public:
    /// `inner` must outlive it.
    explicit OneInstanceStore(Store& inner) : StoreDecorator(inner), inner_(inner) {}

    /// Before any worker claims; until then nothing is found.
    void set_instance(const InstanceId& instance) { instance_ = instance; }

    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;

    /// Without handlers: nobody should wait for this worker.
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;

    /// What another process was doing when it was killed on this host is free at once, instead of
    /// when its lease runs out.
    void take_over_from_the_dead();

 private:
    Store& inner_;
    std::optional<InstanceId> instance_;
};

}  // namespace ebb::cli
