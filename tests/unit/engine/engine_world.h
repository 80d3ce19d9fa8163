#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <ebb/engine.h>

#include "store/memory/memory_store.h"
#include "support/clock.h"
#include "support/flow.h"

namespace ebb::test {

using namespace std::chrono_literals;

/// One memory store, one clock that only the test moves, and as many engines as wanted:
/// whole clusters in one thread.
struct EngineWorld {
    ManualClock clock{TimePoint(std::chrono::hours(24 * 365 * 50))};
    StorePtr memory = make_memory_store(clock);
    Store* store = memory.get();  ///< what engines get: a test may put a decorator around it
    HandlerRegistry handlers;
    std::vector<std::string> calls;  ///< of the handlers made by `record`

    EngineOptions options(std::string worker = "w1") {
        EngineOptions options;
        options.worker_id = std::move(worker);
        options.clock = &clock;
        options.threads = 2;
        return options;
    }

    std::unique_ptr<Engine> engine(std::string worker = "w1") {
        return std::make_unique<Engine>(*store, handlers, options(std::move(worker)));
    }

    /// Handlers that note their call and pass their input on, with those that undo them.
    void record(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            for (const std::string& each : {name, "~" + name}) {
                handlers.add_raw(each, [this, each](const Payload& input, const StepContext&) {
                    calls.push_back(each);
                    return input;
                });
            }
        }
    }

    std::string calls_text() const {
        std::string text;
        for (const std::string& call : calls) text += (text.empty() ? "" : " ") + call;
        return text;
    }

    /// Polls and moves the clock to what is due next, until nothing is due within `horizon`.
    void run(Engine& engine, Duration horizon = std::chrono::hours(24 * 400)) {
        const TimePoint end = clock.now() + horizon;
        for (int i = 0; i < 100'000; ++i) {
            engine.poll();
            const TimePoint due = engine.next_due();
            if (due > end) return;
            if (due > clock.now()) clock.set(due);
        }
        FAIL() << "the engine does not come to rest";
    }
};

/// `type:node` of every event.
inline std::string history_text(Engine& engine, const InstanceId& id) {
    std::string text;
    for (const HistoryEntry& entry : engine.history(id)) {
        if (!text.empty()) text += ' ';
        text += entry.type;
        if (!entry.node.empty()) text += ":" + entry.node;
    }
    return text;
}

inline std::string status(Engine& engine, const InstanceId& id) {
    return std::string(to_string(engine.find(id)->status));
}

}  // namespace ebb::test
