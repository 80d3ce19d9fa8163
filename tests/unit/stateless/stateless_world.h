#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/clock.h>
#include <ebb/stateless.h>

#include "support/flow.h"

namespace ebb::test {

using namespace std::chrono_literals;
using stateless::Snapshot;
using stateless::SnapshotStatus;
using Keep = stateless::HistoryPolicy::Keep;

/// A registry whose handlers note their calls, a clock that only the test moves, and
/// engines over them.
struct StatelessWorld {
    ManualClock clock{TimePoint(std::chrono::seconds(1'800'000'000))};
    HandlerRegistry handlers;
    std::vector<std::string> calls;
    /// What a handler does instead of passing its input on.
    std::map<std::string, std::function<Payload(const Payload&, const StepContext&)>> acts;

    explicit StatelessWorld(const std::vector<std::string>& names = {"a", "b", "c", "d"}) {
        for (const std::string& name : names) {
            for (const std::string& each : {name, "~" + name}) {
                handlers.add_raw(
                    each,
                    [this, each](const Payload& input, const StepContext& context) {
                        calls.push_back(each);
                        const auto act = acts.find(each);
                        return act == acts.end() ? input : act->second(input, context);
                    }
                );
            }
        }
    }

    stateless::EngineOptions options(stateless::HistoryPolicy policy = {}) {
        stateless::EngineOptions options{.history = policy};
        options.clock = &clock;
        return options;
    }

    stateless::Engine engine(const Definition& definition, stateless::HistoryPolicy policy = {}) {
        stateless::Engine engine(handlers, options(policy));
        engine.add(definition);
        return engine;
    }

    /// The handler fails this often, then passes its input on.
    void fails(const std::string& handler, int times) {
        acts[handler] = [left = times](const Payload& input, const StepContext&) mutable {
            if (left-- > 0) throw std::runtime_error("boom");
            return input;
        };
    }

    std::string calls_text() const {
        std::string text;
        for (const std::string& call : calls) text += (text.empty() ? "" : " ") + call;
        return text;
    }
};

inline Json json_of(const Snapshot& snapshot) {
    return Json::parse(snapshot.to_json());
}

inline void expect_error(
    ErrorCode code, const std::string& part, const std::function<void()>& act
) {
    try {
        act();
        ADD_FAILURE() << "nothing was thrown; expected: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
}

}  // namespace ebb::test
