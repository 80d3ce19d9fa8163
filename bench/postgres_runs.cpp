#include "postgres_runs.h"

#include <algorithm>

namespace ebb::bench {

using testing::PostgresServer;

SaturatedRun saturated_at(const PostgresServer& server, const std::string& url, const Way& way) {
    const Scratch scratch(server);
    SaturatedRun run;
    ServerUse before;
    {
        const StorePtr store = scratch.open_at(url);
        before = use_of(server);
        Progress progress;
        Saturation saturation{.seconds = kPostgresSeconds, .is_claimed = way.work == Work::Claimed};
        if (way.seconds) saturation.seconds = *way.seconds;
        if (way.window) saturation.window = *way.window;
        run.client = run_saturated(*store, progress, saturation, way.load);
    }
    wait_for_sessions(server, way.others);
    run.server = use_of(server) - before;
    run.tables = scratch.table_use();
    scratch.require_completed(run.client.workflows);
    return run;
}

double saturated(const PostgresServer& server, Work work) {
    return saturated_at(server, server.url(), {.work = work}).client.steps_per_second();
}

void Costs::add(const char* name, double value) {
    const auto found = std::find_if(costs_.begin(), costs_.end(), [&](const auto& cost) {
        return cost.first == name;
    });
    if (found == costs_.end()) {
        costs_.emplace_back(name, std::vector<double>{value});
    } else {
        found->second.push_back(value);
    }
}

void Costs::add(const SaturatedRun& run) {
    const double steps = run.client.steps();
    add("client_us_per_step", run.client.client_cpu_seconds * 1e6 / steps);
    add("server_us_per_step", run.server.cpu_seconds * 1e6 / steps);
    add("wal_bytes_per_step", run.server.wal_bytes / steps);
    add("fsyncs_per_step", run.server.wal_syncs / steps);
    add("round_trips_per_step", run.server.transactions / steps);
    add("row_writes_per_step", run.tables.row_writes / steps);
    add("hot_share_of_updates", run.tables.hot_updates / run.tables.updates);
    add("bytes_kept_per_workflow",
        run.tables.kept_bytes / static_cast<double>(run.client.workflows));
}

std::vector<std::pair<std::string, double>> Costs::medians() const {
    std::vector<std::pair<std::string, double>> medians;
    for (const auto& [name, values] : costs_) medians.emplace_back(name, median(values));
    return medians;
}

}  // namespace ebb::bench
