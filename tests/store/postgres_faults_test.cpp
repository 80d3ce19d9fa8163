// Goal: a failure of the server, the network or the user's rights becomes a precise error, and work
// continues once the cause is gone. Nothing is lost and nothing happens twice. Method: the test
// kills, stops and write-protects a server of its own, cuts its sessions, and connects roles
// without rights. No message may show a password.

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "postgres/waiting_log.h"
#include "store/conformance.h"
#include "store/postgres/postgres_store.h"
#include "support/postgres_server.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PostgresFaults : public ::testing::Test {
 protected:
    StorePtr open(PostgresOptions options = {}) {
        if (options.url.empty()) options.url = postgres_server().url();
        options.schema = schema_;
        return make_postgres_store(options, clock_);
    }

    std::string execute(const std::string& sql) { return postgres_server().execute(sql); }

    std::string store_status(const InstanceId& id) {
        return execute(
            "SELECT status FROM " + schema_ + ".instances WHERE id = '" + id.to_string() + "'"
        );
    }

    template <class Verb>
    std::string expect_error(ErrorCode code, std::string_view message, Verb verb) {
        try {
            verb();
            ADD_FAILURE() << "nothing was thrown, but " << to_string(code) << " was expected";
        } catch (const Error& error) {
            EXPECT_EQ(to_string(error.code()), to_string(code)) << error.what();
            EXPECT_THAT(error.what(), HasSubstr(std::string(message)));
            EXPECT_THAT(error.what(), Not(HasSubstr("hunter2")));
            EXPECT_EQ(std::string_view(error.what()).find_first_of("\n\t"), std::string_view::npos);
            return error.what();
        }
        return {};
    }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
};

/// Ends all sessions of the database except the session that asks.
constexpr const char* kCutAll =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'ebb_test' "
    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'";

TEST_F(PostgresFaults, continues_by_itself_after_its_sessions_were_cut) {
    const StorePtr store = open();
    start_one(*store, instance_of(1, {put(1, "pay")}));
    execute(kCutAll);
    EXPECT_EQ(start_one(*store, instance_of(2)).kind, StartResult::Kind::Created);
    execute(kCutAll);
    EXPECT_EQ(store->list({}).size(), 2U);
    execute(kCutAll);
    store->heartbeat(worker_of("w1"), std::chrono::hours(1));
    execute(kCutAll);
    EXPECT_EQ(claim(*store, "w1").size(), 1U);
    execute(kCutAll);
    // A commit may be in doubt and is then repeated. Either way it happens once.
    auto result = CommitResult::Conflict;
    try {
        result = commit_one(*store, {.state = "next"});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreInDoubt);
        result = commit_one(*store, {.state = "next"});
    }
    EXPECT_EQ(result, CommitResult::Committed);
    EXPECT_EQ(store->load(id_of(1))->revision, 2);
}

TEST_F(PostgresFaults, loses_nothing_and_does_nothing_twice_while_sessions_are_cut_constantly) {
    constexpr int kCommitsMin = 300;
    constexpr int kCommitsMax = 1'000'000;
    constexpr int kInDoubtMin = 3;
    const StorePtr store = open();
    start_one(*store, instance_of(1));
    std::jthread cutter([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) execute(kCutAll);
    });
    int in_doubt = 0;
    // A quick machine commits hundreds of times before the first session is cut. Continue until
    // enough commits were cut.
    int revision = 1;
    for (; revision <= kCommitsMin || in_doubt < kInDoubtMin; ++revision) {
        ASSERT_LT(revision, kCommitsMax) << "no session was cut during a commit";
        const Change change{
            .revision = revision, .history = {event_of(revision + 1, HistoryType::StepCompleted)}
        };
        while (true) {
            try {
                const CommitResult result = commit_one(*store, change);
                // A conflict is the result of an earlier attempt that was in doubt.
                if (result == CommitResult::Conflict) {
                    EXPECT_EQ(store->load(id_of(1))->revision, revision + 1);
                }
                break;
            } catch (const Error& error) {
                ASSERT_TRUE(error.is_transient()) << error.what();
                ++in_doubt;
            }
        }
    }
    cutter.request_stop();
    cutter.join();
    EXPECT_EQ(store->load(id_of(1))->revision, revision);
    EXPECT_EQ(
        execute(
            "SELECT count(*) FROM " + schema_ + ".history WHERE instance_id = '" +
            id_of(1).to_string() + "'"
        ),
        std::to_string(revision) + "\n"
    );
}

