// The golden workflows by the stateless engine: the same histories word for word, with the snapshot
// going through its JSON text before every step, whatever its policy forgets.

#include <filesystem>
#include <fstream>
#include <sstream>
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

TEST(StatelessGolden, every_workflow_tells_its_expected_history_under_every_policy) {
    const auto folder = std::filesystem::path(EBB_SOURCE_DIR) / "tests/golden/workflows";
    int played = 0;
    for (const Case& test_case : load_cases(folder)) {
        if (happens_during_calls(test_case)) continue;
        ++played;
        const std::string wanted = expected(test_case);
        EXPECT_EQ(play_stateless(test_case, {}), wanted) << test_case.name;
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::Last, .last = 1}), wanted)
            << test_case.name << " with the last result only";
        EXPECT_EQ(play_stateless(test_case, {.keep = Keep::ErrorsOnly}), wanted)
            << test_case.name << " with errors only";
    }
    EXPECT_GE(played, 50);
}

}  // namespace
}  // namespace ebb::golden
