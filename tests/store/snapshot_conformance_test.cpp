// Goal: every store of snapshots does the same: compare-and-swap, queries, times, limits.
// Method: one suite over memory, SQLite and PostgreSQL (the latter also where a lost race is an
// error of class 40), with real snapshots and a clock that only the test moves.

#include <thread>

#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/error.h>
#include <ebb/snapshot_store.h>

#include "store/conformance.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using namespace std::chrono_literals;
using stateless::DueQuery;
using stateless::SaveOptions;
using stateless::SaveResult;
using stateless::Snapshot;
using stateless::SnapshotInfo;
using stateless::SnapshotStatus;
using stateless::SnapshotStore;
using stateless::SnapshotStoreOptions;
using stateless::SnapshotStorePtr;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = SaveResult::Kind;

struct SnapshotStoreKind {
    std::string name;
    std::function<SnapshotStorePtr(const SnapshotStoreOptions&, const TempDir&, const std::string&)>
        open;
};

std::ostream& operator<<(std::ostream& out, const SnapshotStoreKind& kind) {
    return out << kind.name;
}

class SnapshotStores : public ::testing::TestWithParam<SnapshotStoreKind> {
 protected:
    SnapshotStores() : engine_(handlers(), {.clock = &clock_}) {
        WorkflowBuilder builder("order");
        builder.step("pay").max_attempts(3).backoff(
            {.strategy = Backoff::Strategy::Fixed, .initial = 10s, .jitter = 0}
        );
        builder.signal("approval");
        builder.step("ship");
        engine_.add(builder.build());
        store_ = open();
    }

    static const HandlerRegistry& handlers() {
        static const HandlerRegistry registry = [] {
            HandlerRegistry made;
            made.add_raw("pay", [](const Payload& input, const StepContext& step) {
                if (input == "\"flaky\"" && step.attempt == 1) throw std::runtime_error("boom");
                return input;
            });
            made.add_raw("ship", [](const Payload& input, const StepContext&) { return input; });
            return made;
        }();
        return registry;
    }

    SnapshotStorePtr open(std::size_t bytes_max = std::size_t{1} << 20) {
        return GetParam().open({.snapshot_bytes_max = bytes_max, .clock = &clock_}, dir_, schema_);
    }

    SnapshotStore& store() { return *store_; }

    Snapshot start(const std::string& id, Payload input = "{}") {
        return engine_.start("order", std::move(input), {.workflow_id = id});
    }

    Snapshot insert(const std::string& id, Payload input = "{}", const SaveOptions& options = {}) {
        Snapshot snapshot = start(id, std::move(input));
        EXPECT_EQ(store().insert_if_absent(snapshot, options).kind, Kind::Saved);
        return snapshot;
    }

    /// Executes and saves it.
    Snapshot advance(const Snapshot& snapshot, const SaveOptions& options = {}) {
        Snapshot next = engine_.step(snapshot);
        EXPECT_EQ(store().save(next, snapshot.version(), options).kind, Kind::Saved);
        return next;
    }

    static std::vector<std::string> ids(const std::vector<SnapshotInfo>& found) {
        std::vector<std::string> ids;
        for (const SnapshotInfo& info : found) ids.push_back(info.id);
        return ids;
    }

    static void expect_error(
        ErrorCode code, const std::string& part, const std::function<void()>& act
    ) {
        try {
            act();
            ADD_FAILURE() << "nothing was thrown; expected: " << part;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code) << error.what();
            EXPECT_THAT(error.what(), HasSubstr(part));
        }
    }

    TempDir dir_;
    std::string schema_ = fresh_schema();
    ManualClock clock_{kStart};
    stateless::Engine engine_;
    SnapshotStorePtr store_;
};

SnapshotStorePtr open_postgres(
    const std::string& parameters, const SnapshotStoreOptions& options, const std::string& schema
) {
    return stateless::open_postgres_snapshot_store(
        {.url = postgres_server().url() + parameters, .schema = schema}, options
    );
}

