#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <ebb/ebb.h>

#include "postgres_figures.h"
#include "postgres_scratch.h"
#include "store/store.h"
#include "three_steps.h"

// Costs that must not grow: of a step with the steps before it, of a claim with the tasks that
// wait.

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
using testing::PostgresServer;

double milliseconds_since(SteadyClock::time_point start) {
    return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

/// A workflow that takes so many turns, and its handler, which notes the milliseconds between them.
class Loop {
 public:
    Loop(std::string name, int turns) : name_(std::move(name)), turns_(turns) {}

    Definition definition() const {
        WorkflowBuilder builder(name_);
        builder
            .loop_until(
                "again",
                fmt::format("steps.{}.output >= {}", name_, turns_),
                [&](BlockBuilder& body) { body.step(name_); }
            )
            .max_iterations(turns_ + 1);
        return builder.build();
    }

    /// `meanwhile` is called in the handler and does not count.
    void add_handler(HandlerRegistry& handlers, std::function<void(int turn)> meanwhile = {}) {
        const auto turn = [this, meanwhile](const Payload&, const StepContext&) {
            gaps_.push_back(milliseconds_since(last_));
            if (meanwhile) meanwhile(static_cast<int>(gaps_.size()));
            last_ = SteadyClock::now();
            return fmt::format("{}", gaps_.size());
        };
        handlers.add_raw(name_, Handler(turn));
    }

    void run(Engine& engine) {
        gaps_.clear();
        const Result result = engine.wait(engine.start(name_, Payload::text("{}")).id);
        if (static_cast<int>(gaps_.size()) == turns_) return;
        throw std::runtime_error(
            fmt::format("the loop ended early: {} {}", to_string(result.status), result.error)
        );
    }

    std::span<const double> gaps() const { return gaps_; }

 private:
    std::string name_;
    int turns_;
    std::vector<double> gaps_;
    SteadyClock::time_point last_{};
};

struct Ages {
    double young_ms = 0;
    double old_ms = 0;
};

/// p50 of a step near the 10th of an instance, and of one near the 10,000th of another. The old one
/// stands still now and then while a young one runs, so that both see the same machine.
Ages step_times(const PostgresServer& server) {
    constexpr int kOldTurns = 10'000;
    constexpr int kYoungTurns = 60;
    constexpr int kSkipped = 10;
    constexpr int kSample = 1'000;
    constexpr int kTurnsBetween = kYoungTurns;
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    Loop old("old", kOldTurns);
    Loop young("young", kYoungTurns);
    std::vector<double> young_gaps;
    std::vector<double> old_gaps;
    Engine* running = nullptr;
    HandlerRegistry handlers;
    young.add_handler(handlers);
    old.add_handler(handlers, [&](int turn) {
        const int turns_of_sample = turn - (kOldTurns - kSample);
        if (turns_of_sample < 0) return;
        const int place = turns_of_sample % kTurnsBetween;
        // As of the young one, the first after a while count for neither.
        if (place > kSkipped) old_gaps.push_back(old.gaps().back());
        if (place != 0) return;
        young.run(*running);
        const auto gaps = young.gaps().subspan(kSkipped);
        young_gaps.insert(young_gaps.end(), gaps.begin(), gaps.end());
    });
    Engine engine(*store, handlers);
    running = &engine;
    engine.register_workflow(young.definition());
    engine.register_workflow(old.definition());
    engine.run();
    old.run(engine);
    engine.drain(std::chrono::seconds(5));
    return {.young_ms = median(young_gaps), .old_ms = median(old_gaps)};
}

/// What is done once for so many new rows is not what they cost afterwards.
void settle(const Scratch& scratch) {
    for (const char* table : {"instances", "history", "tasks"}) {
        scratch.execute(fmt::format("VACUUM ANALYZE {{0}}.{}", table));
    }
    scratch.execute("CHECKPOINT");
}

/// Adds due tasks without asking the store: instances and all, `count` of each handler. The ids are
/// in the order of time, as the store's own.
void add_backlog(const Scratch& scratch, int count) {
    scratch.execute(fmt::format(
        "INSERT INTO {{0}}.instances (id, revision, created_at, updated_at, version, priority,"
        " status, workflow, state)"
        " SELECT (lpad(to_hex(n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8'"
        " || substr(md5(n::text), 4, 15))::uuid, 1, n, n, 1, 0, 'running', 'w', '{{{{}}}}'"
        " FROM generate_series(1, {}) AS n;"
        "INSERT INTO {{0}}.history (instance_id, seq, at, type, payload)"
        " SELECT id, 1, created_at, 'started', '{{{{}}}}' FROM {{0}}.instances",
        count
    ));
    for (int token = 1; token <= 2; ++token) {
        scratch.execute(fmt::format(
            "INSERT INTO {{0}}.tasks (instance_id, token, rank, due_at, lane, handler, queue)"
            " SELECT id, {}, created_at, created_at, 1, '{}', '' FROM {{0}}.instances",
            token,
            token == 1 ? "mine" : "theirs"
        ));
    }
    settle(scratch);
}

/// Adds instances that wait for a time in a year, as their timers do.
void add_sleepers(const Scratch& scratch, int count) {
    scratch.execute(fmt::format(
        "INSERT INTO {{0}}.instances (id, revision, created_at, updated_at, version, priority,"
        " status, workflow, state)"
        " SELECT gen_random_uuid(), 1, 1, 1, 1, 0, 'running', 'w', '{{{{}}}}'"
        " FROM generate_series(1, {});"
        "INSERT INTO {{0}}.tasks (instance_id, token, rank, due_at, lane, handler, queue)"
        " SELECT id, 1, t.at, t.at, 0, '', '' FROM {{0}}.instances CROSS JOIN LATERAL ("
        "SELECT (extract(epoch FROM now() + interval '1 year') * 1000000)::bigint AS at) AS t",
        count
    ));
    settle(scratch);
}

/// Milliseconds of processor time, of the server and this process, in each second in which a worker
/// has nothing to do. The median of some slices of time: now and then the server looks through all
/// its tables, whatever is in them.
double idle_cpu_ms(const PostgresServer& server, int sleepers) {
    constexpr int kSlices = 7;
    constexpr auto kSlice = std::chrono::seconds(5);
    const Scratch scratch(server);
    const StorePtr store = scratch.open();
    add_sleepers(scratch, sleepers);
    const HandlerRegistry handlers = three_no_op_handlers();
    Engine engine(*store, handlers);
    engine.register_workflow(three_steps());
    engine.run();
    std::vector<double> slices;
    for (int i = 0; i < kSlices; ++i) {
        const double before = use_of(server).cpu_seconds + cpu_seconds();
        std::this_thread::sleep_for(kSlice);
        const double used = use_of(server).cpu_seconds + cpu_seconds() - before;
        slices.push_back(used * 1e3 / std::chrono::duration<double>(kSlice).count());
    }
    engine.drain(std::chrono::seconds(5));
    return median(slices);
}

/// A backlog, and a worker that claims from it again and again.
class Backlog {
 public:
    Backlog(const PostgresServer& server, int count) : scratch_(server), store_(scratch_.open()) {
        WorkerRow worker;
        worker.id = "w";
        worker.handlers = {"mine"};
        store_->heartbeat(worker, std::chrono::minutes(10));
        add_backlog(scratch_, count);
    }

    void claim_once() {
        ClaimRequest request;
        request.worker = "w";
        request.handlers = {"mine"};
        const auto start = SteadyClock::now();
        const std::vector<Claim> claims = store_->claim(request);
        times_.push_back(milliseconds_since(start));
        if (std::ssize(claims) != request.limit) {
            throw std::runtime_error("a claim found less than there is");
        }
        std::vector<TaskRef> tasks;
        for (const Claim& claim : claims) tasks.push_back(claim.task);
        store_->release({"w", {}}, tasks);
    }

    double p50_ms() const { return median(times_); }

 private:
    Scratch scratch_;
    StorePtr store_;
    std::vector<double> times_;
};

}  // namespace

