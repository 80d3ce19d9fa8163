// The simulation finds bugs. Method: each planted bug (of the store, of the reading of a
// definition, of the history) must break a rule within few seeds; the right engine breaks none.

#include "sim/planted.h"

#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/checker.h"

namespace ebb::sim {
namespace {

constexpr std::uint64_t kSeedsMax = 120;

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

TEST(PlantedBugs, are_found_within_few_seeds) {
    for (const PlantedBug& bug : planted_bugs()) {
        const auto found = find_first(bug);
        EXPECT_TRUE(found) << bug.name << ": not in " << kSeedsMax << " seeds";
        if (found) fmt::print("{:52} seed {:3}: {}\n", bug.name, found->seed, found->what);
    }
}

TEST(PlantedBugs, are_not_seen_where_there_are_none) {
    for (std::uint64_t seed = 1; seed <= kSeedsMax; ++seed) {
        EXPECT_EQ(broken(run(make_plan(seed))), "") << "seed " << seed;
    }
}

}  // namespace
}  // namespace ebb::sim
