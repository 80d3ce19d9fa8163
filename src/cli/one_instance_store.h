#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store_decorator.h"

namespace ebb::cli {

/// A store in which a worker finds the tasks of one instance only: `ebb run --db` runs the instance
/// that it was asked to run, and nothing else that is due in the database.
class OneInstanceStore : public StoreDecorator {
 public:
    /// `inner` must outlive it.
    explicit OneInstanceStore(Store& inner) : StoreDecorator(inner), inner_(inner) {}

    /// Call it before a worker claims. Until then, nothing is found.
    void set_instance(const InstanceId& instance) { instance_ = instance; }

    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;

    /// Announces no handlers: tasks of other instances must not count as served.
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;

    /// Frees what another process was doing when it was killed on this host, instead of waiting
    /// until its lease runs out.
    void take_over_from_dead_processes();

    std::unique_ptr<Hints> open_hints() override { return inner_.open_hints(); }

 private:
    Store& inner_;
    std::optional<InstanceId> instance_;
};

}  // namespace ebb::cli
