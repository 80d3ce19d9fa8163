// Goal: what the disk or another program does to the file becomes a precise error, and work goes on
// once the cause is gone. Method: provoked by limits, pragmas, locks and damaged bytes.

#include <csignal>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>

#include <ebb/error.h>

#include "store/conformance.h"
#include "store/sqlite/sqlite_store.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SqliteFaults : public ::testing::Test {
 protected:
    std::unique_ptr<SqliteStore> open() {
        return std::make_unique<SqliteStore>(
            SqliteOptions{.path = path_, .busy_timeout_ms = 50}, clock_
        );
    }

    template <class Verb>
    void expect_error(ErrorCode code, std::string_view message, Verb verb) {
        try {
            verb();
            ADD_FAILURE() << "nothing was thrown, but " << to_string(code) << " was expected";
        } catch (const Error& error) {
            EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
            EXPECT_THAT(error.what(), HasSubstr(std::string(message)));
            EXPECT_THAT(error.what(), HasSubstr(path_));
        }
    }

    TempDir dir_;
    ManualClock clock_{kStart};
    std::string path_ = dir_.file("ebb.db");
};

TEST_F(SqliteFaults, a_full_disk_stops_writes_and_work_continues_when_there_is_room) {
    const auto store = open();
    start_one(*store, instance_of(1, {put(1, "pay")}));
    store->execute_on_writer("PRAGMA max_page_count = 1");
    NewInstance big = instance_of(2);
    big.row.state.assign(100'000, 'x');
    expect_error(ErrorCode::StoreFull, "Free some space", [&] { start_one(*store, big); });
    Change change{.history = {event_of(2, HistoryType::StepCompleted, big.row.state)}};
    expect_error(ErrorCode::StoreFull, "failed while writing", [&] { commit_one(*store, change); });
    EXPECT_EQ(store->load(id_of(2)), std::nullopt);
    EXPECT_EQ(store->load(id_of(1))->revision, 1);

    store->execute_on_writer("PRAGMA max_page_count = 1000000");
    EXPECT_EQ(start_one(*store, big).kind, StartResult::Kind::Created);
    EXPECT_EQ(commit_one(*store, change), CommitResult::Committed);
    EXPECT_EQ(claim(*store, "w1").size(), 1U);
}

TEST_F(SqliteFaults, a_write_that_the_system_refuses_is_transient) {
    // In a child, because the limit and the signal concern the whole process.
    const pid_t child = fork_process([&] {
        signal(SIGXFSZ, SIG_IGN);
        const auto store = open();
        start_one(*store, instance_of(1));
        rlimit limit{};
        getrlimit(RLIMIT_FSIZE, &limit);
        const rlim_t before = limit.rlim_cur;
        limit.rlim_cur = std::filesystem::file_size(path_ + "-wal");
        setrlimit(RLIMIT_FSIZE, &limit);
        try {
            commit_one(*store, {.state = "lost"});
            return 1;
        } catch (const Error& error) {
            if (!error.is_transient()) return 2;
        }
        if (store->load(id_of(1))->revision != 1) return 3;
        limit.rlim_cur = before;
        setrlimit(RLIMIT_FSIZE, &limit);
        if (commit_one(*store, {.state = "kept"}) != CommitResult::Committed) return 4;
        return store->load(id_of(1))->state == "kept" ? 0 : 5;
    });
    EXPECT_EQ(wait_for(child), 0);
}

TEST_F(SqliteFaults, a_read_only_database_can_be_read) {
    const auto store = open();
    start_one(*store, instance_of(1, {put(1, "pay")}));
    store->execute_on_writer("PRAGMA query_only = ON");
    expect_error(ErrorCode::StoreReadOnly, "must be writable", [&] { claim(*store, "w1"); });
    expect_error(ErrorCode::StoreReadOnly, "must be writable", [&] { commit_one(*store, {}); });
    EXPECT_EQ(store->list({}).size(), 1U);
    store->execute_on_writer("PRAGMA query_only = OFF");
    EXPECT_EQ(claim(*store, "w1").size(), 1U);
}

TEST_F(SqliteFaults, says_that_another_process_holds_the_lock_and_recovers) {
    const auto store = open();
    start_one(*store, instance_of(1, {put(1, "pay")}));
    sqlite::Database other(path_, sqlite::Database::Access::ReadWrite, 50);
    other.execute("BEGIN IMMEDIATE");
    expect_error(ErrorCode::StoreBusy, "try again", [&] { commit_one(*store, {}); });
    EXPECT_EQ(store->load(id_of(1))->revision, 1);
    other.execute("ROLLBACK");
    EXPECT_EQ(commit_one(*store, {}), CommitResult::Committed);
}

TEST_F(SqliteFaults, an_idle_store_takes_no_write_lock) {
    const auto store = open();
    start_one(*store, instance_of(1, {put(1, "pay", kStart + std::chrono::hours(1))}));
    sqlite::Database other(path_, sqlite::Database::Access::ReadWrite, 50);
    other.execute("BEGIN IMMEDIATE");
    EXPECT_THAT(claim(*store, "w1"), IsEmpty());
    EXPECT_EQ(store->maintain().next_due, kStart + std::chrono::hours(1));
    EXPECT_THAT(store->commit({}), IsEmpty());
    store->release({"w1", kStart}, {});
    EXPECT_EQ(store->take_sweep(std::chrono::minutes(1)), std::nullopt);
    EXPECT_THAT(store->purge({}).purged, IsEmpty());
    other.execute("ROLLBACK");
}

TEST_F(SqliteFaults, refuses_a_file_that_is_not_a_database) {
    std::ofstream(path_) << std::string(10'000, 'x');
    expect_error(ErrorCode::StoreError, "not a SQLite database", [&] { open(); });
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
    expect_error(ErrorCode::StoreError, "the path must be a file", [&] { open(); });
    path_ = dir_.file("missing/ebb.db");
    expect_error(ErrorCode::StoreError, "directory must exist", [&] { open(); });
}

TEST_F(SqliteFaults, says_that_the_file_is_damaged) {
    {
        const auto store = open();
        for (int n = 1; n <= 200; ++n) start_one(*store, instance_of(n, {put(1, "pay")}));
    }
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path_));
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    for (std::streamoff at = 4096; at < size; at += 4096) {
        file.seekp(at);
        file << std::string(512, '\xff');
    }
    file.close();
    expect_error(ErrorCode::StoreError, "damaged", [&] {
        const auto store = open();
        store->list({});
        claim(*store, "w1");
    });
}

