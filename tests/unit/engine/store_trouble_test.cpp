// What the engine makes of a store that says more than yes or no: another date, notices, instances
// that cannot be written for now, commits in doubt, and no connection for transactions.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ebb/builder.h>
#include <ebb/handler.h>
#include <ebb/log.h>

#include "engine_world.h"
#include "support/store_counting.h"
#include "support/store_faulty.h"

namespace ebb::test {
namespace {

using testing::CountingStore;
using testing::Fault;
using testing::FaultyStore;
using testing::StoreDecorator;
using testing::StoreVerb;

/// A server whose date is another one than that of this machine.
class AheadStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    TimePoint now() const override { return StoreDecorator::now() + 1h; }
};

/// Has noticed something.
class NoticingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::vector<StoreNotice> notices;

    std::vector<StoreNotice> take_notices() override { return std::exchange(notices, {}); }
};

/// Cannot write one of the instances for now.
class BusyStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::optional<InstanceId> busy;
    int tries = 0;           ///< of that one
    std::size_t beside = 0;  ///< how many others were in the last batch that it was in

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        std::vector<CommitResult> results;
        for (const Commit& commit : commits) {
            if (busy != commit.instance) {
                results.push_back(StoreDecorator::commit({&commit, 1}).front());
                continue;
            }
            ++tries;
            beside = commits.size() - 1;
            results.push_back(CommitResult::Busy);
        }
        return results;
    }
};

/// A step's transaction that is none.
class PlainTransaction final : public StoreTransaction {
 public:
    PlainTransaction(Store& store, bool is_lost) : store_(store), is_lost_(is_lost) {}

    const Transaction& handle() const override { return handle_; }

    void check() const override {
        if (is_lost_) throw HandlerFailure("the connection is broken", {.code = "test"});
    }

    bool is_lost() const override { return is_lost_; }

    std::optional<InstanceRow> lock(const InstanceId& id) override { return store_.load(id); }

    void commit(const Commit& commit) override { store_.commit({&commit, 1}); }

 private:
    Store& store_;
    const bool is_lost_;
    const Transaction handle_{static_cast<pg_conn*>(nullptr)};
};

/// Has transactions, or had.
class TransactingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    bool is_down = false;  ///< no transaction can be begun
    int begun = 0;
    int losses = 0;  ///< how many of the next transactions lose their connection

    StoreTraits traits() const override {
        StoreTraits traits = StoreDecorator::traits();
        traits.has_transactions = true;
        return traits;
    }

    bool can_begin_transaction() override {
        has_failed_ = has_failed_ && is_down;
        return !has_failed_;
    }

    std::unique_ptr<StoreTransaction> begin_transaction() override {
        ++begun;
        has_failed_ = is_down;
        if (is_down) throw Error(ErrorCode::StoreUnavailable, "No connection is left.");
        return std::make_unique<PlainTransaction>(*this, losses-- > 0);
    }

 private:
    bool has_failed_ = false;
};

class RecordingLog : public LogSink {
 public:
    std::vector<std::string> lines;

    bool is_enabled(LogLevel level) const noexcept override { return level >= LogLevel::Warning; }

    void write(
        LogLevel level, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        std::string line = fmt::format("{} {}", to_string(level), event);
        for (const LogField& field : fields) line += fmt::format(" {}={}", field.key, field.value);
        lines.push_back(std::move(line));
    }
};

struct StoreTrouble : ::testing::Test {
    EngineWorld world;
    RecordingLog log;

    void SetUp() override { world.record({"a", "b", "c"}); }

    std::unique_ptr<Engine> engine_on(Store& store, const std::string& worker = "w1") {
        EngineOptions options = world.options(worker);
        options.log = &log;
        return std::make_unique<Engine>(store, world.handlers, options);
    }

    /// Time passes, in small pieces.
    void pass(Engine& engine, Duration time) {
        for (Duration passed{0}; passed < time; passed += 100ms) {
            world.clock.advance(100ms);
            engine.poll();
        }
    }
};

TEST_F(StoreTrouble, dates_are_those_of_the_store) {
    AheadStore ahead(*world.memory);
    const auto engine = engine_on(ahead);
    engine->register_workflow(workflow({node("wait", Delay{.duration = "30m"}), step("a")}));
    const InstanceId id = engine->start("test").id;
    engine->poll();
    const std::vector<TaskRow> tasks = world.memory->tasks(id);
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].due, ahead.now() + 30min);
    EXPECT_EQ(engine->find(id)->created_at, ahead.now());
}

