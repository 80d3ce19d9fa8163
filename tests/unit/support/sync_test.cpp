// Goal: Mutex, Lock and CondVar are std's, and a failed assertion stops the program and says why.
// Method: two threads hand a value over; a death test.
#include "support/sync.h"

#include <thread>

#include "support/assert.h"

namespace ebb {
namespace {

class Slot {
 public:
    void put(int value) {
        {
            const Lock lock(mutex_);
            value_ = value;
        }
        changed_.notify_one();
    }

    int take() {
        Lock lock(mutex_);
        while (!value_) changed_.wait(lock);
        return *std::exchange(value_, std::nullopt);
    }

 private:
    Mutex mutex_;
    CondVar changed_;
    std::optional<int> value_ EBB_GUARDED_BY(mutex_);
};

TEST(Sync, hands_a_value_from_thread_to_thread) {
    Slot there;
    Slot back;
    std::jthread echo([&] { back.put(there.take() + 1); });
    there.put(41);
    EXPECT_EQ(back.take(), 42);
}

TEST(Sync, wait_for_ends_without_a_notification) {
    Mutex mutex;
    CondVar changed;
    Lock lock(mutex);
    while (changed.wait_for(lock, std::chrono::milliseconds(1))) continue;
    SUCCEED();
}

TEST(Sync, a_lock_can_be_released_and_taken_again) {
    Mutex mutex;
    Lock lock(mutex);
    lock.unlock();
    if (!mutex.try_lock()) FAIL() << "the mutex is still held";
    mutex.unlock();
    lock.lock();
    bool was_free = true;
    std::jthread([&] { was_free = mutex.try_lock(); }).join();
    EXPECT_FALSE(was_free);
}

TEST(AssertDeathTest, says_what_must_hold_and_where) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const int two = 2;
    EXPECT_DEATH(EBB_ASSERT(two == 3, "two is three"), "sync_test.cpp:.*two is three .two == 3.");
    EBB_ASSERT(two == 2, "two is two");
}

}  // namespace
}  // namespace ebb
