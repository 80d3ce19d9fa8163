#pragma once

#include <cstdint>
#include <vector>

#include "report.h"
#include "support/postgres_server.h"

// The figures of the suite postgres (postgres_bench.cpp), each measured on a running server.

namespace ebb::bench {

constexpr int kPostgresRuns = 5;
constexpr double kPostgresSeconds = 4;  ///< of one run

Figure saturated_figure(const testing::PostgresServer& server);
/// The median and the 99th percentile; beside them, what eight clients of pgbench reach.
std::vector<Figure> one_at_a_time_figures(const testing::PostgresServer& server);
Figure flatness_figure(const testing::PostgresServer& server);
Figure backlog_figure(const testing::PostgresServer& server);
/// The cost of instances that wait for a time.
Figure sleeping_figure(const testing::PostgresServer& server);
/// There must be no threads: it forks.
Figure processes_figure(const testing::PostgresServer& server, int processes);
/// How soon others take over what a killed process held. There must be no threads, as for the next.
Figure takeover_figure(const testing::PostgresServer& server);
/// How soon a handler in another process is asked to stop.
Figure cancel_figure(const testing::PostgresServer& server);
Figure latency_figure(const testing::PostgresServer& server);

/// How a worker gets its work.
enum class Work {
    Own,      ///< it starts the instances itself, and leases their tasks with that
    Claimed,  ///< another process starts them
};

Figure claimed_figure(const testing::PostgresServer& server);
/// Saturated runs of other shapes: large payloads, many branches, many calls that wait.
Figure payload_figure(const testing::PostgresServer& server);
Figure fan_out_figure(const testing::PostgresServer& server);
Figure waiting_calls_figure(const testing::PostgresServer& server);
Figure old_snapshot_figure(const testing::PostgresServer& server, Work work);
/// A long run at full load: whether it slows down, and what the tables grow by.
Figure steady_figure(const testing::PostgresServer& server, Work work, std::int64_t steps);

}  // namespace ebb::bench