INSTANTIATE_TEST_SUITE_P(
    Kinds,
    SnapshotStores,
    ::testing::Values(
        SnapshotStoreKind{
            "memory",
            [](const auto& options, const auto&, const auto&) {
                return stateless::open_memory_snapshot_store(options);
            }
        },
        SnapshotStoreKind{
            "sqlite",
            [](const auto& options, const auto& dir, const auto&) {
                return stateless::open_sqlite_snapshot_store({.path = dir.file("app.db")}, options);
            }
        },
        SnapshotStoreKind{
            "postgres",
            [](const auto& options, const auto&, const auto& schema) {
                return open_postgres("", options, schema);
            }
        },
        SnapshotStoreKind{
            "postgres_serializable",
            [](const auto& options, const auto&, const auto& schema) {
                return open_postgres(
                    "&options=-c%20default_transaction_isolation%3Dserializable", options, schema
                );
            }
        }
    ),
    [](const auto& kind) { return kind.param.name; }
);

TEST_P(SnapshotStores, give_back_what_they_were_given_word_for_word) {
    const Snapshot snapshot = insert("order 17/ü", R"({"n":1e2,"f":1.50,"t":"A"})");
    const auto stored = store().load("order 17/ü");
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->json, snapshot.to_json());
    EXPECT_EQ(engine_.parse(stored->json).to_json(), snapshot.to_json());
    EXPECT_EQ(stored->info.id, "order 17/ü");
    EXPECT_EQ(stored->info.workflow, "order");
    EXPECT_EQ(stored->info.status, SnapshotStatus::Active);
    EXPECT_EQ(stored->info.version, 0);
    EXPECT_EQ(stored->info.next_due_at, TimePoint{});
    EXPECT_EQ(stored->info.next_retry_at, kNever);
    EXPECT_EQ(stored->info.created_at, kStart);
    EXPECT_EQ(stored->info.updated_at, kStart);
    EXPECT_EQ(stored->info.expires_at, kNever);
}

TEST_P(SnapshotStores, know_nothing_of_what_was_never_stored) {
    EXPECT_FALSE(store().load("x"));
    EXPECT_EQ(store().save(engine_.step(start("x")), 0).kind, Kind::NotFound);
    EXPECT_EQ(store().remove("x").kind, Kind::NotFound);
    EXPECT_THAT(store().list(), IsEmpty());
    EXPECT_THAT(store().due(), IsEmpty());
    EXPECT_EQ(store().purge(), 0);
}

TEST_P(SnapshotStores, insert_an_id_only_once) {
    insert("a", "1", {.by = "ann"});
    const SaveResult second = store().insert_if_absent(start("a", "2"), {.by = "bob"});
    EXPECT_EQ(second.kind, Kind::Conflict);
    EXPECT_EQ(second.current.saved_by, "ann");
    EXPECT_EQ(engine_.parse(store().load("a")->json).input(), "1");
}

TEST_P(SnapshotStores, save_only_over_the_version_that_was_read_and_say_who_won) {
    const Snapshot read = insert("a");
    const Snapshot mine = engine_.step(read);
    clock_.advance(1s);
    const SaveResult won = store().save(mine, 0, {.by = "ann"});
    EXPECT_EQ(won.kind, Kind::Saved);
    EXPECT_EQ(won.current.version, 1);
    EXPECT_EQ(won.current.updated_at, kStart + 1s);
    EXPECT_EQ(won.current.created_at, kStart);
    const SaveResult lost = store().save(engine_.cancel(read), 0, {.by = "bob"});
    EXPECT_EQ(lost.kind, Kind::Conflict);
    EXPECT_EQ(lost.current.version, 1);
    EXPECT_EQ(lost.current.saved_by, "ann");
    EXPECT_EQ(lost.current.status, SnapshotStatus::Paused);
    EXPECT_EQ(store().load("a")->json, mine.to_json());
}

