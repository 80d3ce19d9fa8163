// What a server does in bulk: requeues of many instances, beside a loop over the same instances in
// this process; and the validation of a definition as large as any may be.

#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "http_client.h"
#include "server_figures.h"

namespace ebb::bench {

namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr int kRuns = 3;
constexpr int kInstances = 20'000;
constexpr int kPage = 1'000;
constexpr int kNodes = 10'000;
constexpr int kValidations = 5;
constexpr double kPatience = 300;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void pause_briefly() {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

/// Instances that wait for an operator, all of them.
std::vector<InstanceId> fail_all(Store& store) {
    HandlerRegistry handlers;
    handlers.add_raw("charge", [](const Payload&, const StepContext&) -> Payload {
        throw PermanentError("no funds");
    });
    Engine engine(store, handlers);
    engine.register_workflow(
        WorkflowBuilder("sad").on_error(Definition::OnError::DeadLetter).step("charge").build()
    );
    engine.run();
    const std::vector<Payload> inputs(kPage, Payload::text("{}"));
    std::vector<InstanceId> ids;
    while (std::ssize(ids) < kInstances) {
        for (const StartedInstance& each : engine.start_all("sad", inputs)) ids.push_back(each.id);
    }
    const auto start = SteadyClock::now();
    const auto dead = [&] {
        std::int64_t count = 0;
        for (const InstanceCount& each : engine.stats()) {
            if (each.status == InstanceStatus::DeadLetter) count += each.count;
        }
        return count;
    };
    while (dead() < kInstances) {
        if (seconds_since(start) > kPatience) throw std::runtime_error("too few dead letters");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    engine.drain(std::chrono::seconds(5));
    return ids;
}

/// Requeues in a second, one after another.
double direct_rate(ServerBench& bench) {
    const ServedStore store(bench, Database::Postgres);
    const StorePtr own = store.open();
    const std::vector<InstanceId> ids = fail_all(*own);
    const HandlerRegistry none;
    Engine engine(*own, none);
    const auto start = SteadyClock::now();
    int count = 0;
    for (const InstanceId& id : ids) {
        if (seconds_since(start) > bench.seconds()) break;
        engine.requeue(id);
        ++count;
    }
    return count / seconds_since(start);
}

double bulk_rate(ServerBench& bench) {
    const ServedStore store(bench, Database::Postgres);
    fail_all(*store.open());
    const ServerProcess server(store.serve());
    HttpClient client(server.port());
    const auto start = SteadyClock::now();
    const char* body = R"({"action":"requeue","where":"workflow == \"sad\""})";
    const Json begun = Json::parse(client.require(client.post("/api/v1/bulk", body), 202).body);
    const std::string path = "/api/v1/bulk/" + begun.at("id").get<std::string>();
    while (true) {
        const Json view = Json::parse(client.require(client.get(path), 200).body);
        if (view.at("status") == "completed") {
            if (view.at("done") != kInstances) {
                throw std::runtime_error("not all were requeued: " + view.dump());
            }
            return kInstances / seconds_since(start);
        }
        if (seconds_since(start) > kPatience) throw std::runtime_error("no end: " + view.dump());
        pause_briefly();
    }
}

std::string large_definition() {
    std::string text = "workflow: large\nsteps:\n";
    for (int node = 0; node < kNodes; ++node) text += fmt::format("  - s{}\n", node);
    return text;
}

}  // namespace

std::vector<Figure> bulk_figures(ServerBench& bench) {
    std::vector<double> rates;
    std::vector<double> direct;
    for (int run = 0; run < kRuns; ++run) {
        direct.push_back(direct_rate(bench));
        rates.push_back(bulk_rate(bench));
    }
    return {beside(
        {.name = "bulk_requeue",
         .unit = "instances/s",
         .goal = 3,
         .yardstick = "requeue() of one thread in process, PostgreSQL"},
        rates,
        direct
    )};
}

std::vector<Figure> validate_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const ServerProcess server(store.serve());
    HttpClient client(server.port());
    const std::string text = large_definition();
    std::vector<double> times;
    for (int run = 0; run < kValidations; ++run) {
        HttpAnswer answer;
        times.push_back(took_ms([&] {
            answer = client.require(
                client.post("/api/v1/workflows/validate", text, "application/yaml"), 200
            );
        }));
        if (answer.body.find("\"valid\":true") == std::string::npos) {
            throw std::runtime_error("the definition is not valid: " + answer.body.substr(0, 500));
        }
    }
    return {at_most(
        {.name = "validate_10k",
         .unit = "ms",
         .limit = 700,
         .note = "to validate and to lay out a definition of 10,000 nodes over the API"},
        times
    )};
}

}  // namespace ebb::bench
