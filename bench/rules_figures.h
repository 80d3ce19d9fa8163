#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report.h"
#include "support/postgres_server.h"
#include "three_steps.h"

// The figures of the suite rules (rules_bench.cpp), and how they are compared.

namespace ebb::bench {

/// Is this figure measured?
inline bool is_asked(const RulesAsked& asked, std::string_view name) {
    return asked.only.empty() || asked.only == name;
}

/// What a figure is measured by, and what it is compared with.
struct Compared {
    std::string name;
    double goal = 0;
    std::string note;
    std::string usual_name;
    std::function<double()> usual;
    std::function<double()> special;
    std::string unit = "transitions/s";
    bool goal_is_most = false;
};

/// Runs both by turns, so that both see the same machine.
Figure compare(const RulesAsked& asked, const Compared& compared);

/// Transactions per second of `pgbench -N`.
double pgbench_n(const testing::PostgresServer& server, int clients, double seconds);

/// Microseconds of the server's processors for each of what `work` does and counts, without waiting
/// for the disk at a commit.
double server_us_each(const testing::PostgresServer& server, const std::function<double()>& work);

/// rules_kernel and its flatness.
std::vector<Figure> kernel_figures_of_rules(const RulesAsked& asked);

// Each adds those that are asked for.

/// Workers in SQL that use `work_next`.
void add_next_figures(
    std::vector<Figure>& figures, const testing::PostgresServer& server, const RulesAsked& asked
);

/// Flows that are tables of the database.
void add_surface_figures(
    std::vector<Figure>& figures, const testing::PostgresServer& server, const RulesAsked& asked
);

/// How soon a write in SQL is felt, and one instance after another.
void add_latency_figures(
    std::vector<Figure>& figures, const testing::PostgresServer& server, const RulesAsked& asked
);

/// Workers in Python.
void add_python_figures(
    std::vector<Figure>& figures, const testing::PostgresServer& server, const RulesAsked& asked
);

}  // namespace ebb::bench