TEST_P(SnapshotStores, find_a_repeated_save_done_and_not_in_conflict) {
    const Snapshot first = start("a");
    EXPECT_EQ(store().insert_if_absent(first, {.save_id = "s1"}).kind, Kind::Saved);
    EXPECT_EQ(store().insert_if_absent(first, {.save_id = "s1"}).kind, Kind::Saved);
    EXPECT_EQ(store().insert_if_absent(first).kind, Kind::Conflict);
    const Snapshot next = engine_.step(first);
    EXPECT_EQ(store().save(next, 0, {.save_id = "s2"}).kind, Kind::Saved);
    EXPECT_EQ(store().save(next, 0, {.save_id = "s2"}).kind, Kind::Saved);
    // The same result of another process is another save.
    EXPECT_EQ(store().save(next, 0).kind, Kind::Conflict);
    EXPECT_EQ(store().load("a")->info.version, 1);
}

TEST_P(SnapshotStores, write_nothing_where_nothing_has_changed) {
    const Snapshot snapshot = insert("a");
    clock_.advance(1s);
    EXPECT_EQ(store().save(snapshot, 0).kind, Kind::Unchanged);
    EXPECT_EQ(store().load("a")->info.updated_at, kStart);
    expect_error(ErrorCode::InvalidArgument, "older than the expected 1", [&] {
        store().save(snapshot, 1);
    });
}

TEST_P(SnapshotStores, remove_only_the_version_that_is_named) {
    advance(insert("a"));
    insert("b");
    EXPECT_EQ(store().remove("a", 0).kind, Kind::Conflict);
    EXPECT_EQ(store().remove("a", 0).current.version, 1);
    EXPECT_EQ(store().remove("a", 1).kind, Kind::Saved);
    EXPECT_EQ(store().remove("a", 1).kind, Kind::NotFound);
    EXPECT_EQ(store().remove("b").kind, Kind::Saved);
    EXPECT_THAT(store().list(), IsEmpty());
}

TEST_P(SnapshotStores, keep_a_new_run_from_what_is_left_of_the_one_before) {
    const Snapshot old = insert("a");
    ASSERT_EQ(store().remove("a").kind, Kind::Saved);
    const Snapshot fresh = insert("a");
    ASSERT_NE(fresh.run_id(), old.run_id());
    EXPECT_EQ(store().load("a")->info.run_id, fresh.run_id());
    const SaveResult lost = store().save(engine_.step(old), old.version());
    EXPECT_EQ(lost.kind, Kind::Conflict) << "the versions are the same, the runs are not";
    EXPECT_EQ(lost.current.run_id, fresh.run_id());
    const SaveOptions same{.save_id = "s"};
    advance(fresh, same);
    EXPECT_EQ(store().save(engine_.step(old), old.version(), same).kind, Kind::Conflict);
    EXPECT_EQ(
        store().remove("a", {.version = std::nullopt, .run_id = old.run_id()}).kind, Kind::Conflict
    );
    EXPECT_EQ(store().remove("a", {.version = 0, .run_id = fresh.run_id()}).kind, Kind::Conflict);
    EXPECT_EQ(store().remove("a", {.version = 1, .run_id = fresh.run_id()}).kind, Kind::Saved);
}

TEST_P(SnapshotStores, keep_a_new_run_from_one_that_has_expired) {
    const Snapshot old = insert("a", "{}", {.keep_for = 1s});
    clock_.advance(2s);
    insert("a");
    EXPECT_EQ(store().save(engine_.step(old), old.version()).kind, Kind::Conflict);
}

TEST_P(SnapshotStores, keep_a_snapshot_without_a_run_id) {
    Json json = Json::parse(start("a").to_json());
    json.erase("runId");
    json["formatVersion"] = 1;
    const Snapshot old = engine_.parse(json.dump());
    EXPECT_EQ(store().insert_if_absent(old).kind, Kind::Saved);
    EXPECT_EQ(advance(old).run_id(), "");
    EXPECT_EQ(store().load("a")->info.run_id, "");
}

TEST_P(SnapshotStores, list_by_status_in_pages) {
    for (const char* id : {"b", "a", "d", "C", "e"}) insert(id);
    advance(engine_.parse(store().load("d")->json));
    EXPECT_THAT(ids(store().list()), ElementsAre("C", "a", "b", "d", "e"));
    EXPECT_THAT(ids(store().list({.limit = 2})), ElementsAre("C", "a"));
    EXPECT_THAT(ids(store().list({.after = "a", .limit = 2})), ElementsAre("b", "d"));
    EXPECT_THAT(ids(store().list({.status = SnapshotStatus::Paused})), ElementsAre("d"));
    EXPECT_THAT(
        ids(store().list({.status = SnapshotStatus::Active, .after = "b"})), ElementsAre("e")
    );
    EXPECT_THAT(store().list({.status = SnapshotStatus::Failed}), IsEmpty());
}

