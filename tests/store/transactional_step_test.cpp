// Goal: what a transactional handler does in the database happens exactly once, together with the
// end of its step. Method: an application table beside the store, on SQLite and PostgreSQL;
// handlers that fail, cheat or finish too late; real processes killed at random moments.

#include <csignal>
#include <random>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "core/kernel/state.h"
#include "store/application.h"
#include "support/store_process.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(60);
const Backoff kSoon{.strategy = Backoff::Strategy::Fixed, .initial = std::chrono::milliseconds(1)};

class TransactionalStep : public ::testing::TestWithParam<PlaceMaker> {
 protected:
    TransactionalStep() : place_(GetParam()(dir_)) {
        place_.open();
        place_.ask("CREATE TABLE effects (instance text, what text)");
    }

    /// A handler that writes a row and then calls `more`.
    using More = std::function<void(const StepContext& context, const Transaction& transaction)>;

    auto writer(std::string what, More more = {}) {
        return [this, what, more](
                   const Json& input, const StepContext& context, const Transaction& transaction
               ) {
            const std::string id = context.instance.to_string();
            const std::string row = fmt::format("VALUES ('{}', '{}')", id, what);
            place_.run(transaction, "INSERT INTO effects " + row);
            if (more) more(context, transaction);
            return input;
        };
    }

    std::string effects(const std::string& what) {
        return place_.ask("SELECT count(*) FROM effects WHERE what = '" + what + "'");
    }

    /// Runs an instance of one step "book" with up to three attempts.
    Result run(const HandlerRegistry& handlers) {
        const StorePtr store = place_.open();
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("booking").step("book").backoff(kSoon).build());
        id_ = engine.start("booking", Payload::text("7")).id;
        const Result result = engine.wait(id_, kLong);
        view_ = engine.show(id_);
        return result;
    }

    TempDir dir_;
    Place place_;
    HandlerRegistry handlers_;
    InstanceId id_;
    InstanceView view_;
};

TEST_P(TransactionalStep, commits_its_effect_with_the_end_of_the_step) {
    handlers_.add_transactional("book", writer("booked"));
    const Result result = run(handlers_);
    EXPECT_EQ(result.status, "completed");
    EXPECT_EQ(result.output, "7");
    EXPECT_EQ(effects("booked"), "1");
}

TEST_P(TransactionalStep, leaves_nothing_of_an_attempt_that_fails) {
    int calls = 0;
    handlers_.add_transactional("book", writer("booked", [&](const auto&, const auto&) {
                                    if (++calls < 3) throw std::runtime_error("not yet");
                                }));
    EXPECT_EQ(run(handlers_).status, "completed");
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(effects("booked"), "1");
}

TEST_P(TransactionalStep, is_rolled_back_when_its_result_comes_too_late) {
    handlers_.add_transactional(
        "book",
        writer(
            "booked",
            [&](const auto& context, const auto&) {
                // This very transaction locks SQLite, so there the handler changes the row inside
                // it.
                if (GetParam() == &sqlite_place) {
                    const std::string sql =
                        "UPDATE instances SET revision = revision + 1, state = replace("
                        "state, '\"attempt\":1', '\"attempt\":2')";
                    place_.run(*context.transaction, sql);
                    return;
                }
                const StorePtr store = place_.open();
                const HandlerRegistry nobody;
                Engine(*store, nobody).abort(context.instance);
            }
        )
    );
    if (GetParam() == &sqlite_place) {
        const StorePtr store = place_.open();
        Engine engine(*store, handlers_);
        engine.register_workflow(WorkflowBuilder("booking").step("book").build());
        engine.start("booking", Payload::text("7"));
        engine.run_one();
    } else {
        EXPECT_EQ(run(handlers_).status, "aborted");
    }
    EXPECT_EQ(effects("booked"), "0");
}

TEST_P(TransactionalStep, leaves_nothing_of_a_call_that_pauses) {
    std::vector<std::string> payloads;
    handlers_.add_transactional("book", writer("booked", [&](const auto& context, const auto&) {
                                    payloads.push_back(context.payload.value_or("none"));
                                    if (!context.payload) context.pause();
                                }));
    const StorePtr store = place_.open();
    Engine engine(*store, handlers_);
    engine.register_workflow(WorkflowBuilder("booking").step("book").build());
    const InstanceId id = engine.start("booking", Payload::text("7")).id;
    while (engine.run_one()) {
    }
    EXPECT_EQ(effects("booked"), "0");
    engine.signal(id, "book", Payload::text("8"));
    EXPECT_EQ(engine.wait(id, kLong).status, "completed");
    EXPECT_THAT(payloads, ::testing::ElementsAre("none", "8"));
    EXPECT_EQ(effects("booked"), "1");
}

TEST_P(TransactionalStep, leaves_nothing_if_no_edge_has_the_handle_that_it_names) {
    handlers_.add_transactional("book", writer("booked", [](const auto& context, const auto&) {
                                    context.leave_by("nowhere");
                                }));
    const Result result = run(handlers_);
    EXPECT_EQ(result.status, "failed");
    EXPECT_THAT(result.error, HasSubstr("unmatched_handle"));
    EXPECT_EQ(effects("booked"), "0");
}

