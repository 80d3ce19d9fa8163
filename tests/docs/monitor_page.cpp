// The C++ of docs/how-to/monitor.md.

#include <iostream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ebb/ebb.h>
#include <ebb/metrics.h>
#include <ebb/telemetry.h>

namespace {

TEST(monitor_page, a_program_of_its_own_prints_its_metrics) {
    std::ostringstream out;
    std::streambuf* const before = std::cout.rdbuf(out.rdbuf());
    {
        //! [own]
        ebb::StorePtr store = ebb::open_memory_store();
        const auto metrics = ebb::make_metrics();
        const ebb::StorePtr measured = metrics->measure(*store);
        ebb::HandlerRegistry handlers;
        ebb::Engine engine(*measured, handlers);
        metrics->watch(engine);
        metrics->watch_store(engine);
        engine.run();

        std::cout << metrics->text();
        //! [own]
    }
    std::cout.rdbuf(before);
    EXPECT_THAT(out.str(), ::testing::HasSubstr("ebb_store_up 1\n"));
}

TEST(monitor_page, a_program_of_its_own_sends_traces) {
    ebb::StorePtr store = ebb::open_memory_store();
    ebb::HandlerRegistry handlers;
    ebb::Engine engine(*store, handlers);
    //! [traces]
    const auto traces =
        ebb::make_telemetry({.url = "http://127.0.0.1:4318/v1/traces", .service_name = "shop"});
    engine.add_observer(traces);
    //! [traces]
    EXPECT_EQ(traces->counters().exported, 0U);
}

}  // namespace
