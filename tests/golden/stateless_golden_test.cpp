// The golden workflows by the stateless engine: the same histories word for word, with the snapshot
// going through its JSON text before every step, whatever its policy forgets. Where it goes another
// way, the rules that the simulation checks hold all the same.

#include <fstream>
#include <set>
#include <string>

#include "stateless_player.h"

namespace ebb::golden {
namespace {

using Keep = stateless::HistoryPolicy::Keep;

/// The expected file without the lines that are the durable engine's own views.
std::string expected(const Case& test_case) {
    std::ifstream file(test_case.expected_file);
    std::string text;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("steps:") || line.starts_with("waiting:")) continue;
        text += line + "\n";
    }
    return text;
}

/// Where the durable engine has called two handlers before the first result was there, and one
/// result decides about the other: the stateless engine calls one after another.
const std::set<std::string> kNeedsTwoAtOnce = {
    "dead_letter_parallel",
    "frozen_cancelled_parallel",
    "frozen_nested",
    "frozen_twice",
    "join_n_fails_when_out_of_reach",
    "join_n_losers_in_reverse",
    "keep_drops_what_is_being_undone",
    "keep_rolled_back_later",
    "late_failure_is_not_retried",
    "nest_all_in_any_is_borne",
    "nest_any_in_loop",
    "nest_failure_climbs",
    "parallel_any",
    "parallel_any_keep",
    "parallel_n",
    "savepoint_after_kept_losers",
    "undo_of_loser_and_late_failure",
    "undo_of_loser_and_two_late_failures",
    "undo_of_loser_cancelled",
    "undo_of_loser_requeued",
    "undo_of_loser_skipped",
};

/// Cases in which branches take turns in a different order: here, in the order in which they
/// reached their steps.
const std::set<std::string> kTakesOtherTurns = {
    "nest_switch_in_branch",
    "nest_two_conditions_in_branch",
};

bool goes_another_way(const std::string& name) {
    return kNeedsTwoAtOnce.contains(name) || kTakesOtherTurns.contains(name) ||
           needs_watchdog(name);
}

TEST(StatelessGolden, every_workflow_tells_its_expected_history_under_every_policy) {
    int played = 0;
    for (const Case& test_case : load_cases(workflows_folder())) {
        if (needs_processes(test_case)) continue;
        SCOPED_TRACE(test_case.name);
        const std::string wanted = expected(test_case);
        const std::string told = play_stateless(test_case, {});
        if (goes_another_way(test_case.name)) {
            EXPECT_NE(told, wanted) << "it need not be an exception any more";
        } else {
            ++played;
            EXPECT_EQ(told, wanted) << "if both are right, it is one more exception";
        }
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::Last, .last = 1}), told);
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::ErrorsOnly}), told);
    }
    EXPECT_GE(played, 150);
}

}  // namespace
}  // namespace ebb::golden