TEST_P(TransactionalStep, must_not_end_its_transaction) {
    int calls = 0;
    handlers_.add_transactional("book", writer("booked", [&](const auto&, const auto& transaction) {
                                    ++calls;
                                    place_.run(transaction, "ROLLBACK");
                                }));
    const Result result = run(handlers_);
    EXPECT_EQ(result.status, "failed");
    EXPECT_THAT(result.error, HasSubstr("transaction_ended"));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(effects("booked"), "0");
}

TEST_P(TransactionalStep, may_start_other_instances_that_exist_only_if_it_commits) {
    const StorePtr store = place_.open();
    const HandlerRegistry nobody;
    Engine client(*store, nobody);
    client.register_workflow(WorkflowBuilder("mail").step("send").build());
    int calls = 0;
    handlers_.add_transactional("book", writer("booked", [&](const auto&, const auto& transaction) {
                                    client.start_in(transaction, "mail", Payload::text("1"));
                                    if (++calls < 3) throw std::runtime_error("not yet");
                                }));
    EXPECT_EQ(run(handlers_).status, "completed");
    EXPECT_EQ(client.list({.workflow = "mail"}).size(), 1U);
}

TEST_P(TransactionalStep, compensates_transactionally_too) {
    handlers_.add_transactional("book", writer("booked"));
    int undos = 0;
    handlers_.add_transactional("unbook", writer("unbooked", [&](const auto&, const auto&) {
                                    if (++undos == 1) throw std::runtime_error("not yet");
                                }));
    handlers_.add("fail", [](const Json&) -> Json { throw PermanentError("no"); });
    const StorePtr store = place_.open();
    Engine engine(*store, handlers_);
    engine.register_workflow(
        WorkflowBuilder("trip").step("book").compensate("unbook").backoff(kSoon).step("fail").build(
        )
    );
    const InstanceId id = engine.start("trip").id;
    EXPECT_EQ(engine.wait(id, kLong).status, "failed");
    EXPECT_EQ(effects("booked"), "1");
    EXPECT_EQ(effects("unbooked"), "1");
}

TEST_P(TransactionalStep, continues_to_ordinary_steps_and_branches) {
    handlers_.add_transactional("book", writer("booked"));
    handlers_.add("note", [](const Json& input) { return input; });
    const StorePtr store = place_.open();
    Engine engine(*store, handlers_, {.threads = 4});
    const auto branch = [](BlockBuilder& block) { block.step("note").step("book"); };
    const auto other = [](BlockBuilder& block) {
        block.step("note2", {.handler = "note"}).step("book2", {.handler = "book"});
    };
    engine.register_workflow(WorkflowBuilder("both")
                                 .step("first", {.handler = "book"})
                                 .parallel("p", {{"a", branch}, {"b", other}})
                                 .step("last", {.handler = "note"})
                                 .build());
    engine.run();
    std::vector<Payload> inputs(20, "1");
    for (const StartedInstance& started : engine.start_all("both", inputs)) {
        EXPECT_EQ(engine.wait(started.id, kLong).status, "completed");
    }
    EXPECT_EQ(effects("booked"), "60");
}

/// What one process of the application does until it is killed.
int work_until_killed(const Place& place, int pipe, int instances) {
    const auto step = [&](const char* what, bool fails) {
        return [&place, pipe, what, fails](
                   const Json& input, const StepContext& context, const Transaction& transaction
               ) {
            const std::string id = context.instance.to_string();
            const std::string row = fmt::format("VALUES ('{}', '{}')", id, what);
            place.run(transaction, "INSERT INTO effects " + row);
            if (write(pipe, "x", 1) != 1) _exit(97);
            if (fails && input == 0) throw PermanentError("on purpose");
            return input;
        };
    };
    HandlerRegistry handlers;
    handlers.add_transactional("one", step("one", false));
    handlers.add_transactional("two", step("two", false));
    handlers.add_transactional("three", step("three", true));
    handlers.add_transactional("undo", step("undo", false));
    const StorePtr store = place.open();
    Engine engine(*store, handlers, {.worker_id = "worker", .threads = 4});
    engine.register_workflow(
        WorkflowBuilder("demo").step("one").compensate("undo").step("two").step("three").build()
    );
    engine.run();
    for (int i = 0; i < instances; ++i) {
        const StartedInstance started = engine.start("demo", i % 3, {.key = std::to_string(i)});
        if (i + 1 == instances) engine.wait(started.id, kLong);
    }
    for (int i = 0; i < instances; ++i) {
        const auto id = engine.find_key("demo", std::to_string(i));
        if (!id || !engine.wait(*id, kLong).is_finished) return 1;
    }
    return 0;
}

