// Starts over the API, one and 1,000 in a request, beside the same starts in this process.

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include <ebb/engine.h>

#include "crew.h"
#include "http_client.h"
#include "server_figures.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kRuns = 3;
constexpr int kClients = 64;
constexpr std::size_t kBatch = 1'000;
constexpr const char* kInput = R"({"order":4711})";
constexpr const char* kStart = R"({"workflow":"bench","input":{"order":4711}})";
constexpr const char* kScript = R"(
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"workflow":"bench","input":{"order":4711}}'
)";

struct Starts {
    std::vector<double> over_http;
    std::vector<double> direct;
};

Starts measure_starts(ServerBench& bench, Database database) {
    Starts starts;
    for (int run = 0; run < kRuns; ++run) {
        // Each with a database of its own: the second one would find the rows of the first.
        {
            const ServedStore store(bench, database);
            const StorePtr own = store.open();
            const HandlerRegistry none;
            Engine engine(*own, none);
            engine.run();
            starts.direct.push_back(calls_per_second(kClients, bench.seconds(), [&](int) {
                engine.start("bench", Payload::text(kInput));
            }));
        }
        const ServedStore store(bench, database);
        const ServerProcess server(store.serve());
        starts.over_http.push_back(run_wrk({.port = server.port(),
                                            .path = "/api/v1/instances",
                                            .seconds = bench.seconds(),
                                            .script = kScript})
                                       .per_second);
    }
    return starts;
}

/// Clients that start at a fixed rate together. Milliseconds from the time at which a request was
/// due, so that a server that stops is not asked less.
std::vector<double> paced_starts(int port, double per_second, double seconds) {
    std::mutex mutex;
    std::vector<double> took;
    const auto interval = std::chrono::duration<double>(kClients / per_second);
    const auto begin = SteadyClock::now();
    std::atomic<bool> is_over{false};
    Crew clients(is_over);
    for (int number = 0; number < kClients; ++number) {
        clients.add([&, number] {
            HttpClient client(port);
            std::vector<double> own;
            // The clients begin one after another.
            auto due =
                begin +
                std::chrono::duration_cast<SteadyClock::duration>(interval * number / kClients);
            while (!is_over && due - begin < std::chrono::duration<double>(seconds)) {
                std::this_thread::sleep_until(due);
                client.require(client.post("/api/v1/instances", kStart), 201);
                const std::chrono::duration<double, std::milli> late = SteadyClock::now() - due;
                own.push_back(late.count());
                due += std::chrono::duration_cast<SteadyClock::duration>(interval);
            }
            const std::lock_guard lock(mutex);
            took.insert(took.end(), own.begin(), own.end());
        });
    }
    clients.join();
    return took;
}

Figure start_figure(std::string_view name, const Starts& starts) {
    return beside(
        {.name = name,
         .unit = "starts/s",
         .goal = 0.5,
         .yardstick = "start() of 64 threads in process"},
        starts.over_http,
        starts.direct
    );
}

Figure batch_figure(ServerBench& bench, std::string_view name, Database database) {
    std::vector<double> over_http;
    std::vector<double> direct;
    const std::vector<Payload> inputs(kBatch, Payload::text(kInput));
    std::string lines;
    for (std::size_t i = 0; i < kBatch; ++i) lines += std::string(kInput) + "\n";
    for (int run = 0; run < kRuns; ++run) {
        {
            const ServedStore store(bench, database);
            const StorePtr own = store.open();
            const HandlerRegistry none;
            Engine engine(*own, none);
            direct.push_back(kBatch * calls_per_second(1, bench.seconds(), [&](int) {
                                 engine.start_all("bench", inputs);
                             }));
        }
        const ServedStore store(bench, database);
        const ServerProcess server(store.serve());
        HttpClient client(server.port());
        over_http.push_back(kBatch * calls_per_second(1, bench.seconds(), [&](int) {
                                client.require(
                                    client.post(
                                        "/api/v1/instances/batch?workflow=bench",
                                        lines,
                                        "application/x-ndjson"
                                    ),
                                    201
                                );
                            }));
    }
    return beside(
        {.name = name,
         .unit = "starts/s",
         .goal = 0.8,
         .yardstick = "start_all() of 1,000 in process"},
        over_http,
        direct
    );
}

}  // namespace

std::vector<Figure> start_figures(ServerBench& bench) {
    const Starts starts = measure_starts(bench, Database::Postgres);
    const double peak = median(starts.over_http);
    std::vector<double> runs;
    std::vector<double> p50s;
    std::vector<double> p99s;
    const ServedStore store(bench, Database::Postgres);
    const ServerProcess server(store.serve());
    for (int run = 0; run < kRuns; ++run) {
        const auto took = paced_starts(server.port(), peak / 2, bench.seconds());
        p50s.push_back(percentile(took, 0.5));
        p99s.push_back(percentile(took, 0.99));
        runs.push_back(p99s.back() / p50s.back());
    }
    Figure tail = at_most(
        {.name = "server_start_tail",
         .unit = "p99/p50",
         .limit = 5,
         .note = "of starts at half of the peak rate; lower is better"},
        runs
    );
    tail.details = {{"p50_ms", median(p50s)}, {"p99_ms", median(p99s)}};
    return {start_figure("server_start", starts), std::move(tail)};
}

std::vector<Figure> start_sqlite_figures(ServerBench& bench) {
    return {start_figure("server_start_sqlite", measure_starts(bench, Database::Sqlite))};
}

std::vector<Figure> batch_figures(ServerBench& bench) {
    return {batch_figure(bench, "server_start_batch", Database::Postgres)};
}

std::vector<Figure> batch_sqlite_figures(ServerBench& bench) {
    return {batch_figure(bench, "server_start_batch_sqlite", Database::Sqlite)};
}

}  // namespace ebb::bench