TEST_P(SnapshotStores, name_retries_when_their_time_has_come) {
    advance(insert("first", "\"flaky\""));
    clock_.advance(1s);
    advance(insert("second", "\"flaky\""));
    insert("fresh");
    advance(insert("waits"));
    EXPECT_EQ(store().load("first")->info.status, SnapshotStatus::Error);
    EXPECT_EQ(store().load("first")->info.next_retry_at, kStart + 10s);
    EXPECT_THAT(store().due({.retries_only = true}), IsEmpty());
    EXPECT_THAT(ids(store().due()), ElementsAre("fresh"));
    clock_.set(kStart + 10s);
    EXPECT_THAT(ids(store().due({.retries_only = true})), ElementsAre("first"));
    EXPECT_THAT(ids(store().due()), ElementsAre("fresh", "first"));
    clock_.advance(1s);
    EXPECT_THAT(ids(store().due({.retries_only = true})), ElementsAre("first", "second"));
    const auto page = store().due({.limit = 2});
    EXPECT_THAT(ids(page), ElementsAre("fresh", "first"));
    EXPECT_THAT(
        ids(store().due({.after_due = page.back().next_due_at, .after_id = page.back().id})),
        ElementsAre("second")
    );
    EXPECT_THAT(
        ids(store().due({.after_due = TimePoint{}, .after_id = "fresh"})),
        ElementsAre("first", "second")
    );
}

TEST_P(SnapshotStores, leave_alone_what_was_saved_a_moment_ago) {
    insert("old");
    clock_.advance(5s);
    insert("new");
    EXPECT_THAT(ids(store().due({.idle_for = 5s})), ElementsAre("old"));
    clock_.advance(5s);
    EXPECT_THAT(ids(store().due({.idle_for = 5s})), ElementsAre("new", "old"));
}

TEST_P(SnapshotStores, show_nothing_whose_time_is_over) {
    const Snapshot read = insert("a", "{}", {.keep_for = 10s});
    EXPECT_EQ(store().load("a")->info.expires_at, kStart + 10s);
    clock_.set(kStart + 10s - 1us);
    EXPECT_TRUE(store().load("a"));
    clock_.set(kStart + 10s);
    EXPECT_FALSE(store().load("a"));
    EXPECT_THAT(store().list(), IsEmpty());
    EXPECT_THAT(store().list({.status = SnapshotStatus::Active}), IsEmpty());
    EXPECT_THAT(store().due(), IsEmpty());
    EXPECT_EQ(store().save(engine_.step(read), 0).kind, Kind::NotFound);
    EXPECT_EQ(store().remove("a").kind, Kind::NotFound);
    // Its id is free again.
    EXPECT_EQ(store().insert_if_absent(start("a", "2")).kind, Kind::Saved);
    EXPECT_EQ(store().load("a")->info.created_at, kStart + 10s);
    EXPECT_EQ(store().purge(), 0);
}

