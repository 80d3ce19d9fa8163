// The simulator's command: runs many seeds, or one with its trace.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "sim/checker.h"
#include "sim/cluster.h"

namespace {

using namespace ebb::sim;

void print_evidence(const Evidence& e) {
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

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t from = 1;
    std::uint64_t runs = 2'000;
    bool trace = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
        if (name == "--runs") runs = value;
        if (name == "--from") from = value;
        if (name == "--seed") {
            from = value;
            runs = 1;
            trace = true;
        }
    }
    int failures = 0;
    long calls = 0, events = 0;
    for (std::uint64_t seed = from; seed < from + runs; ++seed) {
        const Plan plan = make_plan(seed);
        RunOptions options;
        if (trace) {
            fmt::print("{}", describe(plan));
            options.trace = [](const std::string& line) { fmt::print("{}\n", line); };
        }
        const RunResult result = run(plan, options);
        calls += result.calls;
        events += result.events;
        std::string broken = result.stuck;
        for (const auto& e : result.evidence) {
            if (trace) print_evidence(e);
            for (const auto& what : check(e)) broken += "; " + what;
        }
        if (!broken.empty()) {
            fmt::print("seed {}: {}\n", seed, broken);
            if (++failures > 20) break;
        }
    }
    fmt::print("{} runs, {} calls, {} events, {} failures\n", runs, calls, events, failures);
    return failures > 0;
}
