// Goal: work wakes no more threads than there is work for, and all of it is done. Method: work that
// blocks until the test lets it go.

#include "server/api/pool.h"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "support/clock.h"

namespace ebb::server {
namespace {

TEST(Pool, WakesAThreadOnlyIfOneSleepsAndNoneIsWakingUp) {
    constexpr int kThreads = 4;
    constexpr int kWork = 100;
    const SystemClock clock;
    Pool pool({.threads = kThreads, .queue_max = kWork, .wait_max = std::chrono::hours(1)}, clock);
    std::promise<void> go;
    const std::shared_future<void> gone = go.get_future().share();
    std::atomic<int> begun{0};
    std::atomic<int> done{0};
    const auto work = [&] {
        ++begun;
        gone.wait();
        ++done;
    };
    for (int i = 0; i < kWork; ++i) ASSERT_TRUE(pool.post(work, work));
    while (begun < kThreads) std::this_thread::yield();
    // A thread that begins may take the work of one that is waking up, which then sleeps again.
    EXPECT_LE(pool.wakeups(), std::uint64_t{2 * kThreads});
    go.set_value();
    pool.stop();
    EXPECT_EQ(done, kWork);
}

}  // namespace
}  // namespace ebb::server
