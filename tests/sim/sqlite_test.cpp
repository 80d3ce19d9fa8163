// Whole clusters over real SQLite files. Method: the same plans as in memory; every rule holds, and
// the histories are the same byte for byte, since the store decides nothing.

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/checker.h"
#include "sim/cluster.h"
#include "sim/explain.h"
#include "sim/over_sqlite.h"

namespace ebb::sim {
namespace {

constexpr std::uint64_t kRuns = 250;

TEST(SimulationOverSqlite, breaks_no_rule_and_writes_the_same_histories_as_in_memory) {
    SqliteFolder folder;
    RunOptions options;
    options.open = [&](const Clock& clock) { return folder.open(clock); };
    int events = 0;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
        const Plan plan = make_plan(seed);
        const RunResult result = run(plan, options);
        events += result.events;
        EXPECT_EQ(broken(result), "") << "seed " << seed;
        EXPECT_EQ(explain(plan, result, {}), explain(plan, run(plan), {})) << "seed " << seed;
    }
    EXPECT_GT(events, 1'000);
}

}  // namespace
}  // namespace ebb::sim
