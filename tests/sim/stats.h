#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/plan.h"
#include "sim/run.h"

namespace ebb::sim {

/// What many runs have in common: how deep they go, and how often each thing happens in them.
class Stats {
 public:
    void add(const Plan& plan, const RunResult& result);

    /// One line.
    std::string summary() const;

    /// A table of history types, statuses, faults, requests, behaviors and nodes.
    std::string table() const;

    /// The history types, final statuses, faults and requests that never occurred.
    std::vector<std::string> never() const;

 private:
    struct Count {
        std::uint64_t times = 0;
        std::uint64_t runs = 0;  ///< in how many it occurred
    };

    using Counts = std::map<std::string, Count>;

    static void count(Counts& counts, const std::map<std::string, int>& of_run);

    std::uint64_t runs_ = 0;
    std::uint64_t instances_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t short_ = 0;
    std::map<std::string, Counts> groups_;
};

}  // namespace ebb::sim
