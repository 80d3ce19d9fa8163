// Observers: which notifications they get, in which order, and that an observer disturbs neither
// the others nor the instance. The tests give the same observer to both engines, which must send
// the same notifications.

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/engine.h>
#include <ebb/log.h>
#include <ebb/observer.h>
#include <ebb/stateless.h>

#include "store/memory/memory_store.h"
#include "support/clock.h"
#include "support/flow.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

using Notes = std::vector<std::string>;

class NotingObserver : public Observer {
 public:
    explicit NotingObserver(Notes& notes, std::string name = {})
        : notes_(notes), name_(std::move(name)) {}

    void on_start(const InstanceSummary& instance) override {
        note("start " + std::string(to_string(instance.status)));
    }

    void before_step(const StepContext& step, const Payload& input) override {
        note("before " + step.step + " " + input);
    }

    void after_step(const StepContext& step, const CallEnd& end) override {
        note(
            "after " + step.step + " " + (end.is_completed ? std::string(end.output) : end.message)
        );
    }

    void on_retry_scheduled(const InstanceSummary&, const HistoryEntry& event, TimePoint due)
        override {
        note("retry " + event.node + " in " + format_duration(due - event.at));
    }

    void on_error(const InstanceSummary&, const HistoryEntry& event) override {
        note("error " + event.node);
    }

    void on_pause(const InstanceSummary&, const HistoryEntry& event) override {
        note("pause " + event.type);
    }

    void on_resume(const InstanceSummary&, const HistoryEntry& event) override {
        note("resume " + event.type);
    }

    void on_end(const InstanceSummary& instance) override {
        note("end " + std::string(to_string(instance.status)));
    }

    void on_committed(const InstanceSummary&, std::span<const HistoryEntry> events) override {
        note("committed " + std::to_string(events.size()));
    }

 private:
    void note(const std::string& text) { notes_.push_back(name_ + text); }

    Notes& notes_;
    const std::string name_;
};

class FailingObserver : public Observer {
 public:
    void before_step(const StepContext&, const Payload&) override { throw 1; }

    void after_step(const StepContext&, const CallEnd&) override {
        throw std::runtime_error("an observer's fault is its own");
    }

    void on_retry_scheduled(const InstanceSummary&, const HistoryEntry&, TimePoint) override {
        throw std::runtime_error("soon");
    }

    void on_committed(const InstanceSummary&, std::span<const HistoryEntry>) override {
        throw std::runtime_error("again");
    }
};

class RecordingLog : public LogSink {
 public:
    std::vector<std::string> lines;

    bool is_enabled(LogLevel) const noexcept override { return true; }

    void write(
        LogLevel, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        std::string line(event);
        for (const LogField& field : fields) {
            if (field.key != "instance") line += fmt::format(" {}={}", field.key, field.value);
        }
        lines.push_back(std::move(line));
    }
};

HandlerRegistry flaky_handlers() {
    HandlerRegistry handlers;
    handlers.add_raw("a", [n = 0](const Payload& input, const StepContext&) mutable {
        if (n++ == 0) throw std::runtime_error("boom");
        return input;
    });
    handlers.add_raw("b", Handler([](const Payload&, const StepContext&) -> Payload {
                         throw PermanentError("no");
                     }));
    return handlers;
}

Definition definition() {
    return workflow(
        {step("a", {.is_compensated = false, .max_attempts = 2}),
         node("go", Signal{}),
         step("b", {.is_compensated = false})}
    );
}

const Notes kWanted = {
    "start running",
    "committed 1",
    "before a 1",
    "after a boom",
    "retry a in 1s",
    "committed 1",
    "before a 1",
    "after a 1",
    "pause signal_awaited",
    "committed 2",
    "resume signal_completed",
    "committed 2",
    "before b 2",
    "after b no",
    "error b",
    "end failed",
    "committed 4",
};

TEST(Observers, get_all_notifications_in_order_from_the_stateless_engine) {
    const HandlerRegistry handlers = flaky_handlers();
    ManualClock clock(TimePoint(1h));
    Notes notes;
    stateless::EngineOptions options;
    options.clock = &clock;
    stateless::Engine engine(handlers, options);
    engine.add(definition());
    engine.add_observer(std::make_shared<NotingObserver>(notes));
    auto snapshot = engine.execute(engine.start("test", Payload::text("1")));
    clock.advance(1s);
    snapshot = engine.execute(std::move(snapshot));
    engine.execute(std::move(snapshot), {.payload = "2"});
    EXPECT_EQ(notes, kWanted);
}

TEST(Observers, get_the_same_notifications_from_the_durable_engine) {
    const HandlerRegistry handlers = flaky_handlers();
    ManualClock clock(TimePoint(1h));
    const auto store = make_memory_store(clock);
    Notes notes;
    Engine engine(*store, handlers, {.worker_id = "w", .clock = &clock});
    engine.add_observer(std::make_shared<NotingObserver>(notes));
    engine.register_workflow(definition());
    const InstanceId id = engine.start("test", Payload::text("1")).id;
    engine.poll();
    clock.advance(1s);
    engine.poll();
    engine.signal(id, "go", Payload::text("2"));
    engine.poll();
    EXPECT_EQ(notes, kWanted);
}

