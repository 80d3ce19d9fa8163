// The simulator's command: runs many seeds, or one with its trace. A seed that fails is shrunk.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "sim/checker.h"
#include "sim/cluster.h"
#include "sim/explain.h"
#include "sim/over_sqlite.h"
#include "sim/planted.h"
#include "sim/shrink.h"
#include "sim/stats.h"

namespace ebb::sim {
namespace {

constexpr int kFailuresShown = 10;
/// In so many runs everything has to occur.
constexpr std::uint64_t kRunsForAll = 2'000;

constexpr std::string_view kUsage =
    "usage: ebb_sim [SEED] [--runs N] [--seed S] [--stats] [--tell] [--no-shrink]\n"
    "               [--rules] [--plant BUG] [--store memory|sqlite]\n"
    "  SEED         runs this one and prints all that happens\n"
    "  --runs N     how many seeds to run, one after another (2000)\n"
    "  --seed S     the first seed (1); alone it is the same as SEED\n"
    "  --stats      prints how often each thing occurred; with 2,000 runs or more it is an error\n"
    "               when something never did\n"
    "  --tell       prints each run: its definition, its faults and its histories\n"
    "  --no-shrink  does not make the first failing plan smaller\n"
    "  --rules      of workflows with rules, which are not shrunk\n"
    "  --plant BUG  puts a bug into the runs, which have to find it: a name, or `list`\n"
    "  --store S    what the cluster shares: memory (as it is without this) or SQLite files\n";

struct Options {
    std::optional<std::uint64_t> runs;
    std::optional<std::uint64_t> seed;
    bool has_stats = false;
    bool tells = false;
    bool shrinks = true;
    bool has_rules = false;
    std::string plant;
    std::string store = "memory";
};

std::optional<std::uint64_t> read_number(const std::string& text) {
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || text.size() > 18) return std::nullopt;
    return std::stoull(text);
}

/// Reads what stands at `i`, and moves on to its last word. False: it cannot be understood.
bool read_option(const std::vector<std::string>& words, std::size_t& i, Options& options) {
    const std::string& word = words[i];
    if (word == "--stats") return options.has_stats = true;
    if (word == "--tell") return options.tells = true;
    if (word == "--no-shrink") {
        options.shrinks = false;
        return true;
    }
    if (word == "--rules") {
        options.shrinks = false;
        return options.has_rules = true;
    }
    const bool is_text = word == "--plant" || word == "--store";
    const bool has_value = is_text || word == "--runs" || word == "--seed";
    if (has_value && ++i == words.size()) return false;
    if (is_text) {
        (word == "--plant" ? options.plant : options.store) = words[i];
        return options.store == "memory" || options.store == "sqlite";
    }
    auto& number = word == "--runs" ? options.runs : options.seed;
    number = read_number(words[i]);
    return number.has_value();
}

std::optional<Options> read_options(const std::vector<std::string>& words) {
    Options options;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!read_option(words, i, options)) return std::nullopt;
    }
    return options;
}

/// Runs plans over the store that was asked for.
class Runs {
 public:
    explicit Runs(const Options& options) {
        options_.watches = options.has_stats;
        if (options.store == "memory") return;
        folder_.emplace();
        options_.open = [this](const Clock& clock) { return folder_->open(clock); };
    }

    RunResult run(const Plan& plan) const { return sim::run(plan, options_); }

    RunResult run_aloud(const Plan& plan) const {
        RunOptions options = options_;
        options.trace = [](const std::string& line) {
            fmt::print("{}\n", line);
            std::fflush(stdout);
        };
        return sim::run(plan, options);
    }

    enum class Moves { Hidden, Shown };

    void print_shrunk(const Plan& plan, Moves moves) const {
        const Shrunk shrunk = shrink(plan, [this](const Plan& each) { return broken(run(each)); });
        fmt::print("made smaller in {} runs:\n", shrunk.runs);
        const RunResult result = moves == Moves::Shown ? run_aloud(shrunk.plan) : run(shrunk.plan);
        fmt::print("{}", explain(shrunk.plan, result, shrunk.what));
    }