TEST_P(TransactionalStep, happens_exactly_once_however_often_its_process_is_killed) {
    constexpr int kInstances = 30;
    constexpr int kRounds = 2;
    // Each kill may lose every task that the process held, and a step that loses its lease once
    // more fails.
    constexpr int kKills = kLostLeasesMax - 1;
    std::mt19937 dice(20'261'121);
    std::uniform_int_distribution<int> calls(1, 12);
    for (int life = 0; life < kRounds * (kKills + 1); ++life) {
        const bool is_last = life % (kKills + 1) == kKills;
        const int instances = kInstances / kRounds * (life / (kKills + 1) + 1);
        int ends[2] = {-1, -1};
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork_process([&] {
            close(ends[0]);
            return work_until_killed(place_, ends[1], instances);
        });
        close(ends[1]);
        char byte = 0;
        const int patience = is_last ? 1'000'000 : calls(dice);
        for (int i = 0; i < patience && read(ends[0], &byte, 1) == 1; ++i) {
        }
        if (!is_last) kill(child, SIGKILL);
        const int end = wait_for(child);
        close(ends[0]);
        EXPECT_TRUE(!is_last || end == 0) << end;
    }
    // Every third instance fails in step three, whose own row must then be missing.
    EXPECT_EQ(effects("one"), "30");
    EXPECT_EQ(effects("two"), "30");
    EXPECT_EQ(effects("three"), "20");
    EXPECT_EQ(effects("undo"), "10");
    const std::string pairs =
        "SELECT count(*) FROM (SELECT DISTINCT instance, what FROM effects) AS p";
    EXPECT_EQ(place_.ask(pairs), "90");
}

INSTANTIATE_TEST_SUITE_P(Sqlite, TransactionalStep, ::testing::Values(&sqlite_place));
INSTANTIATE_TEST_SUITE_P(Postgres, TransactionalStep, ::testing::Values(&postgres_place));

TEST(TransactionalHandler, needs_a_store_with_transactions) {
    HandlerRegistry handlers;
    handlers.add_transactional(
        "book", [](const Json& input, const StepContext&, const Transaction&) { return input; }
    );
    const StorePtr store = open_memory_store();
    try {
        Engine(*store, handlers);
        FAIL() << "an engine was created";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
        EXPECT_THAT(error.what(), HasSubstr("the memory store has no transactions"));
    }
}

/// The rules for a handler that is careless with PostgreSQL's connection.
class CarelessHandler : public ::testing::Test {
 protected:
    Result run(const std::function<void(const Transaction&)>& careless) {
        HandlerRegistry handlers;
        handlers.add_transactional(
            "book",
            [&](const Json& input, const StepContext&, const Transaction& transaction) {
                careless(transaction);
                return input;
            }
        );
        const StorePtr store = place_.open();
        Engine engine(*store, handlers);
        engine.register_workflow(WorkflowBuilder("booking").step("book").max_attempts(1).build());
        return engine.wait(engine.start("booking", Payload::text("7")).id, kLong);
    }

    TempDir dir_;
    Place place_ = postgres_place(dir_);
};

TEST_F(CarelessHandler, fails_if_it_hid_a_failed_statement) {
    const Result result = run([&](const Transaction& transaction) {
        EXPECT_THROW(place_.run(transaction, "SELECT 1 / 0"), std::runtime_error);
    });
    EXPECT_THAT(result.error, HasSubstr("transaction_failed"));
    EXPECT_THAT(result.error, HasSubstr("can only be rolled back"));
}

TEST_F(CarelessHandler, fails_if_it_leaves_unread_results_or_a_pipeline) {
    const Result unread = run([](const Transaction& transaction) {
        PQsendQuery(transaction.postgres(), "SELECT 1");
    });
    EXPECT_THAT(unread.error, HasSubstr("query in progress"));
    const Result pipeline =
        run([](const Transaction& transaction) { PQenterPipelineMode(transaction.postgres()); });
    EXPECT_THAT(pipeline.error, HasSubstr("pipeline mode"));
}

TEST_F(CarelessHandler, loses_its_lease_but_no_attempt_if_its_connection_breaks) {
    int calls = 0;
    const Result result = run([&](const Transaction& transaction) {
        if (++calls > 2) return;
        EXPECT_THROW(
            place_.run(transaction, "SELECT pg_terminate_backend(pg_backend_pid())"),
            std::runtime_error
        );
        throw PermanentError("the handler treats it as its own failure");
    });
    EXPECT_EQ(result.status, "completed") << result.error;
    EXPECT_EQ(calls, 3);
}

TEST_F(CarelessHandler, fails_if_a_deferred_constraint_does_not_hold) {
    place_.ask("CREATE TABLE effects (id integer UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    const Result result = run([&](const Transaction& transaction) {
        place_.run(transaction, "INSERT INTO effects VALUES (1), (1)");
    });
    EXPECT_EQ(result.status, "failed");
    EXPECT_THAT(result.error, HasSubstr("commit_refused"));
    EXPECT_EQ(place_.ask("SELECT count(*) FROM effects"), "0");
}

}  // namespace
}  // namespace ebb::testing
