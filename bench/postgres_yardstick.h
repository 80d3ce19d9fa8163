#pragma once

#include <string>
#include <vector>

#include "support/postgres_server.h"

// The minimal durable step on a PostgreSQL server, measured by pgbench.

namespace ebb::bench {

struct MinimalSteps {
    double steps_per_second = 0;
    std::vector<double> latencies_ms;  ///< of the statements; only where asked for
};

struct MinimalStepRun {
    const char* script = "minimal_step.sql";  ///< in bench/
    int steps_per_statement = 1;
    int clients = 1;
    int seconds = 5;
    bool with_latencies = false;
};

/// Runs it on freshly made tables in the database `yardstick`, which is created if it does not
/// exist.
MinimalSteps measure_minimal_steps(
    const testing::PostgresServer& server, const MinimalStepRun& run
);

/// What pgbench prints, on stderr too.
std::string run_pgbench(
    const testing::PostgresServer& server, const std::string& database, const std::string& options
);

}  // namespace ebb::bench
