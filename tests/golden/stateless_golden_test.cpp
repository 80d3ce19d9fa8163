// The golden workflows by the stateless engine: the same histories word for word, with the snapshot
// going through its JSON text before every step, whatever its policy forgets.

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
    "parallel_any",
    "parallel_any_keep",
};

std::string last_lines(const std::string& told) {
    return told.substr(told.find("\nstatus:"));
}

TEST(StatelessGolden, every_workflow_tells_its_expected_history_under_every_policy) {
    int played = 0;
    for (const Case& test_case : load_cases(workflows_folder())) {
        if (needs_processes(test_case)) continue;
        SCOPED_TRACE(test_case.name);
        const std::string wanted = expected(test_case);
        const std::string told = play_stateless(test_case, {});
        if (kNeedsTwoAtOnce.contains(test_case.name)) {
            EXPECT_EQ(last_lines(told), last_lines(wanted));
        } else {
            ++played;
            EXPECT_EQ(told, wanted);
        }
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::Last, .last = 1}), told);
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::ErrorsOnly}), told);
    }
    EXPECT_GE(played, 50);
}

}  // namespace
}  // namespace ebb::golden