TEST_F(PostgresFaults, survives_a_server_that_is_killed_and_started_again) {
    PostgresServer server;
    const StorePtr store = make_postgres_store({.url = server.url()}, clock_);
    store->heartbeat(worker_of("w1"), std::chrono::hours(1));
    int starts = 0;
    std::atomic<bool> is_down = false;
    std::jthread killer;
    while (true) {
        try {
            start_one(*store, instance_of(++starts, {put(1, "pay")}));
        } catch (const Error& error) {
            EXPECT_TRUE(error.is_transient()) << error.what();
            break;
        }
        if (starts == 50) {
            killer = std::jthread([&] {
                server.kill();
                is_down = true;
            });
        }
    }
    killer.join();
    EXPECT_TRUE(is_down);
    const std::string message =
        expect_error(ErrorCode::StoreUnavailable, "cannot be reached", [&] { store->list({}); });
    EXPECT_THAT(message, HasSubstr("/ebb_test"));
    server.start();
    for (bool is_back = false; !is_back;) {
        try {
            start_one(*store, instance_of(starts, {put(1, "pay")}));
            is_back = true;
        } catch (const Error& error) {
            // Repeat until the pause between two connection attempts is over.
            ASSERT_EQ(error.code(), ErrorCode::StoreUnavailable) << error.what();
        }
    }
    for (int n = 1; n <= starts; ++n) EXPECT_TRUE(store->load(id_of(n)).has_value()) << n;
    EXPECT_EQ(claim(*store, "w1", {"pay"}, 1'000).size(), static_cast<std::size_t>(starts));
}

TEST_F(PostgresFaults, distinguishes_a_wrong_password_from_a_missing_database) {
    execute("CREATE ROLE secret_one LOGIN PASSWORD 'right' IN ROLE secret");
    expect_error(ErrorCode::StoreDenied, "Check user, password", [&] {
        open({.url = postgres_server().url("ebb_test", "secret_one:hunter2")});
    });
    expect_error(ErrorCode::StoreError, "createdb", [&] {
        open({.url = postgres_server().url("ebb_nowhere", "ebb:hunter2")});
    });
    expect_error(ErrorCode::StoreDenied, "does not exist", [&] {
        open({.url = postgres_server().url("ebb_test", "missing_user:hunter2")});
    });
    expect_error(ErrorCode::StoreUnavailable, "cannot be reached", [&] {
        open({.url = "postgresql://ebb:hunter2@/ebb_test?host=/nowhere"});
    });
}

TEST_F(PostgresFaults, an_outcome_waits_until_the_server_accepts_the_login_again) {
    execute("CREATE ROLE secret_two LOGIN SUPERUSER PASSWORD 'hunter2' IN ROLE secret");
    const std::string url = postgres_server().url("ebb_test", "secret_two:hunter2");
    const StorePtr store = open_postgres_store({.url = url, .schema = schema_});
    std::atomic<bool> is_running = false;
    std::atomic<bool> is_open = false;
    std::atomic<int> calls = 0;
    HandlerRegistry handlers;
    handlers.add_raw("pay", [&](const Payload& input, const StepContext&) {
        ++calls;
        is_running = true;
        is_running.notify_all();
        is_open.wait(false);
        return input;
    });
    WaitingLog log;
    EngineOptions options;
    options.log = &log;
    Engine engine(*store, handlers, options);
    engine.register_workflow(WorkflowBuilder("orders").step("pay").build());
    engine.run();
    const InstanceId id = engine.start("orders").id;
    is_running.wait(false);
    execute("ALTER ROLE secret_two PASSWORD 'another'");
    execute(kCutAll);
    is_open = true;
    is_open.notify_all();
    EXPECT_TRUE(log.wait_for("commit_delayed"));
    expect_error(ErrorCode::StoreUnavailable, "password", [&] { store->list({}); });
    expect_error(ErrorCode::StoreDenied, "Check user, password", [&] { open({.url = url}); });
    execute("ALTER ROLE secret_two PASSWORD 'hunter2'");
    while (store_status(id) != "completed\n") std::this_thread::yield();
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(log.count("commit_refused"), 0);
}

TEST_F(PostgresFaults, says_which_privilege_is_missing) {
    open();
    execute("CREATE ROLE observer LOGIN");
    const std::string url = postgres_server().url("ebb_test", "observer:hunter2");
    expect_error(ErrorCode::StoreDenied, "permission denied for schema", [&] {
        open({.url = url, .migrate = false});
    });
    execute("GRANT USAGE ON SCHEMA " + schema_ + " TO observer");
    execute("GRANT SELECT ON ALL TABLES IN SCHEMA " + schema_ + " TO observer");
    // An observer may read. When the schema is up to date, opening with migrations enabled needs no
    // further rights.
    const StorePtr store = open({.url = url});
    EXPECT_TRUE(store->list({}).empty());
    expect_error(ErrorCode::StoreDenied, "permission denied for table", [&] {
        start_one(*store, instance_of(1));
    });
    schema_ = fresh_schema();
    expect_error(ErrorCode::StoreDenied, "permission denied for database", [&] {
        open({.url = url});
    });
}

TEST_F(PostgresFaults, a_read_only_server_can_be_read) {
    const StorePtr writable = open();
    start_one(*writable, instance_of(1, {put(1, "pay")}));
    const StorePtr store =
        open({.url = postgres_server().url() + "&options=-c%20default_transaction_read_only%3Don"});
    EXPECT_EQ(store->list({}).size(), 1U);
    expect_error(ErrorCode::StoreReadOnly, "read-write", [&] { claim(*store, "w1"); });
    expect_error(ErrorCode::StoreReadOnly, "read-write", [&] { commit_one(*store, {}); });
    EXPECT_EQ(claim(*writable, "w1").size(), 1U);
}

TEST_F(PostgresFaults, finds_the_server_that_can_write_among_several_hosts) {
    const StorePtr store =
        open({.url = postgres_server().url() + ",/nowhere&target_session_attrs=read-write"});
    EXPECT_TRUE(store->list({}).empty());
    const StorePtr second = open(
        {.url = "postgresql://ebb@/ebb_test?host=/nowhere," + postgres_server().folder().string() +
                "&target_session_attrs=read-write"}
    );
    EXPECT_TRUE(second->list({}).empty());
}

/// Sets whether sessions, including open ones, begin with read-only transactions.
void set_read_only(const PostgresServer& server, bool is_on) {
    server.execute(
        fmt::format("ALTER SYSTEM SET default_transaction_read_only = {}", is_on ? "on" : "off")
    );
    server.execute("SELECT pg_reload_conf()");
}

/// Starts instances from `first` on until one is written on `server`. Returns the next number. A
/// start may fail, but only with a temporary error.
int start_until_on(Store& store, const PostgresServer& server, int first) {
    constexpr int kTriesMax = 100'000;
    for (int n = first; n < kTriesMax; ++n) {
        try {
            start_one(store, instance_of(n));
        } catch (const Error& error) {
            if (error.is_transient()) continue;
            ADD_FAILURE() << error.what();
            return n;
        }
        const std::string found = server.execute(
            "SELECT count(*) FROM ebb.instances WHERE id = '" + id_of(n).to_string() + "'"
        );
        if (found == "1\n") return n + 1;
    }
    ADD_FAILURE() << "nothing was written there";
    return kTriesMax;
}

TEST_F(PostgresFaults, follows_the_writable_server_while_sessions_of_the_other_stay_open) {
    PostgresServer one;
    PostgresServer two;
    for (const PostgresServer* server : {&one, &two}) {
        make_postgres_store({.url = server->url()}, clock_);
    }
    set_read_only(one, true);
    const std::string url = "postgresql://ebb@/ebb_test?host=" + one.folder().string() + "," +
                            two.folder().string() + "&target_session_attrs=read-write";
    const StorePtr store = make_postgres_store({.url = url}, clock_);
    int next = start_until_on(*store, two, 1);
    // Its sessions stay open and notice the change when they are next used.
    set_read_only(one, false);
    set_read_only(two, true);
    next = start_until_on(*store, one, next);
    EXPECT_EQ(
        two.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ebb'"), "0\n"
    ) << "no connection to it is kept";
    set_read_only(two, false);
    one.kill();
    start_until_on(*store, two, next);
}

TEST_F(PostgresFaults, writes_again_when_the_only_server_is_writable_again) {
    const PostgresServer server;
    const StorePtr store = make_postgres_store({.url = server.url()}, clock_);
    start_one(*store, instance_of(1));
    set_read_only(server, true);
    int n = 2;
    ErrorCode code = ErrorCode::Internal;
    while (code == ErrorCode::Internal) {
        try {
            start_one(*store, instance_of(n++));
        } catch (const Error& error) {
            code = error.code();
        }
    }
    EXPECT_EQ(to_string(code), to_string(ErrorCode::StoreReadOnly));
    set_read_only(server, false);
    for (bool is_written = false; !is_written;) {
        try {
            start_one(*store, instance_of(n));
            is_written = true;
        } catch (const Error& error) {
            EXPECT_EQ(to_string(error.code()), to_string(ErrorCode::StoreReadOnly));
        }
    }
    EXPECT_TRUE(store->load(id_of(n)).has_value());
}

TEST_F(PostgresFaults, refuses_texts_that_postgresql_cannot_keep) {
    const StorePtr store = open();
    NewInstance instance = instance_of(1);
    instance.row.key = std::string("a\0b", 3);
    expect_error(ErrorCode::InvalidPayload, "U+0000", [&] { start_one(*store, instance); });
    instance.row.key = "\xff";
    expect_error(ErrorCode::InvalidPayload, "UTF-8", [&] { start_one(*store, instance); });
    EXPECT_TRUE(store->list({}).empty());
}

TEST_F(PostgresFaults, an_unknown_status_concerns_its_instance_only) {
    const StorePtr store = open();
    for (int n = 1; n <= 3; ++n) start_one(*store, instance_of(n, {put(1, "pay")}));
    execute(
        "UPDATE " + schema_ + ".instances SET status = 'odd' WHERE id = '" + id_of(2).to_string() +
        "'"
    );
    expect_error(ErrorCode::CorruptState, "unknown status \"odd\"", [&] { store->load(id_of(2)); });
    EXPECT_THAT(names_of(claim(*store, "w1")), ElementsAre("1/1", "3/1"));
    EXPECT_TRUE(store->tasks(id_of(2)).at(0).is_parked);
    EXPECT_EQ(store->tasks(id_of(2)).at(0).lease_owner, "");
    EXPECT_EQ(store->list({}).size(), 2U);
    EXPECT_EQ(store->count().at(0).count, 2);
}

TEST_F(PostgresFaults, a_batch_that_fails_halfway_leaves_nothing) {
    const StorePtr store = open();
    start_one(*store, instance_of(1));
    start_one(*store, instance_of(2));
    const Change good{.instance = 1, .state = "new"};
    const Change twice{.instance = 2, .history = {event_of(1, HistoryType::Started)}};
    const std::vector<Commit> batch{good.view(), twice.view()};
    expect_error(ErrorCode::StoreError, "duplicate key", [&] { store->commit(batch); });
    EXPECT_EQ(store->load(id_of(1))->revision, 1);
    EXPECT_EQ(commit_one(*store, good), CommitResult::Committed);
}

TEST_F(PostgresFaults, waits_for_a_connection_when_all_are_in_use) {
    const StorePtr store = open({.connections_max = 1});
    std::vector<std::jthread> threads;
    for (int n = 1; n <= 8; ++n) {
        threads.emplace_back([&, n] { start_one(*store, instance_of(n)); });
    }
    threads.clear();
    EXPECT_EQ(store->list({}).size(), 8U);
    EXPECT_EQ(
        execute(
            "SELECT count(*) <= 1 FROM pg_stat_activity WHERE application_name = 'ebb' AND query "
            "LIKE '%" +
            schema_ + "%'"
        ),
        "t\n"
    );
}

}  // namespace
}  // namespace ebb::testing
