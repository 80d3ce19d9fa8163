#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"
#include "support/clock.h"
#include "support/sync.h"

namespace ebb {

/// The notices of a store until they are taken (Store::take_notices).
/// Thread-safe.
class Notices {
 public:
    explicit Notices(const Clock& clock) : clock_(clock) {}

    /// `about`: the subject. A notice with the same name and subject is kept once in kPause. While
    /// kNoticesMax notices are remembered, others are dropped.
    void add(const std::string& name, const std::string& about, const std::string& message) {
        const SteadyPoint now = clock_.steady_now();
        const Lock lock(mutex_);
        std::erase_if(said_, [&](const auto& said) { return now - said.second >= kPause; });
        if (said_.size() >= kNoticesMax) return;
        if (said_.emplace(name + " " + about, now).second) waiting_.push_back({name, message});
    }

    std::vector<StoreNotice> take() {
        const Lock lock(mutex_);
        return std::exchange(waiting_, {});
    }

    static constexpr Duration kPause = std::chrono::minutes(1);
    static constexpr std::size_t kNoticesMax = 64;

 private:
    const Clock& clock_;
    Mutex mutex_;
    std::map<std::string, SteadyPoint> said_ EBB_GUARDED_BY(mutex_);
    std::vector<StoreNotice> waiting_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb
