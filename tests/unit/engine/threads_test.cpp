// The engine with threads of its own: many instances, several engines, nothing lost and nothing
// done twice. Run it under the thread sanitizer, too.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "engine_world.h"
#include "support/store_decorator.h"

namespace ebb::test {
namespace {

struct Threads : ::testing::Test {
    SystemClock clock;
    StorePtr store = make_memory_store(clock);
    HandlerRegistry handlers;
    std::mutex mutex;
    std::map<std::string, int> calls;  // by idempotency key

    void SetUp() override {
        for (const char* name : {"a", "b", "c", "~a", "~b", "~c"}) {
            handlers.add_raw(name, [this](const Payload& input, const StepContext& context) {
                const std::lock_guard lock(mutex);
                ++calls[context.idempotency_key];
                return input;
            });
        }
    }

    EngineOptions options(std::string worker, int threads = 4) {
        EngineOptions options;
        options.worker_id = std::move(worker);
        options.threads = threads;
        return options;
    }

    void expect_each_called_once(std::size_t count) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(calls.size(), count);
        for (const auto& [key, times] : calls) EXPECT_EQ(times, 1) << key;
    }
};

TEST_F(Threads, a_thousand_instances_complete_exactly_once) {
    Engine engine(*store, handlers, options("one"));
    engine.register_workflow(workflow({step("a"), step("b"), step("c")}));
    engine.run();
    const std::vector<Payload> inputs(1'000, "1");
    for (const StartedInstance& started : engine.start_all("test", inputs)) {
        EXPECT_EQ(engine.wait(started.id, 60s).status, "completed");
    }
    expect_each_called_once(3'000);
    EXPECT_TRUE(engine.drain(10s)) << "the store may show the end before the counters do";
    const EngineCounters counters = engine.counters();
    EXPECT_EQ(counters.steps, 3'000U);
    EXPECT_EQ(counters.finished, 1'000U);
    EXPECT_LT(counters.commits, 3'000U) << "steps share commits under load";
}

TEST_F(Threads, do_not_look_for_what_only_others_can_run) {
    EngineOptions seldom = options("one");
    seldom.poll_min = seldom.poll_max = 1h;
    Engine engine(*store, handlers, seldom);
    Definition others = workflow({step("elsewhere")});
    others.name = "others";
    engine.register_workflow(others);
    engine.register_workflow(workflow({step("a")}));
    engine.run();
    constexpr int kStarts = 50;
    for (int i = 0; i < kStarts; ++i) {
        engine.start("others", 1);
        EXPECT_EQ(engine.wait(engine.start("test", 1).id, 60s).status, "completed");
    }
    // It looks at the beginning, and perhaps if it could not keep a task of its own.
    EXPECT_LT(engine.counters().claims, std::uint64_t{kStarts} / 2);
}

TEST_F(Threads, two_engines_share_the_work_and_no_step_is_committed_twice) {
    Engine one(*store, handlers, options("one", 2));
    Engine two(*store, handlers, options("two", 2));
    one.register_workflow(
        workflow({parallel("both", {{"left", {step("a")}}, {"right", {step("b")}}}), step("c")})
    );
    one.run();
    two.run();
    std::vector<InstanceId> ids;
    std::mutex ids_mutex;
    {
        std::vector<std::jthread> starters;
        for (Engine* engine : {&one, &two}) {
            starters.emplace_back([&, engine] {
                for (int i = 0; i < 100; ++i) {
                    const InstanceId id = engine->start("test").id;
                    const std::lock_guard lock(ids_mutex);
                    ids.push_back(id);
                }
            });
        }
    }
    for (const InstanceId& id : ids) EXPECT_EQ(two.wait(id, 60s).status, "completed");
    expect_each_called_once(600);
    EXPECT_TRUE(one.drain(10s));
    EXPECT_TRUE(two.drain(10s));
    EXPECT_EQ(one.counters().steps + two.counters().steps, 600U);
}

TEST_F(Threads, people_steer_while_it_runs) {
    Engine engine(*store, handlers, options("one"));
    engine.register_workflow(workflow({step("a"), node("ask", HumanDecision{}), step("b")}));
    engine.run();
    std::vector<InstanceId> ids;
    for (int i = 0; i < 60; ++i) ids.push_back(engine.start("test").id);
    std::vector<std::jthread> people;
    for (std::size_t person = 0; person < 3; ++person) {
        people.emplace_back([&, person] {
            for (std::size_t i = person; i < ids.size(); i += 3) {
                if (person == 0) engine.cancel(ids[i]);
                if (person == 1) engine.abort(ids[i]);
                if (person != 2) continue;
                while (true) {
                    try {
                        engine.decide(ids[i], {.by = "ann"});
                        break;
                    } catch (const Error& error) {
                        ASSERT_EQ(error.code(), ErrorCode::NotWaiting);
                        std::this_thread::yield();
                    }
                }
            }
        });
    }
    people.clear();
    const std::string expected[] = {"cancelled", "aborted", "completed"};
    for (std::size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ(engine.wait(ids[i], 60s).status, expected[i % 3]);
    }
}

TEST_F(Threads, a_waiting_thread_is_notified_of_the_end_by_another_engine) {
    const HandlerRegistry none;
    Engine client(*store, none, options("client"));
    Engine worker(*store, handlers, options("worker"));
    client.register_workflow(workflow({step("a")}));
    const InstanceId id = client.start("test").id;
    EXPECT_EQ(client.wait(id, 0s).status, "running");
    worker.run();
    EXPECT_EQ(client.wait(id, 60s).status, "completed");
}

TEST_F(Threads, the_observer_sees_every_event_once_and_in_order) {
    Engine engine(*store, handlers, options("one"));
    engine.register_workflow(
        workflow({parallel("both", {{"left", {step("a")}}, {"right", {step("b")}}}), step("c")})
    );
    std::map<InstanceId, std::vector<std::int64_t>> seen;
    std::string last_status;
    engine.add_observer(make_observer([&](const InstanceSummary& instance,
                                          std::span<const HistoryEntry> events) {
        for (const HistoryEntry& event : events) seen[instance.id].push_back(event.seq);
        last_status = to_string(instance.status);
        throw std::runtime_error("an observer's fault is its own");
    }));
    engine.run();
    std::vector<InstanceId> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(engine.start("test").id);
    for (const InstanceId& id : ids) EXPECT_EQ(engine.wait(id, 60s).status, "completed");
    EXPECT_TRUE(engine.drain(10s));
    EXPECT_EQ(last_status, "completed");
    for (const InstanceId& id : ids) {
        const auto history = engine.history(id);
        ASSERT_EQ(seen[id].size(), history.size());
        for (std::size_t i = 0; i < history.size(); ++i) EXPECT_EQ(seen[id][i], history[i].seq);
    }
}

/// Gives out no task, from when it is closed until a worker commits.
class ClosedStore : public testing::StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::atomic<bool> is_closed{false};

    std::vector<Claim> claim(const ClaimRequest& request) override {
        return is_closed ? std::vector<Claim>() : StoreDecorator::claim(request);
    }

 protected:
    void before(testing::StoreVerb verb) override {
        if (verb == testing::StoreVerb::Commit) is_closed = false;
    }
};

TEST_F(Threads, a_handler_that_stops_because_its_lease_is_lost_has_not_failed) {
    ClosedStore closed(*store);
    std::atomic<int> calls_of_slow{0};
    handlers.add_raw("slow", [&](const Payload& input, const StepContext& context) {
        if (++calls_of_slow > 1) return input;
        // The store no longer knows this worker; its next heartbeat shows that.
        closed.is_closed = true;
        store->sign_off({"one", store->workers().at(0).started_at});
        while (!context.stop.stop_requested()) std::this_thread::yield();
        throw std::runtime_error("stopped");
    });
    Engine engine(closed, handlers, options("one"));
    engine.register_workflow(workflow({step("slow", {.is_compensated = false, .max_attempts = 1})})
    );
    engine.run();
    const InstanceId id = engine.start("test").id;
    EXPECT_EQ(engine.wait(id, 60s).status, "completed");
    EXPECT_EQ(history_text(engine, id), "started lease_lost:slow step_completed:slow completed");
    EXPECT_EQ(calls_of_slow, 2);
}

/// The most tasks that one claim has brought.
class CountingStore : public testing::StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::atomic<std::size_t> most{0};

    std::vector<Claim> claim(const ClaimRequest& request) override {
        std::vector<Claim> claims = StoreDecorator::claim(request);
        most = std::max(most.load(), claims.size());
        return claims;
    }
};

TEST_F(Threads, an_engine_with_one_thread_claims_many_of_its_own_tasks_at_once) {
    constexpr std::size_t kTimers = 40;
    std::vector<StartedInstance> started;
    {
        Engine starter(*store, handlers, options("starter"));
        starter.register_workflow(workflow({node("rest", Delay{.duration = "1ms", .until = {}})}));
        started = starter.start_all("test", std::vector<Payload>(kTimers, "1"));
    }
    // All timers are due before the other engine looks.
    const TimePoint due = clock.now() + 2ms;
    while (clock.now() < due) std::this_thread::yield();
    CountingStore counting(*store);
    const HandlerRegistry none;
    Engine engine(counting, none, options("one", 1));
    engine.run();
    for (const StartedInstance& one : started) {
        EXPECT_EQ(engine.wait(one.id, 60s).status, "completed");
    }
    EXPECT_GE(counting.most, kTimers / 2);
}

TEST_F(Threads, an_engine_with_threads_is_not_polled) {
    Engine engine(*store, handlers, options("one"));
    engine.run();
    engine.run();
    EXPECT_THROW(engine.poll(), Error);
    EXPECT_THROW(engine.run_one(), Error);
}

}  // namespace
}  // namespace ebb::test
