// Goal: a change of an instance wakes the watchers of that instance, and no others.
// Method: a hub whose clock stands still, so that only changes give turns. A turn of the watcher of
// another instance, which comes last, shows that all earlier rounds are over.

#include "server/live/hub.h"

#include <condition_variable>
#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include <ebb/builder.h>

#include "store/store.h"
#include "support/store_counting.h"
#include "support/uuid.h"

namespace ebb::server {
namespace {

using namespace std::chrono_literals;

class CountingWatcher : public Watcher {
 public:
    explicit CountingWatcher(Interest interest) : interest_(std::move(interest)) {}

    Interest interest() const override { return interest_; }

    bool turn(TimePoint /*now*/, Feed& /*feed*/) override {
        const std::lock_guard lock(mutex_);
        ++turns_;
        changed_.notify_all();
        return !is_draining_;
    }

    void drain() override {
        const std::lock_guard lock(mutex_);
        is_draining_ = true;
    }

    int turns() {
        const std::lock_guard lock(mutex_);
        return turns_;
    }

    void wait_for(int turns) {
        std::unique_lock lock(mutex_);
        ASSERT_TRUE(changed_.wait_for(lock, 60s, [&] { return turns_ >= turns; }));
    }

 private:
    Interest interest_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int turns_ = 0;
    bool is_draining_ = false;
};

class HubTest : public ::testing::Test {
 protected:
    std::shared_ptr<CountingWatcher> add(Interest interest) {
        auto watcher = std::make_shared<CountingWatcher>(std::move(interest));
        hub_.add(watcher);
        watcher->wait_for(1);
        return watcher;
    }

    static InstanceSummary change(const InstanceId& id) { return {.id = id}; }

    static InstanceSummary end(const InstanceId& id) {
        return {.id = id, .finished_at = TimePoint{1s}};
    }

    ManualClock clock_{TimePoint{1'760'000'000s}};
    StorePtr store_ = open_memory_store({.clock = &clock_});
    HandlerRegistry handlers_;
    Engine reader_{*store_, handlers_, {.clock = &clock_}};
    Hub hub_{*store_, reader_, clock_};
    InstanceId one_ = make_instance_id(clock_);
    InstanceId other_ = make_instance_id(clock_);
};

TEST_F(HubTest, AChangeWakesTheWatchersOfTheInstance) {
    const auto changes = add({.instances = {one_}});
    const auto ends = add({.instances = {one_}, .only_ends = true});
    const auto both = add({.instances = {other_, one_}});
    const auto others = add({.instances = {other_}});

    hub_.note(change(one_));
    changes->wait_for(2);
    both->wait_for(2);
    hub_.note(end(one_));
    ends->wait_for(2);
    hub_.note(change(other_));
    others->wait_for(2);
    both->wait_for(4);

    EXPECT_EQ(changes->turns(), 3);
    EXPECT_EQ(ends->turns(), 2);
    EXPECT_EQ(both->turns(), 4);
    EXPECT_EQ(others->turns(), 2);
}

TEST_F(HubTest, AWatcherOfAllHearsOfEveryInstanceButNotAtOnce) {
    const auto all = add({.in_all = true});
    hub_.note(change(one_));
    all->wait_for(2);
    hub_.note(change(other_));
    const auto others = add({.instances = {other_}});
    EXPECT_EQ(all->turns(), 2) << "the time for the next turn has not come";
    clock_.advance(200ms);
    all->wait_for(3);
    EXPECT_EQ(others->turns(), 1);
}

TEST_F(HubTest, AnEndThatIsHeardOfIsReadOnce) {
    testing::CountingStore counting(*store_);
    Engine reader(counting, handlers_, {.clock = &clock_});
    Hub hub(counting, reader, clock_);
    reader_.register_workflow(WorkflowBuilder("waiting").signal("go").build());
    const InstanceId id = reader_.start("waiting", Payload::text("{}")).id;
    std::promise<Result> ended;
    hub.wait(id, 60s, [&](const Result& result) { ended.set_value(result); });
    // The first turn of this watcher comes after that of the wait.
    const auto after = std::make_shared<CountingWatcher>(Interest{.instances = {other_}});
    hub.add(after);
    after->wait_for(1);

    reader_.signal(id, "go", Payload::text("{}"));
    counting.reset();
    hub.note(*reader_.find(id));
    EXPECT_EQ(ended.get_future().get().status, InstanceStatus::Completed);
    EXPECT_EQ(counting.calls(testing::StoreVerb::Load), 1);
}

TEST_F(HubTest, ADrainEndsAllWatchers) {
    const auto watcher = add({.instances = {one_}});
    EXPECT_EQ(hub_.watchers(), 1U);
    hub_.drain();
    watcher->wait_for(2);
    const auto late = add({.instances = {one_}});
    // Its only turn was its last one.
    hub_.note(change(one_));
    const auto last = add({.instances = {other_}});
    EXPECT_EQ(late->turns(), 1);
    EXPECT_EQ(watcher->turns(), 2);
}

}  // namespace
}  // namespace ebb::server
