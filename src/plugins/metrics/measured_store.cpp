#include "plugins/metrics/measured_store.h"

#include <ebb/error.h>

namespace ebb::metrics {

namespace {

const Bounds& batch_sizes() {
    static const Bounds bounds{1, 2, 5, 10, 20, 50, 100, 200, 500};
    return bounds;
}

prometheus::Histogram& of_verb(HistogramFamily& family, const char* verb) {
    return family.Add({{"verb", verb}}, call_seconds());
}

prometheus::Histogram& batch(
    prometheus::Registry& registry, const std::string& name, const std::string& help
) {
    return histogram_family(registry, name, help).Add({}, batch_sizes());
}

}  // namespace

StoreCalls::StoreCalls(prometheus::Registry& registry, const Clock& clock)
    : StoreCalls(
          registry,
          histogram_family(
              registry, "ebb_store_call_duration_seconds", "Time that the store took to answer."
          ),
          clock
      ) {}

StoreCalls::StoreCalls(prometheus::Registry& registry, HistogramFamily& calls, const Clock& clock)
    : commit(of_verb(calls, "commit")),
      commit_batch(batch(registry, "ebb_commit_batch_size", "Instances written at once.")),
      start(of_verb(calls, "start")),
      claim(of_verb(calls, "claim")),
      claim_batch(batch(registry, "ebb_claim_batch_size", "Tasks that a claim found, if any.")),
      heartbeat(of_verb(calls, "heartbeat")),
      load(of_verb(calls, "load")),
      history(of_verb(calls, "history")),
      maintain(of_verb(calls, "maintain")),
      errors_(counter_family(
          registry, "ebb_store_errors_total", "Calls of the store that failed, by error code."
      )),
      clock_(clock) {}

void StoreCalls::note_time(prometheus::Histogram& histogram, SteadyPoint begun) {
    histogram.Observe(std::chrono::duration<double>(clock_.steady_now() - begun).count());
}

void StoreCalls::note_error(const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const ErrorCode code = known == nullptr ? ErrorCode::Internal : known->code();
    errors_.Add({{"code", std::string(to_string(code))}}).Increment();
}

std::vector<StartResult> MeasuredStore::start(std::span<const NewInstance> instances) {
    return calls_->measure(calls_->start, [&] { return inner_.start(instances); });
}

std::vector<Claim> MeasuredStore::claim(const ClaimRequest& request) {
    auto claims = calls_->measure(calls_->claim, [&] { return inner_.claim(request); });
    if (!claims.empty()) calls_->claim_batch.Observe(static_cast<double>(claims.size()));
    return claims;
}

LimitedClaims MeasuredStore::claim_limited(const ClaimRequest& request) {
    auto claims = calls_->measure(calls_->claim, [&] { return inner_.claim_limited(request); });
    if (const std::size_t found = claims.claims.size(); found > 0) {
        calls_->claim_batch.Observe(static_cast<double>(found));
    }
    return claims;
}

std::vector<CommitResult> MeasuredStore::commit(std::span<const Commit> commits) {
    calls_->commit_batch.Observe(static_cast<double>(commits.size()));
    return calls_->measure(calls_->commit, [&] { return inner_.commit(commits); });
}

HeartbeatResult MeasuredStore::heartbeat(const WorkerRow& worker, Duration lease) {
    return calls_->measure(calls_->heartbeat, [&] { return inner_.heartbeat(worker, lease); });
}

std::optional<InstanceRow> MeasuredStore::load(const InstanceId& id) {
    return calls_->measure(calls_->load, [&] { return inner_.load(id); });
}

std::vector<HistoryEvent> MeasuredStore::history(const HistoryQuery& query) {
    return calls_->measure(calls_->history, [&] { return inner_.history(query); });
}

MaintenanceResult MeasuredStore::maintain() {
    return calls_->measure(calls_->maintain, [&] { return inner_.maintain(); });
}

}  // namespace ebb::metrics
