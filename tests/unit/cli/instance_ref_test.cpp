// Every beginning of every id finds its instance: many ids, so that all last digits occur.

#include "cli/instance_ref.h"

#include <set>

#include <ebb/clock.h>
#include <ebb/engine.h>

namespace ebb::cli {
namespace {

TEST(CliInstanceRef, the_beginning_of_any_id_finds_it) {
    const SystemClock clock;
    const StorePtr store = open_memory_store();
    const HandlerRegistry handlers;
    Engine engine(*store, handlers);
    const auto client = make_local_client(engine, *store, clock);
    engine.register_workflow({.name = "w", .steps = {{.name = "s", .kind = Signal{}}}});
    std::set<char> last_digits;
    constexpr int kInstancesMax = 2'000;
    for (int i = 0; i < kInstancesMax && last_digits.size() < 16; ++i) {
        const InstanceId id = engine.start("w").id;
        const std::string text = id.to_string();
        last_digits.insert(text.back());
        EXPECT_EQ(resolve_instance(*client, text), id);
        try {
            EXPECT_EQ(resolve_instance(*client, text.substr(0, 35)), id) << text;
        } catch (const Error& error) {
            // Two ids may differ in the last digit only; then both are named.
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument) << text;
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos);
        }
    }
    EXPECT_EQ(last_digits.size(), 16U);
}

}  // namespace
}  // namespace ebb::cli