TEST_P(SnapshotStores, keep_a_row_as_long_as_its_last_save_says) {
    const Snapshot first = insert("a", "{}", {.keep_for = 10s});
    clock_.advance(9s);
    const Snapshot second = advance(first, {.keep_for = 10s});
    clock_.advance(9s);
    EXPECT_TRUE(store().load("a"));
    const Snapshot third = engine_.signal(second, "approval");
    EXPECT_EQ(store().save(third, second.version()).kind, Kind::Saved);
    clock_.advance(1'000h);
    EXPECT_TRUE(store().load("a"));
}

TEST_P(SnapshotStores, purge_what_is_over_and_no_more_than_asked) {
    for (const char* id : {"a", "b", "c"}) insert(id, "{}", {.keep_for = 10s});
    insert("stays");
    insert("later", "{}", {.keep_for = 20s});
    clock_.advance(10s);
    EXPECT_EQ(store().purge(2), 2);
    EXPECT_EQ(store().purge(2), 1);
    EXPECT_EQ(store().purge(2), 0);
    EXPECT_THAT(ids(store().list()), ElementsAre("later", "stays"));
}

TEST_P(SnapshotStores, follow_a_workflow_to_its_end) {
    Snapshot snapshot = advance(insert("a"));
    EXPECT_EQ(store().load("a")->info.next_due_at, kNever);
    Snapshot next = engine_.signal(snapshot, "approval", Payload::text("\"yes\""));
    EXPECT_EQ(store().save(next, snapshot.version()).kind, Kind::Saved);
    snapshot = advance(next);
    const SnapshotInfo info = store().load("a")->info;
    EXPECT_EQ(info.status, SnapshotStatus::Completed);
    EXPECT_EQ(info.version, snapshot.version());
    EXPECT_THAT(store().due(), IsEmpty());
}

TEST_P(SnapshotStores, refuse_what_is_too_big_at_the_limit) {
    const Snapshot snapshot = start("a", "\"" + std::string(1'000, 'x') + "\"");
    const std::size_t size = snapshot.to_json().size();
    if (GetParam().name == "memory") store_.reset();
    EXPECT_EQ(open(size)->insert_if_absent(snapshot).kind, Kind::Saved);
    expect_error(ErrorCode::PayloadTooLarge, "snapshot_bytes_max", [&] {
        open(size - 1)->insert_if_absent(snapshot);
    });
    expect_error(ErrorCode::PayloadTooLarge, "\"a\"", [&] {
        open(size - 1)->save(engine_.step(snapshot), 0);
    });
}

TEST_P(SnapshotStores, refuse_arguments_that_cannot_be_right) {
    const Snapshot snapshot = start("a");
    const auto refused = [&](const std::string& part, const std::function<void()>& act) {
        expect_error(ErrorCode::InvalidArgument, part, act);
    };
    EXPECT_FALSE(store().load(std::string(255, 'x')));
    refused("255 are allowed", [&] { store().load(std::string(256, 'x')); });
    refused("must not be empty", [&] { store().load(""); });
    refused("not valid UTF-8", [&] { store().remove("\xff"); });
    refused("not valid UTF-8", [&] { store().load(std::string_view("a\0b", 3)); });
    EXPECT_EQ(
        store()
            .insert_if_absent(
                snapshot, {.by = std::string(256, 'b'), .save_id = std::string(64, 's')}
            )
            .kind,
        Kind::Saved
    );
    refused("by has 257", [&] {
        store().insert_if_absent(snapshot, {.by = std::string(257, 'b')});
    });
    refused("save_id has 65", [&] {
        store().insert_if_absent(snapshot, {.save_id = std::string(65, 's')});
    });
    refused("keep_for", [&] { store().insert_if_absent(snapshot, {.keep_for = 0s}); });
    EXPECT_THAT(store().list({.limit = 1'000}), ::testing::SizeIs(1));
    refused("1 to 1000", [&] { store().list({.limit = 1'001}); });
    refused("1 to 1000", [&] { store().due({.limit = 0}); });
    refused("idle_for", [&] { store().due({.idle_for = -1s}); });
    EXPECT_EQ(store().purge(10'000), 0);
    refused("1 to 10000", [&] { store().purge(10'001); });
}

TEST_P(SnapshotStores, let_exactly_one_of_many_threads_win_each_version) {
    constexpr int kThreads = 4;
    constexpr int kVersions = 10;
    insert("a");
    std::atomic<int> wins{0};
    std::vector<std::jthread> threads;
    for (int n = 0; n < kThreads; ++n) {
        threads.emplace_back([&] {
            while (true) {
                const Snapshot read = engine_.parse(store().load("a")->json);
                if (read.version() == kVersions) return;
                Snapshot next = read;
                next.set_metadata(R"({"version":)" + std::to_string(read.version()) + "}");
                if (store().save(next, read.version()).kind == Kind::Saved) ++wins;
            }
        });
    }
    threads.clear();
    EXPECT_EQ(wins, kVersions);
}

}  // namespace
}  // namespace ebb::testing
