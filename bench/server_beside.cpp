// A saturated engine in the process that serves 1,000 streams and answers 100 list requests in a
// second, beside the same engine that serves nothing.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ebb/engine.h>
#include <ebb/server.h>

#include "crew.h"
#include "http_client.h"
#include "server_figures.h"
#include "shared_memory.h"
#include "sse_swarm.h"
#include "three_steps.h"

namespace ebb::bench {

namespace {

constexpr int kRuns = 3;
constexpr int kStreams = 1'000;
constexpr int kListsPerSecond = 100;

/// What the process with the engine and this process tell each other.
struct Shared {
    std::atomic<int> port{0};
    std::atomic<bool> may_begin{false};
    std::atomic<bool> is_over{false};
    std::atomic<bool> may_end{false};
    std::atomic<double> steps_per_second{0};
};

/// In a process of its own: the server of the library, and an engine under full load.
void embed(const ServedStore& store, double seconds, Shared& shared) {
    const StorePtr own = store.open();
    const StorePtr reads = store.open();
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(*own, handlers);
    Server server(
        engine,
        *own,
        *reads,
        {.listen = {"127.0.0.1:0"}, .needs_login = false, .requests_per_second = 0}
    );
    engine.register_workflow(three_steps());
    engine.run();
    server.start();
    const std::string address = server.addresses().front();
    shared.port = std::stoi(address.substr(address.rfind(':') + 1));
    while (!shared.may_begin) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Progress progress;
    shared.steps_per_second =
        run_saturated_in(engine, progress, {.seconds = seconds}).steps_per_second();
    shared.is_over = true;
    // A request that is still under way must be answered: the end of a run is not a failure.
    while (!shared.may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    engine.drain(std::chrono::seconds(5));
}

/// One of the dashboards, until the load is over.
void list_often(int port, const std::atomic<bool>& is_over) {
    HttpClient client(port);
    auto due = std::chrono::steady_clock::now();
    while (!is_over) {
        std::this_thread::sleep_until(due);
        due += std::chrono::milliseconds(1'000) / kListsPerSecond;
        client.require(client.get("/api/v1/instances?limit=50"), 200);
    }
}

/// Lets the other process end, also if this one has failed.
class EndingAfter {
 public:
    explicit EndingAfter(Shared& shared) : shared_(shared) {}

    EndingAfter(const EndingAfter&) = delete;
    EndingAfter& operator=(const EndingAfter&) = delete;

    ~EndingAfter() {
        shared_.may_begin = true;
        shared_.may_end = true;
    }

 private:
    Shared& shared_;
};

/// Steps in a second of the engine in the other process.
double rate(ServerBench& bench, bool is_watched) {
    const ServedStore store(bench, Database::Postgres);
    SharedMemory<Shared> shared;
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        try {
            if (getppid() == parent) embed(store, bench.seconds() * 2, *shared);
        } catch (const std::exception& error) {
            // It must not go on with the figures of its parent.
            std::fprintf(stderr, "ebb_bench: %s\n", error.what());
            _exit(1);
        }
        _exit(0);
    }
    while (shared->port == 0 && waitpid(child, nullptr, WNOHANG) == 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (shared->port == 0) throw std::runtime_error("the process with the engine has ended");
    {
        const EndingAfter ending(*shared);
        std::unique_ptr<SseSwarm> swarm;
        std::atomic<bool> has_ended{false};
        Crew lists(has_ended);
        if (is_watched) {
            swarm = std::make_unique<SseSwarm>(SseSwarm::Options{
                .port = shared->port,
                .clients = kStreams,
                .paths = {"/api/v1/events?topic=list:limit%3D50&topic=stats"}
            });
            lists.add([&] { list_often(shared->port, has_ended); });
        }
        shared->may_begin = true;
        while (!shared->is_over && waitpid(child, nullptr, WNOHANG) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        if (!shared->is_over) throw std::runtime_error("the process with the engine has ended");
        lists.end();
    }
    waitpid(child, nullptr, 0);
    return shared->steps_per_second;
}

}  // namespace

std::vector<Figure> beside_ui_figures(ServerBench& bench) {
    std::vector<double> watched;
    std::vector<double> alone;
    for (int run = 0; run < kRuns; ++run) {
        alone.push_back(rate(bench, false));
        watched.push_back(rate(bench, true));
    }
    return {beside(
        {.name = "engine_beside_ui",
         .unit = "steps/s",
         .goal = 0.95,
         .yardstick = "without streams and requests"},
        watched,
        alone
    )};
}

}  // namespace ebb::bench
