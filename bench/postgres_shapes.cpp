#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include <ebb/ebb.h>

#include "postgres_figures.h"
#include "postgres_runs.h"
#include "postgres_yardstick.h"

// Saturated runs of other shapes than three no-op steps: large payloads, many branches, many calls
// in flight that wait for others.

namespace ebb::bench {

using testing::PostgresServer;

namespace {

using SteadyClock = std::chrono::steady_clock;

/// A JSON string that hardly compresses, so that the disk sees its size.
Payload noise(std::size_t bytes) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = "\"";
    std::uint64_t state = 42;
    while (text.size() < bytes - 1) {
        state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        text += kLetters[state >> 58U];
    }
    return Payload::text(text + "\"");
}

Load fan_out_of_100() {
    Load load;
    std::vector<BranchOptions> branches;
    for (int i = 0; i < 100; ++i) {
        const std::string number = std::to_string(i);
        branches.push_back({"branch_" + number, [number](BlockBuilder& branch) {
                                branch.step("step_" + number, {.handler = "a"});
                            }});
    }
    WorkflowBuilder builder("fan_out");
    builder.parallel("all", branches);
    load.definition = builder.build();
    load.steps = 100;
    return load;
}

/// Completes calls 100 ms after they came, in one thread: what a client of an HTTP server with an
/// event loop does.
class SlowAnswers {
 public:
    SlowAnswers() : thread_([this] { answer(); }) {}

    SlowAnswers(const SlowAnswers&) = delete;
    SlowAnswers& operator=(const SlowAnswers&) = delete;

    ~SlowAnswers() {
        {
            const std::scoped_lock lock(mutex_);
            is_ended_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    void add(Completion<Payload> call) {
        {
            const std::scoped_lock lock(mutex_);
            calls_.push_back({SteadyClock::now() + kAnswersAfter, std::move(call)});
        }
        changed_.notify_one();
    }

 private:
    static constexpr auto kAnswersAfter = std::chrono::milliseconds(100);

    struct Call {
        SteadyClock::time_point due;
        Completion<Payload> completion;
    };

    void answer() {
        std::unique_lock lock(mutex_);
        while (!is_ended_) {
            if (calls_.empty()) {
                changed_.wait(lock);
            } else if (calls_.front().due > SteadyClock::now()) {
                changed_.wait_until(lock, calls_.front().due);
            } else {
                const Call call = std::move(calls_.front());
                calls_.pop_front();
                lock.unlock();
                call.completion.complete(Payload::text("{}"));
                lock.lock();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Call> calls_;
    bool is_ended_ = false;
    std::thread thread_;
};

}  // namespace

Figure payload_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_payload_10k",
        .unit = "steps/s",
        .note = "saturated, with an input and outputs of 10 KB that hardly compress"
    };
    Load load;
    load.input = noise(10'000);
    const Way way{.load = load};
    Costs costs;
    measure_pairs(
        figure,
        "minimal durable step that stores 10 KB, 50 per statement, 2 clients",
        [&] {
            const MinimalStepRun fifty{
                .script = "minimal_step_10k.sql", .steps_per_statement = 50, .clients = 2
            };
            return measure_minimal_steps(server, fifty).steps_per_second;
        },
        [&] {
            const SaturatedRun run = saturated_at(server, server.url(), way);
            costs.add(run);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

Figure fan_out_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_fanout_100",
        .unit = "steps/s",
        .note = "saturated, with 100 parallel branches of one step each"
    };
    const Way way{.load = fan_out_of_100(), .window = 512};
    Costs costs;
    measure_pairs(
        figure,
        "three steps in a row",
        [&] { return saturated(server); },
        [&] {
            const SaturatedRun run = saturated_at(server, server.url(), way);
            costs.add(run);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

Figure waiting_calls_figure(const PostgresServer& server) {
    constexpr int kInFlight = 10'000;
    Figure figure{
        .name = "pg_waiting_http",
        .unit = "steps/s",
        .note = "10,000 asynchronous calls in flight that take 100 ms each"
    };
    SlowAnswers answers;
    Load load;
    load.definition = WorkflowBuilder("waiting_calls").step("call").build();
    load.handlers = HandlerRegistry();
    load.handlers.add("call", [&answers](const StepContext&, Completion<Payload> call) {
        answers.add(std::move(call));
    });
    load.steps = 1;
    load.in_flight_max = kInFlight;
    Way way{.load = load, .window = kInFlight};
    Load quick = load;
    quick.definition = WorkflowBuilder("quick_calls").step("a").build();
    quick.handlers = three_no_op_handlers();
    const Way quick_way{.load = quick, .window = kInFlight};
    Costs costs;
    measure_pairs(
        figure,
        "the same with calls that take no time",
        [&] { return saturated_at(server, server.url(), quick_way).client.steps_per_second(); },
        [&] {
            const SaturatedRun run = saturated_at(server, server.url(), way);
            costs.add(run);
            costs.add("threads", run.client.threads);
            costs.add("resident_mib", run.client.resident_mib);
            return run.client.steps_per_second();
        }
    );
    figure.details = costs.medians();
    return figure;
}

}  // namespace ebb::bench
