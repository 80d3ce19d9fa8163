// A bucket per name: what it allows at once, how it fills as time passes, and that it stays
// bounded. Time is a ManualClock's.

#include "server/api/rate_limit.h"

#include "support/pch.h"

namespace ebb::server {
namespace {

class Rates : public testing::Test {
 protected:
    /// How many of `tries` requests in a row are allowed.
    int allowed(RateLimit& limit, const std::string& name, int tries) {
        int count = 0;
        for (int i = 0; i < tries; ++i) count += limit.take(name) ? 0 : 1;
        return count;
    }

    ManualClock clock_{TimePoint(std::chrono::hours(1))};
};

TEST_F(Rates, a_burst_is_allowed_and_then_what_time_brings) {
    RateLimit limit(10, 20, clock_);
    EXPECT_EQ(allowed(limit, "ann", 100), 20);
    EXPECT_EQ(limit.take("ann"), std::chrono::milliseconds(100));
    clock_.advance(std::chrono::milliseconds(300));
    EXPECT_EQ(allowed(limit, "ann", 100), 3);
    clock_.advance(std::chrono::hours(1));
    EXPECT_EQ(allowed(limit, "ann", 100), 20) << "a bucket holds no more than a burst";
}

TEST_F(Rates, each_name_has_a_bucket_of_its_own) {
    RateLimit limit(1, 2, clock_);
    EXPECT_EQ(allowed(limit, "ann", 5), 2);
    EXPECT_EQ(allowed(limit, "bob", 5), 2);
}

TEST_F(Rates, a_clock_that_is_set_back_neither_gives_nor_takes) {
    RateLimit limit(1, 2, clock_);
    EXPECT_EQ(allowed(limit, "ann", 5), 2);
    clock_.jump(-std::chrono::hours(5));
    EXPECT_EQ(allowed(limit, "ann", 5), 0);
    clock_.advance(std::chrono::seconds(1));
    EXPECT_EQ(allowed(limit, "ann", 5), 1);
}

TEST_F(Rates, zero_is_no_limit_and_a_new_limit_holds_at_once) {
    RateLimit limit(0, 0, clock_);
    EXPECT_EQ(allowed(limit, "ann", 1'000), 1'000);
    limit.set(1, 2);
    EXPECT_EQ(allowed(limit, "ann", 5), 2);
    limit.set(0, 0);
    EXPECT_EQ(allowed(limit, "ann", 5), 5);
}

TEST_F(Rates, names_that_are_quiet_are_forgotten_and_those_that_are_not_stay_limited) {
    RateLimit limit(1, 2, clock_);
    const auto names = static_cast<int>(RateLimit::kNamesMax);
    for (int i = 0; i < names - 1; ++i) limit.take("quiet" + std::to_string(i));
    EXPECT_EQ(allowed(limit, "loud", 5), 2);
    EXPECT_EQ(allowed(limit, "one too many", 5), 5) << "memory is bounded";
    clock_.advance(std::chrono::seconds(1));
    EXPECT_EQ(allowed(limit, "new", 5), 2) << "the quiet ones have made room";
    EXPECT_EQ(allowed(limit, "loud", 5), 1);
}

}  // namespace
}  // namespace ebb::server
