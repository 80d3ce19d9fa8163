#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ebb::bench {

/// One figure beside the yardstick that was measured in the same run.
struct Figure {
    std::string name;
    double value = 0;  ///< the median
    std::string unit;
    std::string yardstick;  ///< what the ratio compares with; empty = none
    double ratio = 0;  ///< value / yardstick's value (or the other way round where less is better)
    double goal = 0;   ///< the least ratio (or value) that the project promises; 0 = none
    std::vector<double> runs;
    std::string note;
    /// What it cost, by name: robust where other programs load the machine.
    std::vector<std::pair<std::string, double>> details{};
    /// Whether the goal is met: `met` or `missed`; `failed` = there is no value, and the note says
    /// why; empty = not judged here.
    std::string verdict{};
    /// The goal is the most that the ratio may be, not the least.
    bool goal_is_most = false;
};

/// Gives a verdict to each figure that has a goal and no verdict yet.
void judge(std::vector<Figure>& figures);

double median(std::vector<double> values);

/// `p` between 0 and 1.
double percentile(std::vector<double> values, double p);

/// A table for people, or a JSON array for machines.
std::string render(const std::vector<Figure>& figures, bool as_json);

/// Names on standard error what could not be measured; how many these are.
int report_failures(const std::vector<Figure>& figures);

// The suites. Each is a few seconds long per figure.
std::vector<Figure> kernel_figures();
/// `only`: the name of one; empty = all.
std::vector<Figure> sqlite_figures(std::string_view only);
std::vector<Figure> size_figures();
std::vector<Figure> stateless_figures();
std::vector<Figure> lsp_figures();

struct PostgresAsked {
    std::string_view only;         ///< the name of one; empty = all
    std::int64_t steps = 300'000;  ///< of pg_steady
};

struct ServerAsked {
    std::string_view only;  ///< the name of one; empty = all
    double seconds = 3;     ///< of each measurement
};

/// A quarter of an hour. Needs wrk.
std::vector<Figure> server_figures(const ServerAsked& asked);

/// A minute per figure.
std::vector<Figure> postgres_figures(const PostgresAsked& asked);

struct RulesAsked {
    std::string_view only;  ///< the name of one; empty = all
    int runs = 5;
    double seconds = 4;  ///< of one run
};

std::vector<Figure> rules_figures(const RulesAsked& asked);

}  // namespace ebb::bench
