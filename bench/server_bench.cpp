// The figures of `ebb serve`: a real process on loopback, beside a bare server of the same library,
// or beside the same verbs called in this process. Client and server share the processors in both.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>

#include <fmt/format.h>

#include "server_figures.h"

namespace ebb::bench {

namespace {

/// What is measured together, and the figures that come of it.
struct Part {
    std::vector<std::string_view> names;
    ServerFigures measure;
};

const std::vector<Part>& parts() {
    static const std::vector<Part> kParts{
        {{"server_livez"}, livez_figures},
        {{"server_me"}, me_figures},
        {{"server_instance_304"}, not_modified_figures},
        {{"server_instance_get"}, get_figures},
        {{"server_start", "server_start_tail"}, start_figures},
        {{"server_start_sqlite"}, start_sqlite_figures},
        {{"server_start_batch"}, batch_figures},
        {{"server_start_batch_sqlite"}, batch_sqlite_figures},
        {{"remote_steps", "remote_steps_sqlite"}, remote_steps_figures},
        {{"remote_hop"}, remote_hop_figures},
        {{"sse_fanout", "sse_fanout_cpu", "sse_memory"}, fan_out_figures},
        {{"connection_memory"}, idle_connection_figures},
        {{"sse_latency", "sse_latency_other"}, stream_latency_figures},
        {{"engine_beside_ui"}, beside_ui_figures},
        {{"list_1m", "list_1m_half", "list_1m_sparse", "groups_100k"}, list_figures},
        {{"list_1m_sqlite", "list_1m_sqlite_half", "list_1m_sqlite_sparse", "groups_100k_sqlite"},
         list_sqlite_figures},
        {{"bulk_requeue"}, bulk_figures},
        {{"validate_10k"}, validate_figures},
        {{"webhook_rate"}, webhook_figures},
        {{"metrics_scrape", "metrics_scrape_size"}, metrics_figures},
        {{"serve_ready"}, ready_figures},
        {{"serve_restart"}, restart_figures},
        {{"serve_idle", "serve_idle_cpu"}, idle_figures},
    };
    return kParts;
}

/// What stands in the report for figures that could not be measured.
std::vector<Figure> failed_figures(const Part& part, const std::exception& error) {
    std::vector<Figure> figures;
    for (const std::string_view name : part.names) {
        figures.push_back({
            .name = std::string(name),
            .unit = "failed",
            .note = fmt::format("FAILED: {}", error.what()),
            .verdict = "failed",
        });
    }
    return figures;
}

/// The run goes on if a part cannot be measured: the other figures take a quarter of an hour.
std::vector<Figure> measured(const Part& part, ServerBench& bench) {
    try {
        return part.measure(bench);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "   %s\n", error.what());
        return failed_figures(part, error);
    }
}

}  // namespace

std::vector<Figure> server_figures(const ServerAsked& asked) {
    ServerBench bench(asked);
    std::vector<Figure> figures;
    for (const Part& part : parts()) {
        const bool is_asked = std::any_of(part.names.begin(), part.names.end(), [&](auto name) {
            return bench.is_asked(name);
        });
        if (!is_asked) continue;
        std::fprintf(stderr, "-- %s\n", std::string(part.names.front()).c_str());
        std::vector<Figure> more = measured(part, bench);
        std::copy_if(
            std::make_move_iterator(more.begin()),
            std::make_move_iterator(more.end()),
            std::back_inserter(figures),
            [&](const Figure& figure) { return bench.is_asked(figure.name); }
        );
    }
    return figures;
}

}  // namespace ebb::bench
