#include "reactions.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "support/store_process.h"

namespace ebb::bench {

namespace {

constexpr auto kLook = std::chrono::milliseconds(1);
constexpr auto kGiveUp = std::chrono::minutes(1);

/// Of the clock that all processes share.
std::int64_t microseconds_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

void wait_until(const std::function<bool()>& is_so) {
    const auto begun = std::chrono::steady_clock::now();
    while (!is_so()) {
        if (std::chrono::steady_clock::now() - begun > kGiveUp) {
            throw std::runtime_error("a worker process does not react");
        }
        std::this_thread::sleep_for(kLook);
    }
}

double milliseconds(Duration duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
}

void end(pid_t pid) {
    kill(pid, SIGKILL);
    testing::wait_for(pid);
}

}  // namespace

Team::Team(OpenStore open, std::size_t workers) : open_(std::move(open)) {
    // Makes the schema, and is gone before the processes are made.
    open_();
    while (pids_.size() < workers) {
        pids_.push_back(testing::fork_process([this] { return serve(); }));
    }
    store_ = open_();
    client_.emplace(*store_, none_);
    wait_until([&] {
        const std::vector<WorkerView> all = client_->workers();
        const auto can_run = [](const WorkerView& worker) { return !worker.handlers.empty(); };
        return std::count_if(all.begin(), all.end(), can_run) == std::ssize(pids_);
    });
}

Team::~Team() {
    for (const pid_t pid : pids_) end(pid);
}

/// Never returns.
int Team::serve() {
    const StorePtr store = open_();
    HandlerRegistry handlers;
    handlers.add_raw("hold", Handler([&](const Payload& input, const StepContext& context) {
                         seen_->called_at = microseconds_now();
                         seen_->runner = getpid();
                         ++seen_->calls;
                         while (!context.stop.stop_requested()) std::this_thread::sleep_for(kLook);
                         seen_->stopped_at = microseconds_now();
                         return input;
                     }));
    handlers.add_raw("note", Handler([&](const Payload& input, const StepContext&) {
                         seen_->called_at = microseconds_now();
                         ++seen_->calls;
                         return input;
                     }));
    Engine engine(*store, handlers, {.lease = kLease});
    engine.run();
    while (true) pause();
}

InstanceId Team::hold() {
    client_->register_workflow(WorkflowBuilder("one").step("hold").build());
    const InstanceId instance = client_->start("one").id;
    wait_until([&] { return seen_->calls == 1; });
    return instance;
}

double Team::kill_ms() {
    hold();
    const pid_t runner = seen_->runner;
    const std::int64_t killed_at = microseconds_now();
    end(runner);
    std::erase(pids_, runner);
    wait_until([&] { return seen_->calls == 2; });
    return static_cast<double>(seen_->called_at - killed_at) / 1e3;
}

double Team::cancel_ms() {
    const InstanceId instance = hold();
    const std::int64_t asked_at = microseconds_now();
    client_->cancel(instance);
    wait_until([&] { return seen_->stopped_at != 0; });
    return static_cast<double>(seen_->stopped_at - asked_at) / 1e3;
}

double Team::decide_ms() {
    WorkflowBuilder flow("asked");
    flow.decision("ask");
    flow.step("note");
    client_->register_workflow(flow.build());
    const InstanceId instance = client_->start("asked").id;
    wait_until([&] { return !client_->show(instance).waiting_for.empty(); });
    // The workers have had time to look less often.
    std::this_thread::sleep_for(Team::kLease);
    const std::int64_t decided_at = microseconds_now();
    client_->decide(instance, {.by = "the benchmark"});
    wait_until([&] { return seen_->calls == 1; });
    return static_cast<double>(seen_->called_at - decided_at) / 1e3;
}

Figure reaction_figure(Duration promised, int runs, const std::function<double()>& reaction_ms) {
    Figure figure{.unit = "ms", .goal = 1};
    for (int run = 0; run < runs; ++run) figure.runs.push_back(reaction_ms());
    figure.value = median(figure.runs);
    figure.ratio =
        *std::max_element(figure.runs.begin(), figure.runs.end()) / milliseconds(promised);
    figure.yardstick = fmt::format("{:.0f} ms", milliseconds(promised));
    return figure;
}

}  // namespace ebb::bench