/// The notifications about the waits of a step that pauses twice, if the second payload comes
/// before the step has paused.
const Notes kPauses = {
    "pause signal_awaited",
    "resume signal_received",
    "pause signal_awaited",
    "resume signal_awaited",
    "end completed",
};

/// Pauses twice. `early` is called before the second pause.
HandlerRegistry pausing_handlers(std::function<void()> early) {
    HandlerRegistry handlers;
    handlers.add_raw(
        "a",
        [early = std::move(early),
         n = 0](const Payload& input, const StepContext& context) mutable {
            if (++n == 2) early();
            if (n <= 2) context.pause();
            return input;
        }
    );
    return handlers;
}

Notes waits_and_end(const Notes& notes) {
    Notes found;
    std::copy_if(
        notes.begin(),
        notes.end(),
        std::back_inserter(found),
        [](const std::string& note) {
            return note.starts_with("pause") || note.starts_with("resume") ||
                   note.starts_with("end");
        }
    );
    return found;
}

TEST(Observers, are_notified_when_a_paused_step_continues) {
    Engine* running = nullptr;
    InstanceId id;
    const HandlerRegistry handlers =
        pausing_handlers([&] { running->signal(id, "a", Payload::text("2")); });
    ManualClock clock(TimePoint(1h));
    const auto store = make_memory_store(clock);
    Notes notes;
    Engine engine(*store, handlers, {.worker_id = "w", .clock = &clock});
    running = &engine;
    engine.add_observer(std::make_shared<NotingObserver>(notes));
    engine.register_workflow(workflow({step("a", {.is_compensated = false})}));
    id = engine.start("test", Payload::text("1")).id;
    engine.poll();
    engine.signal(id, "a", Payload::text("1"));
    engine.poll();
    EXPECT_EQ(waits_and_end(notes), kPauses);
}

TEST(Observers, an_observer_that_throws_disturbs_neither_the_next_nor_the_instance) {
    const HandlerRegistry handlers = flaky_handlers();
    Notes notes;
    stateless::Engine engine(handlers);
    engine.add(workflow({step("a", {.is_compensated = false, .max_attempts = 2})}));
    engine.add_observer(std::make_shared<NotingObserver>(notes, "1:"));
    engine.add_observer(std::make_shared<FailingObserver>());
    engine.add_observer(std::make_shared<NotingObserver>(notes, "2:"));
    const auto snapshot =
        engine.execute(engine.start("test", Payload::text("1")), {.retry_now = true});
    EXPECT_EQ(snapshot.status(), stateless::SnapshotStatus::Completed);
    ASSERT_GT(notes.size(), 4U);
    EXPECT_EQ(notes[0], "1:start running");
    EXPECT_EQ(notes[1], "2:start running") << "in the order in which they were added";
    EXPECT_EQ(std::count(notes.begin(), notes.end(), "1:after a 1"), 1);
    EXPECT_EQ(std::count(notes.begin(), notes.end(), "2:after a 1"), 1);
}

TEST(Observers, what_an_observer_throws_is_logged_with_its_class_its_function_and_the_event) {
    const HandlerRegistry handlers = flaky_handlers();
    ManualClock clock(TimePoint(1h));
    const auto store = make_memory_store(clock);
    RecordingLog log;
    Engine engine(*store, handlers, {.worker_id = "w", .clock = &clock, .log = &log});
    engine.add_observer(std::make_shared<FailingObserver>());
    engine.add_observer(make_observer([](const InstanceSummary&, std::span<const HistoryEntry>) {
        throw std::runtime_error("no");
    }));
    engine.register_workflow(definition());
    engine.start("test", Payload::text("1"));
    engine.poll();
    const auto has = [&](const std::string& line) {
        return std::count(log.lines.begin(), log.lines.end(), "observer_failed observer=" + line);
    };
    const std::string failing = "ebb::test::(anonymous namespace)::FailingObserver function=";
    EXPECT_EQ(has(failing + "before_step error=an exception that is not a std::exception"), 1);
    EXPECT_EQ(has(failing + "after_step error=an observer's fault is its own"), 1);
    EXPECT_EQ(has(failing + "on_retry_scheduled history_event=step_retried error=soon"), 1);
    EXPECT_EQ(has(failing + "on_committed error=again"), 2);
    EXPECT_EQ(has("ebb::make_observer function=on_committed error=no"), 2);
}

TEST(Observers, null_means_no_observer) {
    const HandlerRegistry handlers;
    stateless::Engine engine(handlers);
    EXPECT_THROW(engine.add_observer(nullptr), Error);
}

}  // namespace
}  // namespace ebb::test
