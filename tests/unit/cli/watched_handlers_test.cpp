// The wrapper that shows calls changes nothing else about handlers: it is compared with what it
// wraps, and each handler is called.

#include "cli/watched_handlers.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ebb/clock.h>
#include <ebb/completion.h>

namespace ebb::cli {

namespace {

TEST(WatchedHandlers, stay_asynchronous_and_keep_their_grace) {
    HandlerRegistry handlers;
    handlers.add_raw("plain", [](const Payload&, const StepContext&) { return Payload("1"); });
    handlers.add_async_raw("later", [](const Payload& input, const detail::CompletionPtr& call) {
        Completion<Payload>(call).complete(input);
    });
    handlers.set_grace("later", std::chrono::seconds(7));
    std::vector<std::string> begun;
    const SystemClock clock;
    const HandlerRegistry watched = watch_handlers(handlers, clock, [&](const CallStarted& call) {
        begun.push_back(call.node);
    });

    EXPECT_EQ(watched.find_async("plain"), nullptr);
    ASSERT_NE(watched.find_async("later"), nullptr);
    EXPECT_EQ(watched.grace("later"), std::chrono::seconds(7));
    StepContext context;
    for (const char* name : {"plain", "later"}) {
        context.step = name;
        (*watched.find(name))(Payload("2"), context);
    }
    EXPECT_EQ(begun, (std::vector<std::string>{"plain", "later"}));
}

}  // namespace

}  // namespace ebb::cli