 private:
    std::optional<SqliteFolder> folder_;
    RunOptions options_;
};

Plan plan_of(std::uint64_t seed, const Options& options) {
    return options.has_rules ? make_rules_plan(seed) : make_plan(seed);
}

bool replay(const Runs& runs, const Options& options) {
    const Plan plan = plan_of(*options.seed, options);
    fmt::print("{}", describe(plan));
    const RunResult result = runs.run_aloud(plan);
    const std::string what = broken(result);
    fmt::print("{}", explain(plan, result, what));
    if (!what.empty() && options.shrinks) runs.print_shrunk(plan, Runs::Moves::Shown);
    return what.empty();
}

bool print_stats(const Stats& stats, std::uint64_t runs) {
    fmt::print("{}", stats.table());
    if (runs < kRunsForAll) return true;
    const std::vector<std::string> never = stats.never();
    for (const std::string& name : never) fmt::print("NEVER occurred: {}\n", name);
    return never.empty();
}

bool run_many(const Runs& over, const Options& options) {
    const std::uint64_t first = options.seed.value_or(1);
    const std::uint64_t runs = options.runs.value_or(2'000);
    int failures = 0;
    Stats stats;
    for (std::uint64_t seed = first; seed < first + runs && failures < kFailuresShown; ++seed) {
        const Plan plan = plan_of(seed, options);
        const RunResult result = over.run(plan);
        stats.add(plan, result);
        const std::string what = broken(result);
        if (options.tells) fmt::print("seed {}\n{}", seed, explain(plan, result, what));
        if (what.empty()) continue;
        ++failures;
        const char* rules = options.has_rules ? " --rules" : "";
        fmt::print("seed {} is WRONG: {}\n  ./dev sim {}{} repeats it\n", seed, what, seed, rules);
        std::fflush(stdout);
        if (failures == 1 && options.shrinks) over.print_shrunk(plan, Runs::Moves::Hidden);
    }
    bool is_well = failures == 0;
    if (options.has_stats) is_well &= print_stats(stats, runs);
    fmt::print("{} runs from seed {}: {}, {} wrong\n", runs, first, stats.summary(), failures);
    return is_well;
}

/// Shows how a bug is found and made small. True: it was.
bool hunt(const Options& options) {
    for (const PlantedBug& bug : planted_bugs()) {
        if (options.plant == "list") fmt::print("{}\n", bug.name);
        if (options.plant != bug.name) continue;
        const std::uint64_t first = options.seed.value_or(1);
        const Judge judge = [&](const Plan& plan) { return find_planted(bug, plan); };
        for (std::uint64_t seed = first; seed < first + options.runs.value_or(2'000); ++seed) {
            const Plan plan = make_plan(seed);
            const std::string what = judge(plan);
            if (what.empty()) continue;
            fmt::print("seed {} is WRONG: {}\n", seed, what);
            const Shrunk shrunk = shrink(plan, judge);
            RunResult result;
            const std::string rule = find_planted(bug, shrunk.plan, &result);
            fmt::print("made smaller in {} runs:\n", shrunk.runs);
            fmt::print("{}", explain(shrunk.plan, result, rule));
            return true;
        }
    }
    return options.plant == "list";
}

bool simulate(const Options& options) {
    if (!options.plant.empty()) return hunt(options);
    const bool is_replay = options.seed && !options.runs;
    const Runs over(options);
    return is_replay ? replay(over, options) : run_many(over, options);
}

}  // namespace
}  // namespace ebb::sim

int main(int argc, char** argv) {
    const auto options = ebb::sim::read_options(std::vector<std::string>(argv + 1, argv + argc));
    if (!options) {
        fmt::print(stderr, "{}", ebb::sim::kUsage);
        return 2;
    }
    return ebb::sim::simulate(*options) ? 0 : 1;
}