/// Counts how often it is asked to reclaim space, and answers as the test says.
class ReclaimingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    Duration reclaim() override {
        ++asked;
        if (error) throw Error(*error, "no");
        return pause;
    }

    int asked = 0;
    Duration pause = 5s;
    std::optional<ErrorCode> error{};
};

TEST_F(StoreTrouble, the_store_is_asked_to_reclaim_space_whenever_its_pause_is_over) {
    ReclaimingStore store(*world.memory);
    const auto engine = engine_on(store);
    engine->poll();
    EXPECT_EQ(store.asked, 1);
    pass(*engine, 4s);
    EXPECT_EQ(store.asked, 1);
    pass(*engine, 1s);
    EXPECT_EQ(store.asked, 2);
    store.pause = Duration::max();
    pass(*engine, 5s);
    EXPECT_EQ(store.asked, 3);
    pass(*engine, 10min);
    EXPECT_EQ(store.asked, 3) << "the store has said that it has nothing to reclaim";
}

TEST_F(StoreTrouble, a_store_that_is_away_is_asked_to_reclaim_space_again) {
    ReclaimingStore store(*world.memory);
    const auto engine = engine_on(store);
    store.error = ErrorCode::StoreUnavailable;
    engine->poll();
    EXPECT_EQ(store.asked, 1);
    pass(*engine, 2min);
    EXPECT_GE(store.asked, 2);
    ASSERT_FALSE(log.lines.empty());
    EXPECT_EQ(log.lines[0].find("warning reclaim_failed"), 0U) << log.lines[0];
}

TEST_F(StoreTrouble, a_round_of_claims_fails_once_even_if_there_are_queues_with_limits) {
    FaultyStore store(*world.memory);
    world.handlers.add("ask", [](const Completion<>& completion) { completion.complete(); });
    const auto engine = engine_on(store);
    engine->register_workflow(WorkflowBuilder("test").step("a", {.queue = "bank"}).build());
    engine->set_queue("bank", {.concurrency = 1});
    engine->poll();
    const InstanceId id = engine->start("test", 1).id;
    for (const StoreVerb verb : {StoreVerb::Claim, StoreVerb::ClaimLimited}) {
        for (int nth = 1; nth <= 4; ++nth) {
            store.plan({.kind = Fault::Kind::Unavailable, .nth = nth, .verb = verb});
        }
    }
    log.lines.clear();
    engine->poll();
    EXPECT_THAT(log.lines, ::testing::ElementsAre(::testing::HasSubstr("warning claim_failed")));
    store.calm();
    pass(*engine, 2s);
    EXPECT_EQ(status(*engine, id), "completed");
}

TEST_F(StoreTrouble, a_store_that_cannot_reclaim_space_is_asked_once) {
    ReclaimingStore store(*world.memory);
    const auto engine = engine_on(store);
    store.error = ErrorCode::StoreDenied;
    engine->poll();
    pass(*engine, 10min);
    EXPECT_EQ(store.asked, 1);
}

TEST_F(StoreTrouble, what_the_store_notices_is_logged_and_bounded) {
    NoticingStore store(*world.memory);
    const auto engine = engine_on(store);
    store.notices = {{"clock_skew", "The clock of this machine is 1h ahead."}};
    engine->poll();
    ASSERT_EQ(log.lines.size(), 1U);
    EXPECT_EQ(
        log.lines[0], "warning clock_skew worker=w1 message=The clock of this machine is 1h ahead."
    );
    log.lines.clear();
    for (int i = 0; i < 500; ++i) store.notices.push_back({"commit_blocked", fmt::format("{}", i)});
    pass(*engine, 2s);
    EXPECT_EQ(log.lines.size(), 10U);
    store.notices = {{"commit_blocked", "later"}};
    pass(*engine, 62s);
    EXPECT_EQ(log.lines.size(), 10U) << "the next period had not begun";
    store.notices = {{"commit_blocked", "later"}};
    pass(*engine, 2s);
    ASSERT_EQ(log.lines.size(), 11U);
    EXPECT_EQ(log.lines[10], "warning commit_blocked worker=w1 message=later dropped=491");
}

