// Goal: several processes share one database; what was committed survives a kill.
// Method: forked children open the store themselves and race; one is killed with SIGKILL.

#include <csignal>
#include <set>

#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

/// Over each kind of database that several processes can share.
class StoreProcesses : public ::testing::TestWithParam<std::string> {
 protected:
    StoreProcesses() {
        // Before any fork, or each child would start a server of its own.
        if (GetParam() == "postgresql") postgres_server();
    }

    StorePtr open() {
        if (GetParam() == "sqlite") return make_sqlite_store({.path = dir_.file("ebb.db")}, clock_);
        return make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_);
    }

    TempDir dir_;
    ManualClock clock_{kStart};
    const std::string schema_ = fresh_schema();
};

INSTANTIATE_TEST_SUITE_P(
    Databases,
    StoreProcesses,
    ::testing::Values("sqlite", "postgresql"),
    [](const auto& kind) { return kind.param; }
);

/// Claims and completes until nothing is left; a lost race is a failure.
int work_until_done(Store& store, const std::string& worker) {
    store.heartbeat(worker_of(worker), std::chrono::hours(1));
    while (true) {
        const std::vector<Claim> claims = claim(store, worker, {"pay"}, 5);
        if (claims.empty()) return 0;
        for (const Claim& claim : claims) {
            HistoryEvent event = event_of(2, HistoryType::StepCompleted);
            event.worker = worker;
            Commit commit;
            commit.instance = claim.task.instance;
            commit.expected_revision = claim.instance.revision;
            commit.status = InstanceStatus::Completed;
            commit.history = {&event, 1};
            if (store.commit({&commit, 1}).at(0) != CommitResult::Committed) return 1;
        }
    }
}

TEST_P(StoreProcesses, share_the_work_without_doing_any_twice) {
    constexpr int kInstances = 150;
    {
        const StorePtr store = open();
        std::vector<NewInstance> batch;
        for (int n = 1; n <= kInstances; ++n) batch.push_back(instance_of(n, {put(1, "pay")}));
        store->start(batch);
    }
    std::vector<pid_t> children;
    for (const std::string worker : {"a", "b", "c"}) {
        children.push_back(fork_process([&, worker] { return work_until_done(*open(), worker); }));
    }
    for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    const StorePtr store = open();
    const StatusCount all{"orders", InstanceStatus::Completed, kInstances};
    EXPECT_EQ(store->count(), std::vector<StatusCount>{all});
    for (int n = 1; n <= kInstances; ++n) {
        EXPECT_EQ(store->history({.instance = id_of(n), .types = {}, .node = {}}).size(), 2U);
    }
}

TEST_P(StoreProcesses, keep_what_was_committed_before_a_kill) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork_process([&] {
        const StorePtr store = open();
        for (int n = 1;; ++n) {
            start_one(*store, instance_of(n, {put(1, "pay")}));
            if (write(pipe_ends[1], &n, sizeof n) != sizeof n) return 1;
        }
    });
    close(pipe_ends[1]);
    int last = 0;
    while (last < 20 && read(pipe_ends[0], &last, sizeof last) == sizeof last) {
    }
    kill(child, SIGKILL);
    EXPECT_EQ(wait_for(child), 128 + SIGKILL);
    int told = 0;
    while (read(pipe_ends[0], &told, sizeof told) == sizeof told) last = told;
    close(pipe_ends[0]);

    const StorePtr store = open();
    for (int n = 1; n <= last; ++n) EXPECT_TRUE(store->load(id_of(n)).has_value()) << n;
    const std::size_t found = store
                                  ->list(
                                      {.statuses = {},
                                       .workflow = {},
                                       .version = {},
                                       .key = {},
                                       .before = {},
                                       .limit = 100'000}
                                  )
                                  .size();
    EXPECT_LE(found, static_cast<std::size_t>(last) + 1);
    EXPECT_EQ(start_one(*store, instance_of(1'000'000)).kind, StartResult::Kind::Created);
}

TEST_P(StoreProcesses, see_each_other_s_commits_at_once) {
    const StorePtr a = open();
    const StorePtr b = open();
    for (int revision = 1; revision <= 20; ++revision) {
        if (revision == 1) start_one(*a, instance_of(1));
        Store& writer = revision % 2 == 0 ? *a : *b;
        Store& reader = revision % 2 == 0 ? *b : *a;
        EXPECT_EQ(commit_one(writer, {.revision = revision}), CommitResult::Committed);
        EXPECT_EQ(reader.load(id_of(1))->revision, revision + 1);
    }
}

}  // namespace
}  // namespace ebb::testing
