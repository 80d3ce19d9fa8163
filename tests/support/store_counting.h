#pragma once

#include <map>
#include <mutex>

#include "support/store_decorator.h"

namespace ebb::testing {

/// Counts the calls of every verb. Thread-safe.
class CountingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    int calls(StoreVerb verb) const {
        const std::lock_guard lock(mutex_);
        const auto found = calls_.find(verb);
        return found == calls_.end() ? 0 : found->second;
    }

    /// Calls of all verbs that may change something.
    int writes() const {
        const std::lock_guard lock(mutex_);
        int sum = 0;
        for (const auto& [verb, count] : calls_) sum += is_write(verb) ? count : 0;
        return sum;
    }

    int total() const {
        const std::lock_guard lock(mutex_);
        int sum = 0;
        for (const auto& [verb, count] : calls_) sum += count;
        return sum;
    }

    void reset() {
        const std::lock_guard lock(mutex_);
        calls_.clear();
    }

 protected:
    void before(StoreVerb verb) override {
        const std::lock_guard lock(mutex_);
        calls_[verb] += 1;
    }

 private:
    mutable std::mutex mutex_;
    std::map<StoreVerb, int> calls_;
};

}  // namespace ebb::testing
