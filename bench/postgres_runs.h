#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "three_steps.h"

// Saturated runs on a PostgreSQL server, what they cost, and how two kinds of them are compared.

namespace ebb::bench {

struct SaturatedRun {
    Saturated client;
    ServerUse server;
    TableUse tables;
};

struct Way {
    Work work = Work::Own;
    int others = 0;  ///< sessions that are not ours
    Load load{};
    std::optional<int> window{};  ///< instances in flight
    std::optional<double> seconds{};
};

/// One run of kPostgresSeconds on a schema of its own. Throws std::runtime_error if an instance did
/// not complete.
SaturatedRun saturated_at(
    const testing::PostgresServer& server, const std::string& url, const Way& way = {}
);

/// Steps per second of three no-op steps.
double saturated(const testing::PostgresServer& server, Work work = Work::Own);

/// The medians of what several runs cost, by name.
class Costs {
 public:
    void add(const SaturatedRun& run);
    void add(const char* name, double value);

    std::vector<std::pair<std::string, double>> medians() const;

 private:
    std::vector<std::pair<std::string, std::vector<double>>> costs_;
};

/// Compares two ways of running, one after the other, so that both see the same machine.
template <class Usual, class Special>
void measure_pairs(Figure& figure, std::string_view usual_name, Usual usual, Special special) {
    std::vector<double> usuals;
    std::vector<double> ratios;
    for (int run = 0; run < kPostgresRuns; ++run) {
        usuals.push_back(usual());
        figure.runs.push_back(special());
        ratios.push_back(figure.runs.back() / usuals.back());
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    figure.yardstick = fmt::format("{}: {:.0f} steps/s", usual_name, median(usuals));
}

}  // namespace ebb::bench
