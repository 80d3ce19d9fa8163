// Goal: starts that come in together are stored together, each is recorded before it is done, and
// each gets its own answer. Method: an audit whose store waits for the test, so that the orders
// that come meanwhile are known.

#include "server/api/start_desk.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include <ebb/definition.h>
#include <ebb/error.h>

#include "store/admin_store.h"
#include "store/memory/memory_store.h"
#include "store/store_decorator.h"
#include "support/flow.h"

namespace ebb::server {
namespace {

using ::testing::ElementsAre;

/// Counts the rows of each write. The first write waits until it is let go.
class HeldAdminStore : public AdminStore {
 public:
    bool add(const AdminRow& row) override { return memory_->add(row); }

    void put(const AdminRow& row) override { memory_->put(row); }

    bool change(const AdminRow& row) override { return memory_->change(row); }

    std::optional<AdminRow> find(std::string_view kind, std::string_view name) override {
        return memory_->find(kind, name);
    }

    std::vector<AdminRow> list(std::string_view kind) override { return memory_->list(kind); }

    bool remove(std::string_view kind, std::string_view name) override {
        return memory_->remove(kind, name);
    }

    void remove_expired(TimePoint now) override { memory_->remove_expired(now); }

    void append_audit(std::span<const AuditRow> rows) override {
        std::unique_lock lock(mutex_);
        writes.push_back(rows.size());
        changed_.notify_all();
        changed_.wait(lock, [this] { return is_open_; });
        if (is_away) throw Error(ErrorCode::StoreUnavailable, "The store is away.");
        memory_->append_audit(rows);
    }

    std::vector<AuditRow> list_audit(const AuditQuery& query) override {
        return memory_->list_audit(query);
    }

    std::int64_t remove_audit(std::string_view id) override { return memory_->remove_audit(id); }

    void wait_for_write() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !writes.empty(); });
    }

    void let_go() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        changed_.notify_all();
    }

    std::vector<std::size_t> writes;  ///< rows of each
    bool is_away = false;

 private:
    std::unique_ptr<AdminStore> memory_ = make_memory_admin_store();
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = false;
};

/// Counts the instances of each start.
class CountingStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    std::vector<StartResult> start(std::span<const NewInstance> instances) override {
        starts.push_back(instances.size());
        const auto results = StoreDecorator::start(instances);
        if (is_in_doubt) throw Error(ErrorCode::StoreUnavailable, "The answer was lost.");
        return results;
    }

    std::vector<std::size_t> starts;
    bool is_in_doubt = false;
};

struct StartDeskTest : ::testing::Test {
    SystemClock clock;
    StorePtr memory = make_memory_store(clock);
    CountingStore store{*memory};
    HandlerRegistry none;
    Engine engine{store, none};
    HeldAdminStore admin;
    Audit audit{admin, clock, nullptr};
    StartDesk desk{engine, audit};
    std::vector<StartOrder::Outcome> outcomes = std::vector<StartOrder::Outcome>(16);

    void SetUp() override { engine.register_workflow(test::workflow({test::step("a")})); }

    StartOrder order(std::size_t number, const std::string& workflow = "test") {
        return {
            .start = {.workflow = workflow, .input = "1", .options = {}},
            .entry = {.principal = "token:ci", .action = "startInstance", .target = "/instances"},
            .done = [this, number](const auto& outcome) { outcomes.at(number) = outcome; },
        };
    }

    /// The first order is held in the audit while the others come in.
    void take_while_held(std::vector<StartOrder> others) {
        std::jthread first([this] { desk.take(order(0)); });
        admin.wait_for_write();
        // Each returns although the first one still waits.
        for (StartOrder& other : others) desk.take(std::move(other));
        admin.let_go();
    }

    static ErrorCode code_of(const StartOrder::Outcome& outcome) {
        try {
            if (outcome.error) std::rethrow_exception(outcome.error);
        } catch (const Error& error) {
            return error.code();
        }
        return ErrorCode::Internal;
    }
};

TEST_F(StartDeskTest, orders_that_come_together_are_recorded_and_stored_together) {
    take_while_held({order(1), order(2), order(3)});
    EXPECT_THAT(admin.writes, ElementsAre(1, 3));
    EXPECT_THAT(store.starts, ElementsAre(1, 3));
    for (std::size_t number = 0; number < 4; ++number) {
        EXPECT_TRUE(outcomes[number].started.is_new);
        EXPECT_TRUE(engine.find(outcomes[number].started.id).has_value());
    }
    EXPECT_EQ(admin.list_audit({}).size(), 4U);
}

TEST_F(StartDeskTest, orders_with_other_options_or_a_key_are_stored_by_themselves) {
    StartOrder urgent = order(2);
    urgent.start.options.priority = 5;
    StartOrder labelled = order(3);
    labelled.start.options.labels = {{"tenant", "acme"}};
    take_while_held({order(1), std::move(urgent), std::move(labelled), order(4)});
    EXPECT_THAT(store.starts, ElementsAre(1, 2, 1, 1));
    EXPECT_EQ(engine.find(outcomes[2].started.id)->priority, 5);
    StartOrder keyed = order(5);
    keyed.start.options.key = "k";
    desk.take(keyed);
    desk.take(std::move(keyed));
    EXPECT_FALSE(outcomes[5].started.is_new);
    EXPECT_EQ(admin.list_audit({}).size(), 7U);
}

TEST_F(StartDeskTest, an_order_that_is_refused_does_not_harm_the_others) {
    take_while_held({order(1), order(2, "unknown"), order(3)});
    EXPECT_TRUE(outcomes[1].started.is_new);
    EXPECT_EQ(code_of(outcomes[2]), ErrorCode::WorkflowNotFound);
    EXPECT_TRUE(outcomes[3].started.is_new);
    EXPECT_EQ(engine.list({}).size(), 3U);
}

TEST_F(StartDeskTest, what_may_have_been_stored_is_not_started_again) {
    store.is_in_doubt = true;
    take_while_held({order(1), order(2)});
    EXPECT_THAT(store.starts, ElementsAre(1, 2));
    EXPECT_EQ(code_of(outcomes[1]), ErrorCode::StoreUnavailable);
    EXPECT_EQ(code_of(outcomes[2]), ErrorCode::StoreUnavailable);
    EXPECT_EQ(engine.list({}).size(), 3U);
}

TEST_F(StartDeskTest, what_cannot_be_recorded_is_not_done) {
    admin.is_away = true;
    take_while_held({order(1), order(2)});
    for (std::size_t number = 0; number < 3; ++number) {
        EXPECT_EQ(code_of(outcomes[number]), ErrorCode::StoreUnavailable);
    }
    EXPECT_TRUE(engine.list({}).empty());
    EXPECT_TRUE(store.starts.empty());
}

}  // namespace
}  // namespace ebb::server
