// The code that docs/how-to/retention.md quotes.

#include <gtest/gtest.h>

#include <ebb/engine.h>

namespace {

TEST(RetentionPage, sets_how_long_instances_are_kept) {
    using std::chrono::days;
    const ebb::StorePtr store = ebb::open_memory_store();
    const ebb::HandlerRegistry handlers;
    ebb::Engine engine(*store, handlers);
    //! [set]
    engine.set_retention("*", {.completed = days(90), .failed = days(90)});
    engine.set_retention("order", {.completed = days(30)});  // failed orders are kept forever
    //! [set]
    const auto rules = engine.retention();
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[1].keep, (ebb::Retention{.completed = days(30)}));
}

}  // namespace