TEST_F(StoreTrouble, an_instance_that_cannot_be_written_waits_alone_and_ever_longer) {
    BusyStore store(*world.memory);
    const auto engine = engine_on(store);
    engine->register_workflow(workflow({step("a")}));
    const std::vector<Payload> inputs = {"1", "2", "3"};
    const auto started = engine->start_all("test", inputs);
    store.busy = started[1].id;
    engine->poll();
    EXPECT_EQ(engine->counters().finished, 2U);
    EXPECT_EQ(store.tries, 1) << "it is not tried again at once";
    pass(*engine, 1min);
    EXPECT_EQ(store.tries, 6) << "after 1, 2, 4, 8 and 16 seconds";
    EXPECT_EQ(store.beside, 0U) << "no other instance waits with it";
    store.busy = {};
    pass(*engine, 31s);
    EXPECT_EQ(status(*engine, started[1].id), "completed");
    EXPECT_EQ(world.calls_text(), "a a a") << "the outcome was kept";
    EXPECT_EQ(engine->counters().conflicts, 0U);
}

TEST_F(StoreTrouble, a_request_is_answered_when_its_instance_cannot_be_written) {
    BusyStore store(*world.memory);
    const auto engine = engine_on(store);
    engine->register_workflow(workflow({step("a")}));
    const InstanceId id = engine->start("test").id;
    store.busy = id;
    engine->poll();
    try {
        engine->cancel(id);
        ADD_FAILURE() << "it was cancelled";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreBusy);
        EXPECT_NE(std::string(error.what()).find(id.to_string()), std::string::npos);
    }
    EXPECT_EQ(store.tries, 2) << "a request does not wait for the next try";
    store.busy = {};
    pass(*engine, 31s);
    EXPECT_EQ(status(*engine, id), "completed") << "a request that was refused is not kept";
}

TEST_F(StoreTrouble, a_batch_in_doubt_is_asked_about_in_two_questions) {
    FaultyStore faulty(*world.memory);
    CountingStore counting(faulty);
    const auto engine = engine_on(counting);
    engine->register_workflow(workflow({step("a"), step("b")}));
    const std::vector<Payload> inputs(50, "1");
    const auto started = engine->start_all("test", inputs);
    faulty.plan({.kind = Fault::Kind::InDoubt, .nth = 1, .verb = StoreVerb::Commit});
    counting.reset();
    engine->poll();
    ASSERT_TRUE(faulty.is_exhausted());
    const int commits = counting.calls(StoreVerb::Commit);
    pass(*engine, 2s);
    EXPECT_GT(counting.calls(StoreVerb::Commit), commits);
    EXPECT_EQ(engine->counters().finished, 50U);
    EXPECT_EQ(counting.calls(StoreVerb::WereCommitted), 1);
    EXPECT_EQ(counting.calls(StoreVerb::LeasedTasks), 1);
    EXPECT_LE(counting.calls(StoreVerb::Load) + counting.calls(StoreVerb::Tasks), 10);
    EXPECT_EQ(world.calls.size(), 100U);
}

struct Transactions : StoreTrouble {
    TransactingStore store{*world.memory};
    int calls = 0;

    void SetUp() override {
        StoreTrouble::SetUp();
        world.handlers.add_transactional_raw("t", [this](const Payload& input, const StepContext&) {
            ++calls;
            return input;
        });
    }
};

TEST_F(Transactions, that_lose_their_connection_use_up_no_attempt) {
    const auto engine = engine_on(store);
    engine->register_workflow(workflow({step("t", {.is_compensated = false, .max_attempts = 1})}));
    const InstanceId id = engine->start("test").id;
    store.losses = 3;
    world.run(*engine, 1h);
    EXPECT_EQ(status(*engine, id), "completed");
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(
        history_text(*engine, id),
        "started lease_lost:t lease_lost:t lease_lost:t step_completed:t completed"
    );
}

TEST_F(Transactions, that_cannot_be_begun_are_left_to_others) {
    CountingStore counting(store);
    const auto engine = engine_on(counting);
    engine->register_workflow(workflow({step("a"), step("t", {.is_compensated = false})}));
    const auto id = engine->start("test").id;
    store.is_down = true;
    pass(*engine, 1min);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(store.begun, 1) << "one failure, and no more tries";
    EXPECT_TRUE(world.memory->tasks(id).at(0).lease_owner.empty());
    EXPECT_LE(counting.calls(StoreVerb::Commit), 3) << "it is not claimed and given back again";
    EXPECT_LE(log.lines.size(), 2U);
    TransactingStore healthy(*world.memory);
    const auto other = engine_on(healthy, "w2");
    other->poll();
    EXPECT_EQ(status(*other, id), "completed");
    store.is_down = false;
    const InstanceId next = engine->start("test").id;
    pass(*engine, 2s);
    EXPECT_EQ(status(*engine, next), "completed");
}

}  // namespace
}  // namespace ebb::test
