#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <ebb/ebb.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "shared_memory.h"
#include "support/store_process.h"

// How soon one process feels what has happened to another, or what another has asked for.

namespace ebb::bench {

using testing::PostgresServer;

namespace {

constexpr Duration kLease = std::chrono::seconds(2);
/// As DESIGN promises: a takeover comes so much after the lease, and a cancel so soon.
constexpr Duration kPromised = std::chrono::seconds(1);
constexpr auto kLook = std::chrono::milliseconds(1);
constexpr auto kGiveUp = std::chrono::minutes(1);

/// Of the clock that all processes share.
std::int64_t microseconds_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// What handlers in other processes tell.
struct Seen {
    std::atomic<int> calls{0};
    std::atomic<pid_t> runner{0};  ///< of the last call
    std::atomic<std::int64_t> called_at{0};
    std::atomic<std::int64_t> stopped_at{0};
};

void wait_until(const std::function<bool()>& is_so) {
    const auto begun = std::chrono::steady_clock::now();
    while (!is_so()) {
        if (std::chrono::steady_clock::now() - begun > kGiveUp) {
            throw std::runtime_error("a worker process does not react");
        }
        std::this_thread::sleep_for(kLook);
    }
}

/// A worker whose handler runs until it is asked to stop. Never returns.
int serve(const Scratch& scratch, Seen& seen) {
    const StorePtr store = scratch.open();
    HandlerRegistry handlers;
    handlers.add_raw("hold", Handler([&](const Payload& input, const StepContext& context) {
                         seen.called_at = microseconds_now();
                         seen.runner = getpid();
                         ++seen.calls;
                         while (!context.stop.stop_requested()) std::this_thread::sleep_for(kLook);
                         seen.stopped_at = microseconds_now();
                         return input;
                     }));
    Engine engine(*store, handlers, {.lease = kLease});
    engine.run();
    while (true) pause();
}

/// Worker processes, and one instance of which one of them runs the only step.
class Team {
 public:
    Team(const PostgresServer& server, std::size_t workers) : scratch_(server) {
        scratch_.open();
        while (pids_.size() < workers) {
            pids_.push_back(testing::fork_process([&] { return serve(scratch_, *seen_); }));
        }
        store_ = scratch_.open();
        client_.emplace(*store_, none_);
        wait_until([&] {
            const std::vector<WorkerView> all = client_->workers();
            const auto can_run = [](const WorkerView& worker) { return !worker.handlers.empty(); };
            return std::count_if(all.begin(), all.end(), can_run) == std::ssize(pids_);
        });
        client_->register_workflow(WorkflowBuilder("one").step("hold").build());
        instance_ = client_->start("one").id;
        wait_until([&] { return seen_->calls == 1; });
    }

    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    ~Team() {
        for (const pid_t pid : pids_) end(pid);
    }

    /// Until another process has called the handler.
    double kill_ms() {
        const pid_t runner = seen_->runner;
        const std::int64_t killed_at = microseconds_now();
        end(runner);
        std::erase(pids_, runner);
        wait_until([&] { return seen_->calls == 2; });
        return static_cast<double>(seen_->called_at - killed_at) / 1e3;
    }

    /// Until the handler in the other process is asked to stop.
    double cancel_ms() {
        const std::int64_t asked_at = microseconds_now();
        client_->cancel(instance_);
        wait_until([&] { return seen_->stopped_at != 0; });
        return static_cast<double>(seen_->stopped_at - asked_at) / 1e3;
    }

 private:
    static void end(pid_t pid) {
        kill(pid, SIGKILL);
        testing::wait_for(pid);
    }

    SharedMemory<Seen> seen_;
    Scratch scratch_;
    std::vector<pid_t> pids_;
    StorePtr store_;
    const HandlerRegistry none_;
    std::optional<Engine> client_;
    InstanceId instance_;
};

double milliseconds(Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

/// The ratio is that of the slowest run: what is promised holds always.
Figure reaction_figure(Duration promised, const std::function<double()>& reaction_ms) {
    Figure figure{.unit = "ms", .goal = 1};
    for (int run = 0; run < kPostgresRuns; ++run) figure.runs.push_back(reaction_ms());
    figure.value = median(figure.runs);
    figure.ratio =
        *std::max_element(figure.runs.begin(), figure.runs.end()) / milliseconds(promised);
    return figure;
}

}  // namespace

Figure takeover_figure(const PostgresServer& server) {
    Figure figure = reaction_figure(kLease + kPromised, [&] { return Team(server, 2).kill_ms(); });
    figure.name = "pg_takeover";
    figure.yardstick =
        fmt::format("the lease and a second: {:.0f} ms", milliseconds(kLease + kPromised));
    figure.note =
        "from SIGKILL of a worker process to the call of its handler in another, with a lease of "
        "two seconds; the ratio is the slowest run's, the goal is the most";
    return figure;
}

Figure cancel_figure(const PostgresServer& server) {
    Figure figure = reaction_figure(kPromised, [&] { return Team(server, 1).cancel_ms(); });
    figure.name = "pg_cancel";
    figure.yardstick = fmt::format("a second: {:.0f} ms", milliseconds(kPromised));
    figure.note =
        "from cancel() to the stop of the handler that runs in another process; the ratio is the "
        "slowest run's, the goal is the most";
    return figure;
}

}  // namespace ebb::bench
