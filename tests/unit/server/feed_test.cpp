// Goal: what many streams show is read from the store once, and costs a bounded share of the time.
// Method: a feed over a counting store in memory, by a clock that the test moves.

#include "server/live/feed.h"

#include <gtest/gtest.h>

#include <ebb/builder.h>
#include <ebb/engine.h>

#include "support/store_counting.h"

namespace ebb::server {
namespace {

using namespace std::chrono_literals;
using testing::CountingStore;

class FeedTest : public ::testing::Test {
 protected:
    FeedTest() {
        engine_.register_workflow(WorkflowBuilder("waiting").signal("go").build());
        id_ = engine_.start("waiting", Payload::text("{}")).id;
        counting_.reset();
    }

    /// The text of a state whose maker takes so long.
    const Feed::State& ask(Duration took = Duration::zero()) {
        return feed_.state("list", [&] {
            ++made_;
            clock_.advance(took);
            return text_;
        });
    }

    ManualClock clock_{TimePoint{1'760'000'000s}};
    StorePtr store_ = open_memory_store({.clock = &clock_});
    CountingStore counting_{*store_};
    HandlerRegistry handlers_;
    Engine engine_{*store_, handlers_, {.clock = &clock_}};
    InstanceId id_;
    Feed feed_{counting_, clock_};
    std::string text_ = "one";
    int made_ = 0;
};

TEST_F(FeedTest, ReadsAnInstanceAndItsHistoryOnceInARound) {
    feed_.begin_round(false);
    for (int stream = 0; stream < 1'000; ++stream) {
        ASSERT_TRUE(feed_.instance(id_));
        ASSERT_FALSE(feed_.history(id_, 0).empty());
    }
    EXPECT_EQ(counting_.total(), 2);

    engine_.pause(id_);
    feed_.begin_round(false);
    EXPECT_EQ(feed_.instance(id_)->status, InstanceStatus::Paused);
    EXPECT_EQ(counting_.total(), 3);
}

TEST_F(FeedTest, KnowsThatAnInstanceDoesNotExist) {
    feed_.begin_round(false);
    EXPECT_FALSE(feed_.instance(InstanceId{}));
    EXPECT_FALSE(feed_.instance(InstanceId{}));
    EXPECT_EQ(counting_.total(), 1);
}

TEST_F(FeedTest, MakesAStateAgainAfterAChangeOrASecond) {
    feed_.begin_round(true);
    const std::uint64_t first = ask().version;
    ask();
    EXPECT_EQ(made_, 1);

    feed_.begin_round(true);
    EXPECT_EQ(ask().version, first) << "the text is the same";
    EXPECT_EQ(made_, 2);

    text_ = "two";
    feed_.begin_round(false);
    EXPECT_EQ(ask().text, "one");
    clock_.advance(1s);
    EXPECT_EQ(ask().text, "two");
    EXPECT_NE(ask().version, first);
    EXPECT_EQ(made_, 3);
}

TEST_F(FeedTest, MakesAnExpensiveStateLessOften) {
    feed_.begin_round(true);
    ask(500ms);
    text_ = "two";
    clock_.advance(9s);
    feed_.begin_round(true);
    EXPECT_EQ(ask(500ms).text, "one");
    clock_.advance(1s);
    EXPECT_EQ(ask(500ms).text, "two");
    EXPECT_EQ(made_, 2);
}

}  // namespace
}  // namespace ebb::server
