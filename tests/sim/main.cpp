// The simulator's command: runs many seeds, or one with its trace.

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
#include "sim/stats.h"

namespace ebb::sim {
namespace {

constexpr int kFailuresShown = 10;
/// In so many runs everything has to occur.
constexpr std::uint64_t kRunsForAll = 2'000;

constexpr std::string_view kUsage =
    "usage: ebb_sim [--runs N] [--seed S] [--stats]\n"
    "  --runs N   how many seeds to run, one after another (2000; 1 with --seed)\n"
    "  --seed S   the first seed (1); alone it runs this one and prints all that happens\n"
    "  --stats    prints how often each thing occurred; with 2,000 runs or more it is an error\n"
    "             when something never did\n";

struct Options {
    std::optional<std::uint64_t> runs;
    std::optional<std::uint64_t> seed;
    bool has_stats = false;
};

/// Empty: they cannot be understood.
std::optional<Options> read_options(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--stats") {
            options.has_stats = true;
            continue;
        }
        const bool is_runs = arguments[i] == "--runs";
        const bool is_known = is_runs || arguments[i] == "--seed";
        if (!is_known || ++i == arguments.size()) return std::nullopt;
        try {
            (is_runs ? options.runs : options.seed) = std::stoull(arguments[i]);
        } catch (const std::exception&) {
            return std::nullopt;
        }
    }
    return options;
}

void print_history(const Evidence& evidence) {
    fmt::print("history ({}):\n", evidence.status);
    for (const HistoryEntry& e : evidence.history) {
        fmt::print(
            "{:4} {:22} {:5} in '{}' visit {} attempt {} of {} {} {}\n",
            e.seq,
            e.type,
            e.node,
            e.path,
            e.visit,
            e.attempt,
            e.ref,
            e.worker,
            e.payload
        );
    }
}

/// What is wrong with a run; empty = nothing.
std::string broken(const RunResult& result) {
    if (!result.stuck.empty()) return result.stuck;
    for (const Evidence& evidence : result.evidence) {
        for (const std::string& what : check(evidence)) return what;
    }
    return {};
}

bool replay(std::uint64_t seed) {
    const Plan plan = make_plan(seed);
    fmt::print("{}", describe(plan));
    RunOptions options;
    options.trace = [](const std::string& line) {
        fmt::print("{}\n", line);
        std::fflush(stdout);
    };
    const RunResult result = run(plan, options);
    for (const Evidence& evidence : result.evidence) print_history(evidence);
    const std::string what = broken(result);
    fmt::print("{}\n", what.empty() ? "nothing is wrong" : "WRONG: " + what);
    return what.empty();
}

bool print_stats(const Stats& stats, std::uint64_t runs) {
    fmt::print("{}", stats.table());
    if (runs < kRunsForAll) return true;
    const std::vector<std::string> never = stats.never();
    for (const std::string& name : never) fmt::print("NEVER occurred: {}\n", name);
    return never.empty();
}

bool run_many(const Options& options) {
    const std::uint64_t first = options.seed.value_or(1);
    const std::uint64_t runs = options.runs.value_or(2'000);
    int failures = 0;
    Stats stats;
    for (std::uint64_t seed = first; seed < first + runs && failures < kFailuresShown; ++seed) {
        const Plan plan = make_plan(seed);
        const RunResult result = run(plan);
        stats.add(plan, result);
        const std::string what = broken(result);
        if (what.empty()) continue;
        ++failures;
        fmt::print("seed {} is WRONG: {}\n  ./dev sim --seed {} repeats it\n", seed, what, seed);
        std::fflush(stdout);
    }
    bool is_well = failures == 0;
    if (options.has_stats) is_well &= print_stats(stats, runs);
    fmt::print("{} runs from seed {}: {}, {} wrong\n", runs, first, stats.summary(), failures);
    return is_well;
}

}  // namespace
}  // namespace ebb::sim

int main(int argc, char** argv) {
    const auto options = ebb::sim::read_options(std::vector<std::string>(argv + 1, argv + argc));
    if (!options) {
        fmt::print(stderr, "{}", ebb::sim::kUsage);
        return 2;
    }
    const bool is_replay = options->seed && !options->runs;
    const bool is_well =
        is_replay ? ebb::sim::replay(*options->seed) : ebb::sim::run_many(*options);
    return is_well ? 0 : 1;
}
