// Requests that read: beside a bare server, and beside the same verb called in this process.

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "http_client.h"
#include "server_figures.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

constexpr int kRuns = 3;
/// As the server reads for its requests.
constexpr int kReaders = 8;
constexpr const char* kBare = "a bare Beast server";

struct Asked {
    std::string path;
    std::vector<std::string> headers{};
};

/// By turns, because the speed of a virtual machine changes within a minute.
Figure beside_bare(
    ServerBench& bench, const Beside& about, const ServerProcess& server, const Asked& asked
) {
    const ServerProcess bare({EBB_BARE_FILE});
    std::vector<double> rates;
    std::vector<double> bare_rates;
    for (int run = 0; run < kRuns; ++run) {
        const double seconds = bench.seconds();
        bare_rates.push_back(
            run_wrk({.port = bare.port(), .path = "/", .seconds = seconds}).per_second
        );
        rates.push_back(run_wrk({.port = server.port(),
                                 .path = asked.path,
                                 .seconds = seconds,
                                 .headers = asked.headers})
                            .per_second);
    }
    return beside(about, rates, bare_rates);
}

/// The header of an API token that the server has made.
std::string new_token(const ServerProcess& server) {
    HttpClient visitor(server.port());
    const std::string login = fmt::format(R"({{"login":"{}"}})", server.login());
    const HttpAnswer session = visitor.require(visitor.post("/api/v1/session", login), 200);
    const std::string cookie = session.header("set-cookie");
    HttpClient admin(
        server.port(),
        fmt::format(
            "Sec-Fetch-Site: same-origin\r\nCookie: {}\r\n", cookie.substr(0, cookie.find(';'))
        )
    );
    const HttpAnswer token = admin.require(
        admin.post("/api/v1/tokens/bench", R"({"role":"operator"})", "application/json", "PUT"), 201
    );
    return "Authorization: Bearer " +
           nlohmann::json::parse(token.body).at("token").get<std::string>();
}

Definition five_steps() {
    return WorkflowBuilder("five")
        .step("a")
        .step("b")
        .step("c")
        .step("d", {.handler = "a"})
        .step("e", {.handler = "b"})
        .build();
}

/// An instance of five steps that has completed.
InstanceId completed_instance(const ServedStore& store) {
    const StorePtr own = store.open();
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(*own, handlers);
    engine.register_workflow(five_steps());
    engine.run();
    const InstanceId id = engine.start("five", Payload::text(R"({"order":4711})")).id;
    if (engine.wait(id).status != InstanceStatus::Completed) {
        throw std::runtime_error("the instance to show did not complete");
    }
    engine.drain(std::chrono::seconds(5));
    return id;
}

}  // namespace

std::vector<Figure> livez_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const ServerProcess server(store.serve());
    return {beside_bare(
        bench,
        {.name = "server_livez", .unit = "requests/s", .goal = 0.85, .yardstick = kBare},
        server,
        {.path = "/livez"}
    )};
}

std::vector<Figure> me_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const ServerProcess server(store.serve({"--no-worker"}));
    return {beside_bare(
        bench,
        {.name = "server_me", .unit = "requests/s", .goal = 0.6, .yardstick = kBare},
        server,
        {.path = "/api/v1/me", .headers = {new_token(server)}}
    )};
}

std::vector<Figure> not_modified_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const std::string path = "/api/v1/instances/" + completed_instance(store).to_string();
    const ServerProcess server(store.serve());
    HttpClient client(server.port());
    const std::string tag = client.require(client.get(path), 200).header("etag");
    const std::string header = "If-None-Match: " + tag;
    HttpClient again(server.port(), header + "\r\n");
    again.require(again.get(path), 304);
    return {beside_bare(
        bench,
        {.name = "server_instance_304", .unit = "requests/s", .goal = 0.3, .yardstick = kBare},
        server,
        {.path = path, .headers = {header}}
    )};
}

std::vector<Figure> get_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const InstanceId id = completed_instance(store);
    const ServerProcess server(store.serve());
    const StorePtr own = store.open();
    const HandlerRegistry none;
    Engine engine(*own, none);
    const ServerProcess bare({EBB_BARE_FILE});
    std::vector<double> rates;
    std::vector<double> both;
    for (int run = 0; run < kRuns; ++run) {
        const double shows =
            calls_per_second(kReaders, bench.seconds(), [&](int) { engine.show(id); });
        const double requests =
            run_wrk({.port = bare.port(), .path = "/", .seconds = bench.seconds()}).per_second;
        // No server answers more often than the bare one, however quick show() is.
        both.push_back(1 / (1 / shows + 1 / requests));
        rates.push_back(run_wrk({.port = server.port(),
                                 .path = "/api/v1/instances/" + id.to_string(),
                                 .seconds = bench.seconds()})
                            .per_second);
    }
    return {beside(
        {.name = "server_instance_get",
         .unit = "requests/s",
         .goal = 0.5,
         .yardstick = "a request to a bare Beast server and show() of 8 threads, one after another"
        },
        rates,
        both
    )};
}

}  // namespace ebb::bench
