// The simulation finds bugs. Method: each planted bug (of the store, of the reading of a
// definition, of the history) must break a rule within few seeds; the right engine breaks none.

#include "sim/planted.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/checker.h"

namespace ebb::sim {
namespace {

// Nearly all are found by seed 100; that a person votes twice shows in the 977th.
constexpr std::uint64_t kSeedsMax = 1'000;

struct Found {
    std::uint64_t seed = 0;
    std::string what;
};

std::optional<Found> find_first(const PlantedBug& bug) {
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        const std::string what = find_planted(bug, make_plan(seed));
        if (!what.empty()) return Found{seed, what.substr(0, what.find('\n'))};
    }
    return std::nullopt;
}

class PlantedBugs : public ::testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugs, are_found_within_few_seeds) {
    const auto found = find_first(GetParam());
    ASSERT_TRUE(found) << GetParam().name << ": not in " << kSeedsMax << " seeds";
    fmt::print("seed {}: {}\n", found->seed, found->what);
}

std::string name_of(const ::testing::TestParamInfo<PlantedBug>& info) {
    std::string name = info.param.name;
    std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
    return name;
}

class PlantedRulesBugs : public ::testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedRulesBugs, are_found_within_few_seeds) {
    std::optional<Found> found;
    for (std::uint64_t seed = 1; seed <= kSeedsMax && !found; ++seed) {
        const std::string what = find_planted(GetParam(), make_rules_plan(seed));
        if (!what.empty()) found = Found{seed, what.substr(0, what.find('\n'))};
    }
    ASSERT_TRUE(found) << GetParam().name << ": not in " << kSeedsMax << " seeds";
    fmt::print("seed {}: {}\n", found->seed, found->what);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedRulesBugs, ::testing::ValuesIn(planted_rules_bugs()), name_of);

INSTANTIATE_TEST_SUITE_P(All, PlantedBugs, ::testing::ValuesIn(planted_bugs()), name_of);

TEST(NoPlantedBug, breaks_no_rule) {
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        EXPECT_EQ(broken(run(make_plan(seed))), "") << "seed " << seed;
    }
}

TEST(NoPlantedBug, breaks_no_rule_of_rules) {
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        EXPECT_EQ(broken(run(make_rules_plan(seed))), "") << "seed " << seed;
    }
}

TEST(NoPlantedBug, makes_the_store_that_bugs_are_planted_in_a_wrong_one) {
    PlantedBug none{.name = "none"};
    none.store.commit = [](PlantedChange&) {};
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        EXPECT_EQ(find_planted(none, make_plan(seed)), "") << "seed " << seed;
    }
}

}  // namespace
}  // namespace ebb::sim
