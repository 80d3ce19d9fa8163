#include <chrono>

#include <fmt/format.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "reactions.h"

// How soon one process feels what has happened to another, or what another has asked for.

namespace ebb::bench {

using testing::PostgresServer;

namespace {

/// As DESIGN promises: a takeover comes so much after the lease, and a cancel so soon.
constexpr Duration kPromised = std::chrono::seconds(1);

}  // namespace

Figure takeover_figure(const PostgresServer& server) {
    Figure figure = reaction_figure(Team::kLease + kPromised, kPostgresRuns, [&] {
        const Scratch scratch(server);
        return Team([&] { return scratch.open(); }, 2).kill_ms();
    });
    figure.name = "pg_takeover";
    figure.yardstick = "the lease and a second: " + figure.yardstick;
    figure.note =
        "from SIGKILL of a worker process to the call of its handler in another, with a lease of "
        "two seconds; the ratio is the slowest run's, the goal is the most";
    return figure;
}

Figure cancel_figure(const PostgresServer& server) {
    Figure figure = reaction_figure(kPromised, kPostgresRuns, [&] {
        const Scratch scratch(server);
        return Team([&] { return scratch.open(); }, 1).cancel_ms();
    });
    figure.name = "pg_cancel";
    figure.yardstick = "a second: " + figure.yardstick;
    figure.note =
        "from cancel() to the stop of the handler that runs in another process; the ratio is the "
        "slowest run's, the goal is the most";
    return figure;
}

}  // namespace ebb::bench
