// The simulator's command: runs many seeds, or one with its trace.

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/cluster.h"

int main(int argc, char** argv) {
    using namespace ebb::sim;
    std::uint64_t from = 1;
    std::uint64_t runs = 2'000;
    bool trace = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        if (name == "--runs") runs = std::strtoull(argv[i + 1], nullptr, 10);
        if (name == "--seed")
            from = std::strtoull(argv[i + 1], nullptr, 10), runs = 1, trace = true;
        if (name == "--from") from = std::strtoull(argv[i + 1], nullptr, 10);
    }
    for (std::uint64_t seed = from; seed < from + runs; ++seed) {
        const Plan plan = make_plan(seed);
        if (std::getenv("SIMV")) {
            std::printf("%lu\n", seed);
            std::fflush(stdout);
        }
        RunOptions options;
        if (trace) {
            fmt::print("{}", describe(plan));
            options.trace = [](const std::string& line) {
                fmt::print("{}\n", line);
                std::fflush(stdout);
            };
        }
        const RunResult result = run(plan, options);
        if (trace) {
            for (const auto& e : result.evidence) {
                fmt::print("status {}\n", e.status);
                for (const auto& h : e.history)
                    fmt::print(
                        "{:3} {} {} in '{}' v{} a{} of {} {}\n",
                        h.seq,
                        h.type,
                        h.node,
                        h.path,
                        h.visit,
                        h.attempt,
                        h.ref,
                        h.payload
                    );
            }
        }
        if (!result.stuck.empty()) fmt::print("seed {}: {}\n", seed, result.stuck);
    }
}
