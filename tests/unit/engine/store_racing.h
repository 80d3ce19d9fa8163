#pragma once

#include <functional>
#include <utility>

#include "support/store_decorator.h"

namespace ebb::test {

using testing::StoreDecorator;
using testing::StoreVerb;

/// Runs an action once, right before the next commit.
class RacingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::function<void()> race;

 protected:
    void before(StoreVerb verb) override {
        if (verb != StoreVerb::Commit || !race) return;
        const std::function<void()> action = std::exchange(race, nullptr);
        action();
    }
};

}  // namespace ebb::test
