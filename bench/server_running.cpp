// `ebb serve` as a program: how soon it is ready, what it costs when nothing happens, whether a
// restart loses requests, how fast webhooks are delivered, and what a scrape of its metrics takes.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/metrics.h>
#include <ebb/server.h>

#include "crew.h"
#include "http_client.h"
#include "postgres_scratch.h"
#include "server_figures.h"
#include "support/http_server.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kRuns = 3;
constexpr int kReadyRuns = 7;
constexpr int kWorkflows = 200;
constexpr int kStepsOfEach = 1'000;
constexpr int kScrapes = 20;
constexpr int kCalls = 2'000;
constexpr double kCallsPatience = 120;
constexpr int kRestarts = 3;
constexpr int kClients = 16;
constexpr double kRequestsPerSecond = 2'000;

double seconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void sleep_seconds(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Counts what arrives.
class Sink {
 public:
    Sink()
        : server_([this](const testing::HttpServer::Request&) {
              ++count_;
              return testing::HttpServer::respond(200, "{}", {"Content-Type: application/json"});
          }) {}

    std::string url() const { return server_.url("/"); }

    /// Calls in a second, until there were `wanted` since the call of `begin`.
    double rate(int wanted, const std::function<void()>& begin) {
        const int before = count_;
        const auto start = SteadyClock::now();
        begin();
        while (count_ - before < wanted) {
            if (seconds_since(start) > kCallsPatience) {
                throw std::runtime_error(
                    fmt::format("of {} calls, {} came", wanted, count_ - before)
                );
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return wanted / seconds_since(start);
    }

 private:
    std::atomic<int> count_{0};
    testing::HttpServer server_;
};

void start_many(HttpClient& client, const std::string& workflow) {
    std::string lines;
    for (int i = 0; i < kCalls; ++i) lines += "{}\n";
    client.require(
        client.post("/api/v1/instances/batch?workflow=" + workflow, lines, "application/x-ndjson"),
        201
    );
}

int listening_socket() {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool is_listening =
        ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
        ::listen(made, 1'024) == 0;
    if (!is_listening) throw std::runtime_error("no socket to listen on");
    return made;
}

struct Traffic {
    std::atomic<bool> is_over{false};
    std::atomic<std::int64_t> answered{0};
    std::atomic<std::int64_t> failed{0};
    std::atomic<std::int64_t> repeated{0};  ///< on a kept connection that the server has closed
};

/// One client at a fixed rate. A server may close a kept connection while a request is on its way:
/// then every client sends it again (RFC 9112, 9.3.1). On a new connection it must be answered.
void ask_often(int port, Traffic& traffic) {
    std::unique_ptr<HttpClient> client;
    bool is_used = false;
    auto due = SteadyClock::now();
    while (!traffic.is_over) {
        std::this_thread::sleep_until(due);
        due += std::chrono::duration_cast<SteadyClock::duration>(
            std::chrono::duration<double>(kClients / kRequestsPerSecond)
        );
        for (bool is_done = false; !is_done;) {
            is_done = true;
            try {
                if (!client) client = std::make_unique<HttpClient>(port);
                const HttpAnswer answer = client->get("/api/v1/me");
                ++(answer.status == 200 ? traffic.answered : traffic.failed);
                is_used = answer.header("connection") != "close";
            } catch (const std::runtime_error&) {
                is_done = !is_used;
                ++(is_used ? traffic.repeated : traffic.failed);
                is_used = false;
            }
            if (!is_used) client.reset();
        }
    }
}

Definition long_workflow(int number) {
    WorkflowBuilder builder(fmt::format("long_{}", number));
    for (int step = 0; step < kStepsOfEach; ++step) {
        builder.step(fmt::format("s{}", step), {.handler = "a"});
    }
    return builder.build();
}

/// Transactions in a minute of everything that has the server's database open.
double transactions_per_minute(ServerBench& bench, double seconds) {
    // PostgreSQL counts what a session did before it became idle up to ten seconds later
    // (PGSTAT_IDLE_INTERVAL): the statements of a start would look like those of an idle process.
    sleep_seconds(12);
    const ServerUse before = use_of(bench.postgres());
    sleep_seconds(seconds);
    const ServerUse used = use_of(bench.postgres()) - before;
    return used.transactions * 60 / seconds;
}

}  // namespace

std::vector<Figure> webhook_figures(ServerBench& bench) {
    std::vector<double> deliveries;
    std::vector<double> calls;
    for (int run = 0; run < kRuns; ++run) {
        Sink sink;
        const ServedStore store(bench, Database::Sqlite);
        const std::string file = store.folder() + "/call.yaml";
        std::ofstream(file) << fmt::format(
            "workflow: call\nsteps: [send]\nhandlers:\n  send:\n    http: {{url: \"{}\"}}\n",
            sink.url()
        );
        const ServerProcess server(store.serve({file, "--no-auth", "--webhooks-allow-private"}));
        HttpClient client(server.port());
        calls.push_back(sink.rate(kCalls, [&] { start_many(client, "call"); }));
        client.require(
            client.post(
                "/api/v1/webhooks/bench",
                fmt::format(
                    R"({{"url":"{}","events":["instance.started"],"workflows":["bench"]}})",
                    sink.url()
                ),
                "application/json",
                "PUT"
            ),
            200
        );
        // The worker learns of a webhook with its next heartbeat, within a second.
        sleep_seconds(2);
        deliveries.push_back(sink.rate(kCalls, [&] { start_many(client, "bench"); }));
    }
    return {beside(
        {.name = "webhook_rate",
         .unit = "deliveries/s",
         .goal = 0.8,
         .yardstick = "instances of a workflow with one http step, SQLite"},
        deliveries,
        calls
    )};
}

std::vector<Figure> metrics_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const StorePtr own = open_memory_store();
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(*own, handlers);
    const std::shared_ptr<Metrics> metrics = make_metrics();
    Server server(
        engine,
        *own,
        *own,
        {.listen = {"127.0.0.1:0"},
         .needs_login = false,
         .requests_per_second = 0,
         .metrics = metrics.get()}
    );
    engine.run();
    server.start();
    for (int number = 0; number < kWorkflows; ++number) {
        engine.register_workflow(long_workflow(number));
        engine.start(fmt::format("long_{}", number), Payload::text("{}"));
    }
    while (engine.counters().finished < kWorkflows) sleep_seconds(0.01);
    const std::string address = server.addresses().front();
    HttpClient client(std::stoi(address.substr(address.rfind(':') + 1)));
    std::vector<double> times;
    std::size_t bytes = 0;
    for (int scrape = 0; scrape < kScrapes; ++scrape) {
        times.push_back(took_ms([&] {
            bytes = client.require(client.get("/metrics"), 200).body.size();
        }));
    }
    engine.drain(std::chrono::seconds(5));
    return {
        at_most(
            {.name = "metrics_scrape",
             .unit = "ms",
             .limit = 50,
             .note = "after an instance of each of 200 workflows with 1,000 steps"},
            times
        ),
        at_most(
            {.name = "metrics_scrape_size", .unit = "MB", .limit = 5, .note = "of the same"},
            {static_cast<double>(bytes) / 1e6}
        )
    };
}

std::vector<Figure> ready_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    std::vector<double> runs;
    for (int run = 0; run < kReadyRuns; ++run) {
        ServerProcess server(store.serve({"--no-auth"}));
        runs.push_back(server.ready_ms());
        server.stop();
    }
    return {at_most(
        {.name = "serve_ready",
         .unit = "ms",
         .limit = 150,
         .note = "from the start of the program to READY, with an existing SQLite file"},
        runs
    )};
}

std::vector<Figure> restart_figures(ServerBench& bench) {
    const ServedStore store(bench, Database::Sqlite);
    const int listening = listening_socket();
    const auto serve = [&] {
        return std::make_unique<ServerProcess>(
            store.serve({"--no-auth", "--no-worker", "--listen", "fd:3"}), listening
        );
    };
    auto server = serve();
    Traffic traffic;
    // The next server listens on the same socket.
    const int port = server->port();
    Crew clients(traffic.is_over);
    for (int i = 0; i < kClients; ++i) clients.add([&] { ask_often(port, traffic); });
    int clean = 0;
    for (int restart = 0; restart < kRestarts; ++restart) {
        sleep_seconds(bench.seconds() / 2);
        clean += server->stop() ? 1 : 0;
        server = serve();
    }
    sleep_seconds(bench.seconds() / 2);
    clients.end();
    ::close(listening);
    Figure figure = at_most(
        {.name = "serve_restart",
         .unit = "failures",
         .limit = 0,
         .note = "of requests while the server restarts with socket activation under load"},
        {static_cast<double>(traffic.failed)}
    );
    figure.details = {
        {"answered", static_cast<double>(traffic.answered)},
        {"sent_again", static_cast<double>(traffic.repeated)},
        {"restarts", kRestarts},
        {"clean_exits", static_cast<double>(clean)}
    };
    return {std::move(figure)};
}

std::vector<Figure> idle_figures(ServerBench& bench) {
    const double seconds = bench.seconds() * 5;
    const ServedStore store(bench, Database::Postgres);
    double worker = 0;
    {
        const StorePtr own = store.open();
        const HandlerRegistry handlers = three_no_op_handlers();
        Engine engine(*own, handlers);
        engine.run();
        worker = transactions_per_minute(bench, seconds);
        engine.drain(std::chrono::seconds(5));
    }
    const ServerProcess server(store.serve({"--no-auth"}));
    sleep_seconds(1);
    const double begun = running_seconds_of(server.pid());
    const auto start = SteadyClock::now();
    const double calls = transactions_per_minute(bench, seconds);
    const double percent = 100 * (running_seconds_of(server.pid()) - begun) / seconds_since(start);
    Figure idle{
        .name = "serve_idle",
        .value = calls,
        .unit = "transactions/min",
        .yardstick = fmt::format("an idle worker: {:.0f}, and a tenth more", worker),
        .ratio = calls / worker,
        .goal = 1.1,
        .runs = {calls},
        .note = "lower is better"
    };
    idle.verdict = idle.ratio <= idle.goal ? "met" : "missed";
    return {
        std::move(idle),
        at_most(
            {.name = "serve_idle_cpu", .unit = "%", .limit = 0.2, .note = "of a processor"},
            {percent}
        )
    };
}

}  // namespace ebb::bench
