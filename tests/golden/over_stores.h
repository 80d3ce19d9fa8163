#pragma once

#include <array>
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "stores.h"

namespace ebb::golden {

/// A test that runs over each of the three stores.
class OverStores : public ::testing::TestWithParam<int> {
 protected:
    static void with_store(const Use& use) {
        constexpr std::array kStores{with_memory, with_sqlite, with_postgres};
        kStores.at(static_cast<std::size_t>(GetParam()))(use);
    }

    /// Of the calls of the databases a sample: the memory store has shown all.
    static int stride() { return GetParam() == 0 ? 1 : 7; }
};

inline std::string name_of_store(const ::testing::TestParamInfo<int>& kind) {
    constexpr std::array<const char*, 3> kNames{"memory", "sqlite", "postgresql"};
    return kNames.at(static_cast<std::size_t>(kind.param));
}

}  // namespace ebb::golden
