// Golden workflows: every case is played over the memory, the SQLite and the PostgreSQL store and
// must tell the same history, word for word, as its expected file; and the view `steps` says of
// each visit what Engine::show says. EBB_APPROVE=1 rewrites the expected files (./dev approve); the
// diff is the review.

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "ending.h"
#include "player.h"
#include "sql_views.h"
#include "stores.h"

namespace ebb::golden {
namespace {

std::string expected(const Case& test_case) {
    std::ifstream file(test_case.expected_file);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string play_in_memory(const Case& test_case) {
    std::string told;
    with_memory([&](Store& store, ManualClock& clock) {
        Player player(test_case, store, clock);
        player.play();
        told = tell(player, test_case);
        EXPECT_EQ(broken_rule(player, test_case, store, Rest::Unknown), "") << told;
    });
    return told;
}

/// Plays it, and compares what the view `steps` says of it with what the engine shows.
std::string play_at(
    void (*with_store)(const UseAt&),
    std::string (*steps)(const std::string& place, const InstanceId& id),
    const Case& test_case
) {
    std::string told;
    with_store([&](Store& store, ManualClock& clock, const std::string& place) {
        Player player(test_case, store, clock);
        player.play();
        told = tell(player, test_case);
        EXPECT_EQ(broken_rule(player, test_case, store, Rest::Unknown), "") << told;
        EXPECT_EQ(steps(place, player.id()), steps_shown(player)) << told;
    });
    return told;
}

TEST(Golden, every_workflow_tells_its_expected_history_on_every_store) {
    const auto cases = all_cases();
    ASSERT_GE(cases.size(), 150U);
    const bool approves = std::getenv("EBB_APPROVE") != nullptr;
    for (const Case& test_case : cases) {
        SCOPED_TRACE(test_case.name);
        const std::string told = play_in_memory(test_case);
        if (approves) std::ofstream(test_case.expected_file) << told;
        EXPECT_EQ(told, expected(test_case)) << test_case.name << " (./dev approve rewrites it)";
        const std::string in_sqlite = play_at(with_sqlite_at, steps_in_sqlite, test_case);
        EXPECT_EQ(in_sqlite, told) << test_case.name << " on SQLite";
        const std::string in_postgres = play_at(with_postgres_at, steps_in_postgres, test_case);
        EXPECT_EQ(in_postgres, told) << test_case.name << " on PostgreSQL";
    }
}

}  // namespace
}  // namespace ebb::golden
