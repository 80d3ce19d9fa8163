// Three-step workflows over a PostgreSQL server of our own with its default durability, beside the
// minimal durable step that pgbench measures on the same server in the same minute.

#include <utility>

#include "postgres_figures.h"
#include "postgres_scratch.h"

namespace ebb::bench {

std::vector<Figure> postgres_figures(const PostgresAsked& asked) {
    const testing::PostgresServer server = make_bench_server();
    std::vector<Figure> figures;
    const auto is_asked = [&](std::string_view name) {
        return asked.only.empty() || asked.only == name;
    };
    if (is_asked("pg_3step_saturated")) figures.push_back(saturated_figure(server));
    if (is_asked("pg_3step_one_at_a_time")) {
        for (Figure& figure : one_at_a_time_figures(server)) figures.push_back(std::move(figure));
    }
    if (is_asked("pg_step_flatness")) figures.push_back(flatness_figure(server));
    if (is_asked("pg_claim_backlog")) figures.push_back(backlog_figure(server));
    if (is_asked("pg_sleeping")) figures.push_back(sleeping_figure(server));
    if (is_asked("pg_processes_2")) figures.push_back(processes_figure(server, 2));
    if (is_asked("pg_processes_4")) figures.push_back(processes_figure(server, 4));
    if (is_asked("pg_takeover")) figures.push_back(takeover_figure(server));
    if (is_asked("pg_cancel")) figures.push_back(cancel_figure(server));
    if (is_asked("pg_latency_2ms")) figures.push_back(latency_figure(server));
    if (is_asked("pg_claimed")) figures.push_back(claimed_figure(server));
    if (is_asked("pg_old_snapshot")) figures.push_back(old_snapshot_figure(server, Work::Own));
    if (is_asked("pg_old_snapshot_claimed")) {
        figures.push_back(old_snapshot_figure(server, Work::Claimed));
    }
    if (is_asked("pg_payload_10k")) figures.push_back(payload_figure(server));
    if (is_asked("pg_fanout_100")) figures.push_back(fan_out_figure(server));
    if (is_asked("pg_waiting_http")) figures.push_back(waiting_calls_figure(server));
    if (is_asked("pg_steady")) figures.push_back(steady_figure(server, Work::Own, asked.steps));
    if (is_asked("pg_steady_claimed")) {
        figures.push_back(steady_figure(server, Work::Claimed, asked.steps));
    }
    return figures;
}

}  // namespace ebb::bench
