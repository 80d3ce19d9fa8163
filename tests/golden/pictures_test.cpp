// Goal: the worked pictures of docs/reference/pictures.md are what the engine does. Method: the
// page is written from golden workflows as they are played; what differs from it fails the test.

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include <ebb/diagram.h>

#include "ebb_test_dirs.h"
#include "player.h"
#include "stores.h"

namespace ebb::golden {
namespace {

struct Chapter {
    std::string title;
    std::vector<std::string> cases;
};

std::vector<Chapter> chapters() {
    return {
        {"A failure ebbs back",
         {"saga_reverse_order", "undo_of_timeout_is_unknown", "loop_rolled_back", "parallel_failure"
         }},
        {"Savepoints",
         {"savepoint_bounds_rollback", "savepoint_resume", "savepoint_between_parallels"}},
        {"Losers of a join",
         {"join_n_losers_in_reverse",
          "loser_running_is_awaited",
          "keep_rolled_back_later",
          "nest_losers_while_sibling_fails"}},
        {"Workers that die", {"late_result_of_lost_lease", "lost_worker_non_idempotent"}},
        {"People and operators",
         {"decision_in_branch_rejected",
          "cancel_everything_at_once",
          "undo_fails_in_the_middle",
          "dead_letter_parallel"}},
        {"Time", {"deadline_running", "step_timeout_stops_retries"}},
    };
}

std::filesystem::path page_file() {
    return std::filesystem::path(EBB_SOURCE_DIR) / "docs/reference/pictures.md";
}

std::string text_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// Puts `done 2, undone 1` before each note: when the node ended, and when that was undone.
void note_order(StepMarks& marks, const std::vector<HistoryEntry>& history) {
    int done = 0;
    int undone = 0;
    std::map<std::string, std::string> orders;
    for (const HistoryEntry& entry : history) {
        const bool is_done = entry.type == "step_completed" || entry.type == "step_failed";
        if (!is_done && entry.type != "step_compensated") continue;
        std::string& order = orders[entry.node];
        order += order.empty() ? "" : ", ";
        order += is_done ? fmt::format("done {}", ++done) : fmt::format("undone {}", ++undone);
    }
    for (const auto& [node, order] : orders) {
        std::string& note = marks[node].note;
        note = note.empty() ? order : order + "; " + note;
    }
}

std::string picture(const Case& test_case) {
    std::string text;
    with_memory([&](Store& store, ManualClock& clock) {
        Player player(test_case, store, clock);
        player.play();
        StepMarks marks = marks_of(player.engine().show(player.id()));
        note_order(marks, player.engine().history(player.id()));
        DiagramOptions options;
        options.marks = std::move(marks);
        options.legend = DiagramOptions::Legend::Hide;
        const std::string told = tell(player, test_case);
        text = fmt::format(
            "```mermaid\n{}```\n\n<details><summary>definition and history</summary>\n\n"
            "```yaml\n{}```\n\n```text\n{}```\n\n</details>\n",
            to_mermaid(test_case.definition, options),
            text_of(workflows_folder() / (test_case.name + ".yaml")),
            told.substr(told.find('\n') + 1)
        );
    });
    return text;
}

std::string page() {
    std::string text =
        "# Worked pictures\n\n"
        "These pictures show how workflows ended. There is one for each rule of "
        "[semantics](../semantics.md)\n"
        "that is easier to see than to read. `done 2` means that the step was the second to end, "
        "`undone 1`\n"
        "that it was the first to be compensated. In a history, `of 5` refers to event 5. The "
        "tests generate\n"
        "this page (`./dev approve`) from [golden workflows](../../tests/golden/workflows), which "
        "include all\n"
        "other cases.\n";
    const std::vector<Case> cases = load_cases(workflows_folder());
    for (const Chapter& chapter : chapters()) {
        text += fmt::format("\n## {}\n", chapter.title);
        for (const std::string& name : chapter.cases) {
            const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& known) {
                return known.name == name;
            });
            if (found == cases.end()) throw std::runtime_error("There is no golden " + name);
            const auto shows = found->script.at("shows").get<std::string>();
            text += fmt::format("\n### {}\n\n{}", shows, picture(*found));
        }
    }
    return text;
}

TEST(Pictures, are_those_of_the_page) {
    const std::string text = page();
    if (std::getenv("EBB_APPROVE") != nullptr) std::ofstream(page_file()) << text;
    EXPECT_TRUE(text == text_of(page_file())) << "./dev approve rewrites it; the diff says more";
}

}  // namespace
}  // namespace ebb::golden
