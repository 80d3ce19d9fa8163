// Goal: a bucket says truly what is left of it and when there is more.
// Method: a clock that the test moves.

#include "server/api/rate_limit.h"

#include <gtest/gtest.h>

namespace ebb::server {
namespace {

using namespace std::chrono_literals;

class RateLimitTest : public ::testing::Test {
 protected:
    RateLimit::Share take() { return limit_.take("ann").value(); }

    ManualClock clock_{TimePoint{1'760'000'000s}};
    RateLimit limit_{2, 4, clock_};
};

TEST_F(RateLimitTest, SaysWhatIsLeftAndWhenTheBucketIsFullAgain) {
    const RateLimit::Share first = take();
    EXPECT_TRUE(first.is_granted);
    EXPECT_EQ(first.burst, 4);
    EXPECT_EQ(first.window, 2s);
    EXPECT_EQ(first.remaining, 3);
    EXPECT_EQ(first.reset, 500ms);

    for (int left = 2; left >= 0; --left) EXPECT_EQ(take().remaining, left);
    const RateLimit::Share refused = take();
    EXPECT_FALSE(refused.is_granted);
    EXPECT_EQ(refused.remaining, 0);
    EXPECT_EQ(refused.wait, 500ms);
    EXPECT_EQ(refused.reset, 2s);

    clock_.advance(500ms);
    EXPECT_TRUE(take().is_granted);
    EXPECT_EQ(limit_.take("bob")->remaining, 3) << "each name has its own";
}

TEST_F(RateLimitTest, HasNothingToSayWithoutALimit) {
    limit_.set(0, 0);
    EXPECT_FALSE(limit_.take("ann"));
}

TEST_F(RateLimitTest, WritesWholeSeconds) {
    take();
    const std::vector<http::Header> expected{
        {"RateLimit-Policy", "\"principal\";q=4;w=2"}, {"RateLimit", "\"principal\";r=2;t=1"}
    };
    EXPECT_EQ(rate_headers("principal", take()), expected);
}

}  // namespace
}  // namespace ebb::server