TEST_F(SqliteFaults, an_unknown_status_concerns_its_instance_only) {
    const auto store = open();
    for (int n = 1; n <= 3; ++n) start_one(*store, instance_of(n, {put(1, "pay")}));
    store->execute_on_writer(
        "UPDATE instances SET status = 'odd' WHERE id = '" + id_of(2).to_string() + "'"
    );
    try {
        store->load(id_of(2));
        ADD_FAILURE() << "an unknown status was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::CorruptState);
        EXPECT_THAT(error.what(), HasSubstr("unknown status \"odd\""));
        EXPECT_THAT(error.what(), HasSubstr(id_of(2).to_string()));
    }
    EXPECT_THAT(names_of(claim(*store, "w1")), ElementsAre("1/1", "3/1"));
    EXPECT_TRUE(store->tasks(id_of(2)).at(0).is_parked);
    EXPECT_EQ(store->list({}).size(), 2U);
    EXPECT_EQ(store->count().at(0).count, 2);
}

TEST_F(SqliteFaults, an_unknown_event_concerns_its_instance_only) {
    const auto store = open();
    start_one(*store, instance_of(1));
    start_one(*store, instance_of(2));
    store->execute_on_writer(
        "UPDATE history SET type = 'odd' WHERE instance_id = '" + id_of(1).to_string() + "'"
    );
    HistoryQuery query;
    query.instance = id_of(1);
    try {
        store->history(query);
        ADD_FAILURE() << "an unknown type was read";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::CorruptState);
        EXPECT_THAT(error.what(), HasSubstr("Event 1 of the instance"));
    }
    query.instance = id_of(2);
    EXPECT_EQ(store->history(query).size(), 1U);
}

TEST_F(SqliteFaults, a_batch_that_fails_halfway_leaves_nothing) {
    const auto store = open();
    start_one(*store, instance_of(1));
    start_one(*store, instance_of(2));
    const Change good{.instance = 1, .state = "new"};
    const Change twice{.instance = 2, .history = {event_of(1, HistoryType::Started)}};
    const std::vector<Commit> batch{good.view(), twice.view()};
    expect_error(ErrorCode::StoreError, "UNIQUE constraint", [&] { store->commit(batch); });
    EXPECT_EQ(store->load(id_of(1))->revision, 1);
    EXPECT_EQ(commit_one(*store, good), CommitResult::Committed);
}

TEST_F(SqliteFaults, keeps_the_log_short_when_maintained) {
    const auto store = open();
    NewInstance big = instance_of(1);
    big.row.state.assign(5'000'000, 'x');
    start_one(*store, big);
    store->maintain();
    // The log is copied; the next writer starts it again instead of making it longer.
    const auto size = std::filesystem::file_size(path_ + "-wal");
    EXPECT_GT(size, 5'000'000U);
    for (int n = 2; n < 100; ++n) start_one(*store, instance_of(n));
    EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), size);
}

}  // namespace
}  // namespace ebb::testing