Figure flatness_figure(const PostgresServer& server) {
    Figure figure{
        .name = "pg_step_flatness",
        .unit = "ms/step",
        .yardstick = "a step near the 10th of an instance",
        .goal = 1.1,
        .note = "p50 of the last 500 of 10,000 steps; the goal is the most"
    };
    std::vector<double> ratios;
    for (int run = 0; run < kPostgresRuns; ++run) {
        const Ages ages = step_times(server);
        figure.runs.push_back(ages.old_ms);
        ratios.push_back(ages.old_ms / ages.young_ms);
    }
    figure.value = median(figure.runs);
    figure.ratio = median(ratios);
    return figure;
}

Figure sleeping_figure(const PostgresServer& server) {
    const double none = idle_cpu_ms(server, 0);
    const double many = idle_cpu_ms(server, 1'000'000);
    return {
        .name = "pg_sleeping",
        .value = many,
        .unit = "ms/s",
        .yardstick = fmt::format("the same with none: {:.2f} ms/s", none),
        .ratio = many / none,
        .goal = 1.2,
        .runs = {many},
        .note =
            "processor time of the server and of an idle worker, with 1,000,000 instances that "
            "wait for a time; the goal is the most"
    };
}

Figure backlog_figure(const PostgresServer& server) {
    Backlog few(server, 1'000);
    Backlog many(server, 1'000'000);
    // By turns, so that both see the same machine.
    for (int i = 0; i < 200; ++i) {
        few.claim_once();
        many.claim_once();
    }
    const double small = few.p50_ms();
    const double large = many.p50_ms();
    return {
        .name = "pg_claim_backlog",
        .value = large,
        .unit = "ms",
        .yardstick = fmt::format("the same with 1,000 of each: {:.3f} ms", small),
        .ratio = large / small,
        .goal = 1.2,
        .runs = {large},
        .note =
            "p50 of a claim of 64, with 1,000,000 due tasks of its own handler and as many of "
            "another; the goal is the most"
    };
}

}  // namespace ebb::bench
