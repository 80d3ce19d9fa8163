// Observers with a thread of their own.

#include <condition_variable>
#include <mutex>
#include <thread>

#include <ebb/ebb.h>
#include <ebb/interceptor.h>
#include <ebb/queued.h>

#include "engine_world.h"

namespace ebb::test {
namespace {

/// Notes each notice. It can be made to wait.
struct Slow final : WorkerObserver {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_open = true;
    bool is_waiting = false;
    std::vector<std::string> notes;

    void note(std::string text) {
        std::unique_lock lock(mutex);
        is_waiting = true;
        changed.notify_all();
        changed.wait(lock, [this] { return is_open; });
        is_waiting = false;
        notes.push_back(std::move(text));
        if (notes.back() == "end") throw std::runtime_error("no more");
    }

    void open() {
        const std::lock_guard lock(mutex);
        is_open = true;
        changed.notify_all();
    }

    void wait_until_it_waits() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return is_waiting; });
    }

    void on_call(const StepContext& step, const CallDelay& delay) override {
        note("call " + step.step + " " + std::string(delay.queue));
    }

    void on_start(const InstanceSummary&) override { note("start"); }

    void before_step(const StepContext& step, const Payload& input) override {
        note("before " + step.step + " " + input);
    }

    void after_step(const StepContext&, const CallEnd& end) override {
        note("after " + end.output);
    }

    void on_end(const InstanceSummary&) override { note("end"); }

    void on_committed(const InstanceSummary&, std::span<const HistoryEntry> events) override {
        note("committed " + events.front().type);
    }
};

struct Queued : ::testing::Test {
    EngineWorld world;
    std::shared_ptr<Slow> slow = std::make_shared<Slow>();

    void SetUp() override { world.record({"a"}); }

    std::unique_ptr<Engine> engine(const std::shared_ptr<Observer>& observer) {
        auto engine = world.engine();
        engine->add_observer(observer);
        engine->register_workflow(workflow({step("a", {.is_compensated = false})}));
        return engine;
    }
};

TEST_F(Queued, every_notice_arrives_in_order_while_the_engine_goes_on) {
    slow->is_open = false;
    const auto queue = queued(slow);
    const auto engine = this->engine(queue);
    const InstanceId id = engine->start("test", 1).id;
    engine->poll();
    EXPECT_EQ(status(*engine, id), "completed") << "the engine does not wait";
    EXPECT_FALSE(queue->flush(1ms));
    slow->open();
    EXPECT_TRUE(queue->flush(Duration::max()));
    const std::vector<std::string> expected{
        "start",
        "committed started",
        "call a default",
        "before a 1",
        "after 1",
        "end",
        "committed step_completed",
    };
    EXPECT_EQ(slow->notes, expected);
    EXPECT_EQ(queue->failed(), 1U) << "the exception ends nothing";
    EXPECT_EQ(queue->dropped(), 0U);
}

TEST_F(Queued, what_does_not_fit_is_dropped_and_counted) {
    slow->is_open = false;
    const auto queue = queued(slow, {.capacity = 2});
    queue->on_start({});
    slow->wait_until_it_waits();
    for (int i = 0; i < 5; ++i) queue->on_start({});
    EXPECT_EQ(queue->dropped(), 3U);
    slow->open();
    EXPECT_TRUE(queue->flush(1min));
    EXPECT_EQ(slow->notes.size(), 3U);
}

TEST_F(Queued, or_the_engine_waits_until_there_is_room) {
    slow->is_open = false;
    const auto queue = queued(slow, {.capacity = 1, .overflow = QueuedOptions::Overflow::Wait});
    std::jthread engine([&] {
        for (int i = 0; i < 50; ++i) queue->on_start({});
    });
    slow->wait_until_it_waits();
    slow->open();
    engine.join();
    EXPECT_TRUE(queue->flush(1min));
    EXPECT_EQ(slow->notes.size(), 50U);
    EXPECT_EQ(queue->dropped(), 0U);
}

TEST_F(Queued, its_end_waits_for_what_is_left) {
    {
        const auto queue = queued(slow);
        for (int i = 0; i < 100; ++i) queue->on_start({});
    }
    EXPECT_EQ(slow->notes.size(), 100U);
}

TEST_F(Queued, what_may_refuse_cannot_be_queued) {
    EXPECT_THROW(queued(std::make_shared<Interceptor>()), Error);
    EXPECT_THROW(queued(nullptr), Error);
    EXPECT_THROW(queued(slow, {.capacity = 0}), Error);
}

}  // namespace
}  // namespace ebb::test
