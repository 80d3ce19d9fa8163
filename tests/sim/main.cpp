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

namespace ebb::sim {
namespace {

constexpr int kFailuresShown = 10;

constexpr std::string_view kUsage =
    "usage: ebb_sim [--runs N] [--seed S]\n"
    "  --runs N   how many seeds to run, one after another (2000; 1 with --seed)\n"
    "  --seed S   the first seed (1); alone it runs this one and prints all that happens\n";

struct Options {
    std::optional<std::uint64_t> runs;
    std::optional<std::uint64_t> seed;
};

/// Empty: they cannot be understood.
std::optional<Options> read_options(const std::vector<std::string>& arguments) {
    Options options;
    if (arguments.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
        const bool is_runs = arguments[i] == "--runs";
        if (!is_runs && arguments[i] != "--seed") return std::nullopt;
        try {
            (is_runs ? options.runs : options.seed) = std::stoull(arguments[i + 1]);
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

bool run_many(std::uint64_t first, std::uint64_t runs) {
    int failures = 0;
    std::uint64_t calls = 0;
    std::uint64_t events = 0;
    for (std::uint64_t seed = first; seed < first + runs && failures < kFailuresShown; ++seed) {
        const RunResult result = run(make_plan(seed));
        calls += static_cast<std::uint64_t>(result.calls);
        events += static_cast<std::uint64_t>(result.events);
        const std::string what = broken(result);
        if (what.empty()) continue;
        ++failures;
        fmt::print("seed {} is WRONG: {}\n  ./dev sim --seed {} repeats it\n", seed, what, seed);
        std::fflush(stdout);
    }
    fmt::print(
        "{} runs from seed {}: {} calls of handlers, {} events, {} wrong\n",
        runs,
        first,
        calls,
        events,
        failures
    );
    return failures == 0;
}

}  // namespace
}  // namespace ebb::sim

int main(int argc, char** argv) {
    const auto options = ebb::sim::read_options(std::vector<std::string>(argv + 1, argv + argc));
    if (!options) {
        fmt::print(stderr, "{}", ebb::sim::kUsage);
        return 2;
    }
    const std::uint64_t seed = options->seed.value_or(1);
    const bool is_replay = options->seed && !options->runs;
    const bool is_well = is_replay ? ebb::sim::replay(seed)
                                   : ebb::sim::run_many(seed, options->runs.value_or(2'000));
    return is_well ? 0 : 1;
}
