// Live streams: 10,000 clients that watch one instance, what an idle one takes, and how long an
// event takes.

#include <cstdio>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "http_client.h"
#include "server_figures.h"
#include "sse_swarm.h"

namespace ebb::bench {

namespace {

constexpr int kStreams = 10'000;
constexpr int kEvents = 8;
constexpr int kLatencyEvents = 40;
constexpr double kPatience = 20;

/// An instance that waits for a signal. To pause it and to resume it are one event each.
InstanceId waiting_instance(const ServedStore& store) {
    const StorePtr own = store.open();
    const HandlerRegistry none;
    Engine engine(*own, none);
    engine.register_workflow(WorkflowBuilder("waiting").signal("go").build());
    return engine.start("waiting", Payload::text("{}")).id;
}

/// From now on: without the events so far.
std::string stream_of(int port, const InstanceId& id) {
    const std::string path = "/api/v1/instances/" + id.to_string();
    HttpClient client(port);
    const auto page = nlohmann::json::parse(
        client.require(client.get(path + "/history?order=backward&limit=1"), 200).body
    );
    const auto last = page.at("items").at(0).at("seq").get<std::int64_t>();
    return fmt::format("{}/events?after={}", path, last);
}

/// Causes one event, by turns.
class Events {
 public:
    Events(int port, const InstanceId& id) : client_(port), id_(id.to_string()) {}

    void cause() {
        is_paused_ = !is_paused_;
        const std::string verb = is_paused_ ? "pause" : "resume";
        const HttpAnswer answer =
            client_.post(fmt::format("/api/v1/instances/{}/{}", id_, verb), "{}");
        if (answer.status / 100 != 2) throw std::runtime_error("no event: " + answer.body);
    }

 private:
    HttpClient client_;
    std::string id_;
    bool is_paused_ = false;
};

void require_all(bool is_complete, const SseSwarm& swarm, std::int64_t wanted) {
    if (is_complete && swarm.events() == wanted) return;
    throw std::runtime_error(fmt::format(
        "of {} events, {} have arrived, and {} streams were closed",
        wanted,
        swarm.events(),
        swarm.closed()
    ));
}

Figure memory_figure(std::string_view name, double limit, double bytes, int count) {
    return at_most(
        {.name = name, .unit = "KiB", .limit = limit, .note = "of resident memory, for each"},
        {bytes / count / 1'024}
    );
}

}  // namespace

std::vector<Figure> fan_out_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const InstanceId id = waiting_instance(store);
    const ServerProcess server(store.serve());
    Events events(server.port(), id);
    // What the first event needs once is not memory of a stream.
    events.cause();
    events.cause();
    const double before = server.resident_bytes();
    SseSwarm swarm(
        {.port = server.port(), .clients = kStreams, .paths = {stream_of(server.port(), id)}}
    );
    const double idle_bytes = server.resident_bytes() - before;
    std::vector<double> p99s;
    const double cpu = server.cpu_seconds();
    for (int event = 0; event < kEvents; ++event) {
        swarm.begin();
        events.cause();
        require_all(swarm.wait_for(kStreams, kPatience), swarm, kStreams);
        p99s.push_back(percentile(swarm.delays_ms(), 0.99));
    }
    const double used_us = 1e6 * (server.cpu_seconds() - cpu) / kStreams / kEvents;
    Figure delay = at_most(
        {.name = "sse_fanout",
         .unit = "ms",
         .limit = 250,
         .note = "p99 from the request that commits to the event at 10,000 clients"},
        p99s
    );
    Figure cost = at_most(
        {.name = "sse_fanout_cpu",
         .unit = "us",
         .limit = 12,
         .note = "of the server's processor, for each client and event"},
        {used_us}
    );
    return {
        std::move(delay), std::move(cost), memory_figure("sse_memory", 12, idle_bytes, kStreams)
    };
}

std::vector<Figure> idle_connection_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const ServerProcess server(store.serve());
    HttpClient(server.port()).get("/livez");
    const double before = server.resident_bytes();
    const SseSwarm swarm({.port = server.port(), .clients = kStreams, .paths = {"/livez"}});
    return {memory_figure("connection_memory", 8, server.resident_bytes() - before, kStreams)};
}

std::vector<Figure> stream_latency_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Postgres);
    const InstanceId id = waiting_instance(store);
    const ServerProcess server(store.serve());
    SseSwarm swarm({.port = server.port(), .clients = 1, .paths = {stream_of(server.port(), id)}});
    const auto measure = [&](const std::function<void()>& cause) {
        std::vector<double> delays;
        for (int event = 0; event < kLatencyEvents; ++event) {
            swarm.begin();
            cause();
            require_all(swarm.wait_for(1, kPatience), swarm, 1);
            delays.push_back(swarm.delays_ms().front());
        }
        return delays;
    };
    Events events(server.port(), id);
    const std::vector<double> same = measure([&] { events.cause(); });
    // Another process that has the same database.
    const ServerProcess other(store.serve());
    Events others(other.port(), id);
    const std::vector<double> elsewhere = measure([&] { others.cause(); });
    const auto figure = [](std::string_view name, double limit, const std::vector<double>& delays) {
        Figure made = at_most(
            {.name = name,
             .unit = "ms",
             .limit = limit,
             .note = "p99 from the request that commits to the event"},
            {percentile(delays, 0.99)}
        );
        made.details = {{"p50_ms", percentile(delays, 0.5)}};
        return made;
    };
    return {figure("sse_latency", 50, same), figure("sse_latency_other", 1'200, elsewhere)};
}

}  // namespace ebb::bench
