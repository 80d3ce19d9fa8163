// The checker can fail. Method: right histories, of runs of the simulation, are made wrong in one
// place; and stores that lose, forget or mix up things are put under whole clusters.

#include "sim/checker.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/cluster.h"
#include "sim/mutate.h"

namespace ebb::sim {
namespace {

using History = std::vector<HistoryEntry>;

struct Share {
    int made = 0;
    int caught = 0;

    double percent() const { return made == 0 ? 0 : 100.0 * caught / made; }
};

/// How often each kind of mutation was made and refused, over so many seeds.
std::map<Mutation, Share> count_caught(std::uint64_t first, std::uint64_t seeds) {
    std::map<Mutation, Share> shares;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const RunResult result = run(make_plan(seed));
        test::Dice dice(seed, 7);
        for (const Evidence& evidence : result.evidence) {
            for (int i = 0; i < kMutations * 3; ++i) {
                const auto mutation = static_cast<Mutation>(i % kMutations);
                const auto wrong = mutate(evidence, mutation, dice);
                if (!wrong) continue;
                ++shares[mutation].made;
                shares[mutation].caught += !check(*wrong).empty();
            }
        }
    }
    return shares;
}

TEST(Checker, refuses_nearly_every_random_mutation_of_a_history) {
    Share all;
    for (const auto& [mutation, share] : count_caught(1, 300)) {
        fmt::print(
            "{:10} {:6} made {:6} caught {:6.2f} %\n",
            to_string(mutation),
            share.made,
            share.caught,
            share.percent()
        );
        all.made += share.made;
        all.caught += share.caught;
    }
    fmt::print("all: {:.2f} %\n", all.percent());
    EXPECT_GT(all.percent(), 98.0);
}

}  // namespace
}  // namespace ebb::sim
