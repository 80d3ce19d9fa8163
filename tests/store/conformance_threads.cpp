// Goal: any verb may be called from any thread, and no two threads win the same thing.
// Method: threads race for claims, keys and revisions; the outcomes are counted. ThreadSanitizer
// watches the same cases.

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>

#include "store/conformance.h"
#include "support/store_describe.h"

namespace ebb::testing {
namespace {

using ::testing::IsEmpty;

constexpr int kThreads = 4;

/// Calls `work(index)` on several threads at once and waits for them.
template <class Work>
void race(Work work) {
    std::barrier start(kThreads);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            work(i);
        });
    }
}

TEST_P(StoreConformance, never_gives_one_task_to_two_threads) {
    constexpr int kInstances = 200;
    std::vector<NewInstance> batch;
    for (int n = 1; n <= kInstances; ++n)
        batch.push_back(instance_of(n, {put(1, "pay"), put(2, "")}));
    store().start(batch);

    std::mutex mutex;
    std::multiset<std::string> claimed;
    race([&](int thread) {
        const std::string worker = "t" + std::to_string(thread);
        store().heartbeat(worker_of(worker), kLease);
        while (true) {
            const std::vector<std::string> names = names_of(claim(store(), worker, {"pay"}, 7));
            if (names.empty()) return;
            const std::lock_guard lock(mutex);
            claimed.insert(names.begin(), names.end());
        }
    });
    EXPECT_EQ(claimed.size(), 2U * kInstances);
    EXPECT_EQ(std::set<std::string>(claimed.begin(), claimed.end()).size(), 2U * kInstances);
}

TEST_P(StoreConformance, lets_one_commit_of_each_revision_win) {
    constexpr int kRounds = 25;
    start_one(store(), instance_of(1));
    std::atomic<int> committed = 0;
    race([&](int) {
        for (int round = 1; round <= kRounds; ++round) {
            const Change change{
                .revision = round, .history = {event_of(round + 1, HistoryType::StepCompleted)}
            };
            if (commit_one(store(), change) == CommitResult::Committed) ++committed;
            EXPECT_GT(store().load(id_of(1))->revision, round);
        }
    });
    EXPECT_EQ(committed, kRounds);
    EXPECT_EQ(history_of(1).size(), 1U + kRounds);
}

TEST_P(StoreConformance, creates_one_instance_for_a_key_that_is_started_everywhere_at_once) {
    constexpr int kKeys = 25;
    std::atomic<int> created = 0;
    race([&](int thread) {
        for (int key = 0; key < kKeys; ++key) {
            NewInstance instance = instance_of(1 + key * kThreads + thread, {put(1, "pay")});
            instance.row.key = std::to_string(key);
            const StartResult result = start_one(store(), instance);
            if (result.kind == StartResult::Kind::Created) ++created;
            EXPECT_EQ(store().find_key("orders", instance.row.key), result.id);
        }
    });
    EXPECT_EQ(created, kKeys);
    EXPECT_EQ(store().list({}).size(), static_cast<std::size_t>(kKeys));
}

TEST_P(StoreConformance, serves_all_verbs_at_once) {
    std::atomic<int> next_instance = 1;
    race([&](int thread) {
        const std::string worker = "t" + std::to_string(thread);
        for (int round = 0; round < 20; ++round) {
            store().heartbeat(worker_of(worker), kLease);
            const int n = next_instance++;
            start_one(store(), instance_of(n, {put(1, "pay")}));
            for (const Claim& claim : claim(store(), worker, {"pay"}, 2)) {
                Commit commit;
                commit.instance = claim.task.instance;
                commit.expected_revision = claim.instance.revision;
                commit.status = InstanceStatus::Completed;
                EXPECT_EQ(store().commit({&commit, 1}).at(0), CommitResult::Committed);
            }
            store().maintain();
            store().unserved();
            store().count();
            store().list({});
            store().history({.instance = id_of(n), .types = {}, .node = {}});
        }
        store().sign_off({worker, kStart});
    });
    while (true) {
        const std::vector<Claim> rest = claim(store(), "w1");
        if (rest.empty()) break;
        for (const Claim& claim : rest) {
            Commit commit;
            commit.instance = claim.task.instance;
            commit.expected_revision = claim.instance.revision;
            commit.status = InstanceStatus::Completed;
            store().commit({&commit, 1});
        }
    }
    EXPECT_EQ(store().count().at(0).count, 20 * kThreads);
    EXPECT_EQ(store().count().size(), 1U);
}

}  // namespace
}  // namespace ebb::testing
