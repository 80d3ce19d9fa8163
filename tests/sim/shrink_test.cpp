// A failing run is reduced to one that a person can read. Method: bugs are planted, found and
// shrunk.

#include "sim/shrink.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/checker.h"
#include "sim/explain.h"
#include "sim/planted.h"
#include "sim/simplify.h"

namespace ebb::sim {
namespace {

const PlantedBug& bug_named(const std::string& name) {
    const auto& bugs = planted_bugs();
    return *std::find_if(bugs.begin(), bugs.end(), [&](const auto& bug) {
        return bug.name == name;
    });
}

/// The first plan with more than a few nodes in which the bug is found.
Plan first_large_plan(const PlantedBug& bug) {
    for (std::uint64_t seed = 1;; ++seed) {
        Plan plan = make_plan(seed);
        if (count_nodes(plan) >= 12 && !find_planted(bug, plan).empty()) return plan;
    }
}

class Shrinking : public ::testing::TestWithParam<std::string> {};

TEST_P(Shrinking, leaves_only_what_shows_the_bug) {
    const PlantedBug& bug = bug_named(GetParam());
    const Plan plan = first_large_plan(bug);
    const Judge judge = [&](const Plan& candidate) { return find_planted(bug, candidate); };
    const Shrunk shrunk = shrink(plan, judge);
    fmt::print(
        "{}: {} nodes and {} disturbances became {} and {} in {} runs\n",
        bug.name,
        count_nodes(plan),
        plan.disturbances.size(),
        count_nodes(shrunk.plan),
        shrunk.plan.disturbances.size(),
        shrunk.runs
    );
    EXPECT_EQ(find_planted(bug, shrunk.plan), shrunk.what);
    EXPECT_NE(shrunk.what, "");
    // One more node may stay if the order of the scheduler depends on its moves.
    EXPECT_LE(count_nodes(shrunk.plan), 5) << explain(shrunk.plan, {}, shrunk.what);
    EXPECT_LE(shrunk.plan.disturbances.size(), 3U);
    EXPECT_LE(shrunk.plan.inputs.size(), 2U);
}

INSTANTIATE_TEST_SUITE_P(
    Of,
    Shrinking,
    ::testing::Values(
        "a wait has no wake-up",
        "cancelled ends as failed",
        "one attempt too many",
        "conditions take the wrong side",
        "a lost lease is not reported",
        "history: compensations out of order"
    ),
    [](const auto& suite) {
        std::string name = suite.param;
        std::replace_if(name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
        return name;
    }
);

TEST(Shrinker, does_not_change_a_plan_that_breaks_nothing) {
    const Judge judge = [](const Plan&) { return std::string(); };
    const Plan plan = make_plan(3);
    const Shrunk shrunk = shrink(plan, judge);
    EXPECT_EQ(shrunk.runs, 0);
    EXPECT_EQ(describe(shrunk.plan), describe(plan));
}

TEST(Shrinker, stops_after_the_given_number_of_runs) {
    const Judge judge = [](const Plan&) { return std::string("always"); };
    EXPECT_EQ(shrink(make_plan(3), judge, 7).runs, 7);
}

TEST(Shrinker, explains_a_run_with_its_definition_faults_history_and_rule) {
    const Plan plan = make_plan(5);
    const std::string text = explain(plan, run(plan), "a rule");
    for (const char* part : {"definition:", "worker w1", "history (", "started", "a rule"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part;
    }
}

TEST(Simplify, names_each_part_once) {
    const auto definition = nlohmann::json::parse(
        R"({"name":"f","steps":[{"step":"a","timeout":"1s"},{"loop":"l","do":[{"step":"b"}]}]})"
    );
    std::size_t parts = 0;
    while (simplify(definition, parts)) ++parts;
    // a, its timeout; the loop, its shell, b; the name.
    EXPECT_EQ(parts, 6U);
    EXPECT_EQ(simplify(definition, 3)->at("steps").at(1), (nlohmann::json{{"step", "b"}}));
}

}  // namespace
}  // namespace ebb::sim
