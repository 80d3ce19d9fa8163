#pragma once

#include <atomic>

#include <ebb/clock.h>

#include "store/store_decorator.h"

namespace ebb::cli {

/// The store of an engine, which shows whether the engine still does its regular work: it sends a
/// heartbeat each second, also while the database does not answer.
class BeatingStore : public StoreDecorator {
 public:
    /// Both must outlive it.
    BeatingStore(Store& inner, const Clock& clock)
        : StoreDecorator(inner), inner_(inner), clock_(clock) {}

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override {
        const Beat beat(*this);
        return StoreDecorator::heartbeat(worker, lease);
    }

    std::unique_ptr<Hints> open_hints() override { return inner_.open_hints(); }

    /// Whether a heartbeat is on its way, or was within `limit`. The store limits how long it waits
    /// for the database.
    bool is_beating(Duration limit) const {
        return running_ > 0 || clock_.steady_now() - SteadyPoint(Duration(ended_at_)) < limit;
    }

 private:
    class Beat {
     public:
        explicit Beat(BeatingStore& store) : store_(store) { ++store_.running_; }

        ~Beat() {
            store_.ended_at_ = store_.clock_.steady_now().time_since_epoch().count();
            --store_.running_;
        }

        Beat(const Beat&) = delete;
        Beat& operator=(const Beat&) = delete;

     private:
        BeatingStore& store_;
    };

    Store& inner_;
    const Clock& clock_;
    std::atomic<int> running_{0};
    std::atomic<Duration::rep> ended_at_{0};
};

}  // namespace ebb::cli
