#pragma once

#include <array>
#include <memory>

#include <ebb/clock.h>

#include "plugins/metrics/families.h"
#include "store/store_decorator.h"

namespace ebb::metrics {

/// The metrics of the calls of a store.
class StoreCalls {
 public:
    StoreCalls(prometheus::Registry& registry, const Clock& clock);

    /// Measures `call`, and counts what it throws.
    template <typename Call>
    auto measure(prometheus::Histogram& histogram, const Call& call) {
        const SteadyPoint begun = clock_.steady_now();
        try {
            auto answer = call();
            note_time(histogram, begun);
            return answer;
        } catch (const std::exception& error) {
            note_time(histogram, begun);
            note_error(error);
            throw;
        }
    }

    prometheus::Histogram& commit;
    prometheus::Histogram& commit_batch;
    prometheus::Histogram& start;
    prometheus::Histogram& claim;
    prometheus::Histogram& claim_batch;
    prometheus::Histogram& heartbeat;
    prometheus::Histogram& load;
    prometheus::Histogram& history;
    prometheus::Histogram& maintain;

 private:
    StoreCalls(prometheus::Registry& registry, HistogramFamily& calls, const Clock& clock);

    void note_time(prometheus::Histogram& histogram, SteadyPoint begun);
    void note_error(const std::exception& error);

    CounterFamily& errors_;
    const Clock& clock_;
};

/// Measures the verbs that a worker's speed depends on.
class MeasuredStore final : public StoreDecorator {
 public:
    MeasuredStore(Store& inner, std::shared_ptr<StoreCalls> calls)
        : StoreDecorator(inner), inner_(inner), calls_(std::move(calls)) {}

    std::vector<StartResult> start(std::span<const NewInstance> instances) override;
    std::vector<Claim> claim(const ClaimRequest& request) override;
    LimitedClaims claim_limited(const ClaimRequest& request) override;
    std::vector<CommitResult> commit(std::span<const Commit> commits) override;
    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override;
    std::optional<InstanceRow> load(const InstanceId& id) override;
    std::vector<HistoryEvent> history(const HistoryQuery& query) override;
    MaintenanceResult maintain() override;

    std::unique_ptr<Hints> open_hints() override { return inner_.open_hints(); }

 private:
    Store& inner_;
    const std::shared_ptr<StoreCalls> calls_;
};

}  // namespace ebb::metrics
