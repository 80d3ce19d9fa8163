#pragma once

#include <functional>
#include <span>

#include "engine/environment.h"
#include "engine/service.h"

namespace ebb::engine {

/// Makes deliveries of the notices in the outbox: each row starts one instance of the workflow
/// `ebb:webhook`, whose start key names the event, and is then removed. A process that dies in
/// between leaves the row to the next one, which starts nothing twice. Does nothing as long as
/// there is no subscription.
class Relay final : public Service {
 public:
    /// `start` starts the deliveries of rows, each of which may already be started.
    Relay(Environment& environment, std::function<void(std::span<const OutboxRow>)> start);

    std::string_view name() const override { return "relay"; }

    SteadyPoint tick(SteadyPoint now) override;

 private:
    bool relay_some();
    void prepare();
    void clear(SteadyPoint now);

    Environment& environment_;
    const std::function<void(std::span<const OutboxRow>)> start_;
    bool is_prepared_ = false;
    SteadyPoint next_clear_{};
};

}  // namespace ebb::engine
