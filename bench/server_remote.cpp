// Remote workers over the API, beside the engine in this process with the same database: how many
// steps in a second, and how long a step takes if only one instance runs.

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "crew.h"
#include "http_client.h"
#include "server_figures.h"
#include "store/store.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr int kRuns = 3;
constexpr int kWorkers = 2;
constexpr int kSlots = 64;
constexpr int kStepsEach = 3;
/// So that the start and the result of an instance hardly count.
constexpr int kHops = 60;
constexpr int kWindow = 512;  ///< instances in flight
constexpr int kBatch = 128;

/// A worker that completes every task at once, in the thread that calls.
class RemoteLoop {
 public:
    /// `ended` counts the instances whose last step it has reported.
    RemoteLoop(int port, int slots, std::atomic<std::int64_t>& ended)
        : client_(port), slots_(slots), ended_(ended) {
        const Json opened = Json::parse(
            client_
                .require(
                    client_.post(
                        "/api/v1/worker/sessions",
                        Json{{"handlers", {"a", "b", "c"}}, {"slots", slots}, {"lease", "30s"}}
                            .dump()
                    ),
                    201
                )
                .body
        );
        session_ = opened.at("session").get<std::string>();
    }

    void close() { client_.post("/api/v1/worker/close", Json{{"session", session_}}.dump()); }

    /// One round trip: reports what it has, and takes what there is.
    void turn() {
        const Json request{
            {"session", session_},
            {"free", slots_},
            {"wait", "200ms"},
            {"held", Json::array()},
            {"done", std::move(done_)}
        };
        const Json answer = Json::parse(
            client_.require(client_.post("/api/v1/worker/poll", request.dump()), 200).body
        );
        done_ = Json::array();
        ended_ += std::exchange(last_steps_, 0);
        for (const Json& task : answer.at("tasks")) {
            if (task.at("handler") == "c") ++last_steps_;
            done_.push_back(
                {{"task", task.at("task")}, {"completed", {{"output", task.at("input")}}}}
            );
        }
    }

 private:
    HttpClient client_;
    int slots_;
    std::string session_;
    std::atomic<std::int64_t>& ended_;
    std::int64_t last_steps_ = 0;  ///< among those in `done_`
    Json done_ = Json::array();
};

std::int64_t completed(Store& store) {
    std::int64_t count = 0;
    for (const StatusCount& each : store.count()) {
        if (each.status == InstanceStatus::Completed) count += each.count;
    }
    return count;
}

/// Steps that remote workers complete in a second.
double remote_rate(ServerBench& bench, Database database) {
    const ServedStore store(bench, database);
    const ServerProcess server(store.serve());
    const StorePtr own = store.open();
    // The store would count all instances, and compete with what is measured.
    std::atomic<std::int64_t> ended{0};
    std::atomic<bool> is_over{false};
    Crew workers(is_over);
    for (int i = 0; i < kWorkers; ++i) {
        workers.add([&] {
            RemoteLoop worker(server.port(), kSlots, ended);
            while (!is_over) worker.turn();
            worker.close();
        });
    }
    HttpClient client(server.port());
    std::string lines;
    for (int i = 0; i < kBatch; ++i) lines += "{}\n";
    std::int64_t started = 0;
    const auto start = SteadyClock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(SteadyClock::now() - start).count();
    };
    const double limit = bench.seconds() * 2;
    while (elapsed() < limit) {
        if (started - ended > kWindow - kBatch) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        client.require(
            client.post("/api/v1/instances/batch?workflow=bench", lines, "application/x-ndjson"),
            201
        );
        started += kBatch;
    }
    const auto done = static_cast<double>(completed(*own));
    const double rate = done * kStepsEach / elapsed();
    workers.end();
    return rate;
}

double engine_rate(ServerBench& bench, Database database) {
    const ServedStore store(bench, database);
    const StorePtr own = store.open();
    Progress progress;
    return run_saturated(
               *own, progress, {.seconds = bench.seconds() * 2, .window = kWindow, .batch = kBatch}
    )
        .steps_per_second();
}

Figure steps_figure(ServerBench& bench, std::string_view name, Database database) {
    std::vector<double> remote;
    std::vector<double> direct;
    for (int run = 0; run < kRuns; ++run) {
        direct.push_back(engine_rate(bench, database));
        remote.push_back(remote_rate(bench, database));
    }
    return beside(
        {.name = name,
         .unit = "steps/s",
         .goal = 0.35,
         .yardstick = "the engine in process, with as many instances in flight"},
        remote,
        direct
    );
}

Definition many_steps() {
    WorkflowBuilder builder("hops");
    for (int i = 0; i < kHops; ++i) {
        builder.step(fmt::format("s{}", i), {.handler = std::string(1, "abc"[i % kStepsEach])});
    }
    return builder.build();
}

/// Milliseconds per step of instances that run one after another.
std::vector<double> remote_hops(ServerBench& bench, const ServedStore& store, double& round_trip) {
    const ServerProcess server(store.serve());
    HttpClient client(server.port());
    std::vector<double> trips;
    for (int i = 0; i < 500; ++i) trips.push_back(took_ms([&] { client.get("/api/v1/me"); }));
    round_trip = percentile(trips, 0.5);
    std::atomic<std::int64_t> ended{0};
    std::atomic<bool> is_over{false};
    Crew workers(is_over);
    workers.add([&] {
        RemoteLoop loop(server.port(), 1, ended);
        while (!is_over) loop.turn();
        loop.close();
    });
    std::vector<double> hops;
    const auto start = SteadyClock::now();
    while (SteadyClock::now() - start < std::chrono::duration<double>(bench.seconds())) {
        hops.push_back(
            took_ms([&] {
                const HttpAnswer answer = client.require(
                    client.post("/api/v1/instances?wait=20s", R"({"workflow":"hops"})"), 201
                );
                const Json json = Json::parse(answer.body);
                if (json.at("result").at("status") != "completed") {
                    throw std::runtime_error("an instance did not complete");
                }
            }) /
            kHops
        );
    }
    workers.end();
    return hops;
}

}  // namespace

std::vector<Figure> remote_steps_figures(ServerBench& bench) {
    std::vector<Figure> figures;
    if (bench.is_asked("remote_steps")) {
        figures.push_back(steps_figure(bench, "remote_steps", Database::Postgres));
    }
    if (bench.is_asked("remote_steps_sqlite")) {
        figures.push_back(steps_figure(bench, "remote_steps_sqlite", Database::Sqlite));
    }
    return figures;
}

std::vector<Figure> remote_hop_figures(ServerBench& bench) {
    std::vector<double> runs;
    std::vector<double> remote;
    std::vector<double> local;
    std::vector<double> trips;
    for (int run = 0; run < kRuns; ++run) {
        const ServedStore store(bench, Database::Postgres);
        const StorePtr own = store.open();
        local.push_back(
            percentile(run_one_at_a_time(*own, bench.seconds(), many_steps()), 0.5) / kHops
        );
        double trip = 0;
        remote.push_back(percentile(remote_hops(bench, store, trip), 0.5));
        trips.push_back(trip);
        runs.push_back((remote.back() - local.back()) / trip);
    }
    Figure figure = at_most(
        {.name = "remote_hop",
         .unit = "round trips",
         .limit = 2,
         .note = "a step of a remote worker takes so many loopback round trips more; PostgreSQL"},
        runs
    );
    figure.details = {
        {"remote_ms", median(remote)}, {"in_process_ms", median(local)}, {"trip_ms", median(trips)}
    };
    return {std::move(figure)};
}

}  // namespace ebb::bench
