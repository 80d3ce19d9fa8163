// The same seed is the same run, byte for byte. Method: runs are printed as text, twice in this
// process and in two others, and compared.

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/checker.h"
#include "sim/cluster.h"
#include "sim/explain.h"

namespace ebb::sim {
namespace {

constexpr std::uint64_t kFirst = 1;
constexpr std::uint64_t kSeeds = 60;

std::string tell(std::uint64_t seed) {
    const Plan plan = make_plan(seed);
    const RunResult result = run(plan);
    return fmt::format("seed {}\n{}", seed, explain(plan, result, broken(result)));
}

/// What another process prints about all seeds.
std::string tell_elsewhere() {
    const std::string command =
        fmt::format("'{}' --tell --no-shrink --seed {} --runs {}", EBB_SIM_PROGRAM, kFirst, kSeeds);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 65'536> buffer{};
    while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe.get())) {
        text.append(buffer.data(), size);
    }
    return text;
}

TEST(Determinism, the_same_seed_is_the_same_run_in_one_process) {
    for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
        EXPECT_EQ(tell(seed), tell(seed)) << "seed " << seed;
    }
}

TEST(Determinism, the_same_seed_is_the_same_run_in_three_processes) {
    std::string here;
    for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) here += tell(seed);
    const std::string elsewhere = tell_elsewhere();
    // Behind the runs stands a summary.
    EXPECT_EQ(here, elsewhere.substr(0, here.size()));
    EXPECT_EQ(elsewhere, tell_elsewhere());
}

TEST(Determinism, looking_at_a_run_does_not_change_it) {
    RunOptions options;
    options.watches = true;
    options.trace = [](const std::string&) {};
    for (std::uint64_t seed = kFirst; seed < kFirst + kSeeds; ++seed) {
        const Plan plan = make_plan(seed);
        const RunResult watched = run(plan, options);
        EXPECT_EQ(watched.digest, run(plan).digest) << "seed " << seed;
        EXPECT_FALSE(watched.seen.empty()) << "seed " << seed;
    }
}

TEST(Determinism, different_seeds_are_different_runs) {
    EXPECT_NE(run(make_plan(1)).digest, run(make_plan(2)).digest);
}

}  // namespace
}  // namespace ebb::sim
