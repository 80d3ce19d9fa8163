// Goal: a request that an application leaves in its own transaction happens when that is committed,
// once and in order, and never if it is rolled back. Method: connections of an application, beside
// both databases, and an engine that works when the test says so.

#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/application.h"

namespace ebb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SendIn : public ::testing::TestWithParam<bool> {
 protected:
    SendIn() {
        // A signal that is known, and that the instance never waits for.
        const auto later = [](BlockBuilder& then) { then.signal("later"); };
        WorkflowBuilder builder("order");
        builder.signal("paid").decision("approve").condition(
            "never", "workflow.version == 2", later
        );
        engine_.register_workflow(builder.build());
        id_ = engine_.start("order").id;
    }

    bool is_postgres() const { return GetParam(); }

    /// A connection of the application.
    Transaction connect() {
        if (is_postgres()) {
            PGconn* raw = PQconnectdb(postgres_server().url("ebb_test").c_str());
            postgres_.emplace_back(raw, PQfinish);
            return Transaction(raw);
        }
        sqlite3* raw = nullptr;
        sqlite3_open(dir_.file("ebb.db").c_str(), &raw);
        sqlite3_busy_timeout(raw, 10'000);
        sqlite_.emplace_back(raw, sqlite3_close);
        return Transaction(raw);
    }

    void run(const Transaction& transaction, const std::string& sql) {
        place_.run(transaction, sql);
    }

    /// Everything that a worker can do now.
    void work() {
        while (engine_.poll() > 0) {
        }
        engine_.poll();
    }

    std::vector<std::string> types() {
        std::vector<std::string> types;
        for (const HistoryEntry& entry : engine_.history(id_)) types.push_back(entry.type);
        return types;
    }

    std::string status() { return std::string(to_string(engine_.find(id_)->status)); }

    template <class Request>
    static std::string refusal(Request request) {
        try {
            request();
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was refused";
    }

    const HandlerRegistry handlers_;
    TempDir dir_;
    Place place_ = is_postgres() ? postgres_place(dir_) : sqlite_place(dir_);
    StorePtr store_ = place_.open();
    Engine engine_{*store_, handlers_};
    InstanceId id_;
    std::vector<std::unique_ptr<PGconn, void (*)(PGconn*)>> postgres_;
    std::vector<std::unique_ptr<sqlite3, int (*)(sqlite3*)>> sqlite_;
};

TEST_P(SendIn, happens_when_the_transaction_commits) {
    const Transaction app = connect();
    run(app, "BEGIN; CREATE TABLE effects (id integer); INSERT INTO effects VALUES (1)");
    engine_.signal_in(app, id_, "paid", Json{{"amount", 5}}, {.by = "bob"});
    engine_.decide_in(app, id_, {.by = "ada"});
    run(app, "COMMIT");
    EXPECT_EQ(status(), "running");
    work();
    EXPECT_EQ(status(), "completed");
    EXPECT_EQ(place_.ask("SELECT count(*) FROM effects"), "1");
    EXPECT_EQ(engine_.counters().mail_received, 2U);
    EXPECT_EQ(engine_.counters().mail_refused, 0U);
    std::string sender;
    for (const HistoryEntry& entry : engine_.history(id_)) {
        if (entry.type == "signal_received") sender = entry.worker;
    }
    EXPECT_EQ(sender, "bob");
}

TEST_P(SendIn, leaves_nothing_when_the_transaction_rolls_back) {
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.signal_in(app, id_, "paid");
    engine_.cancel_in(app, id_, {.by = "ada"});
    run(app, "ROLLBACK");
    work();
    EXPECT_EQ(status(), "running");
    EXPECT_EQ(store_->tasks(id_).size(), 0U);
    EXPECT_EQ(engine_.counters().mail_received, 0U);
}

TEST_P(SendIn, cancels) {
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.cancel_in(app, id_, {.by = "ada", .reason = "moved away"});
    run(app, "COMMIT");
    work();
    EXPECT_EQ(status(), "cancelled");
    EXPECT_THAT(types(), ::testing::Contains("cancel_requested"));
}

TEST_P(SendIn, a_paused_instance_takes_it) {
    engine_.pause(id_);
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.signal_in(app, id_, "paid");
    run(app, "COMMIT");
    work();
    EXPECT_EQ(status(), "paused");
    EXPECT_EQ(engine_.counters().mail_received, 1U);
    engine_.resume(id_);
    engine_.decide(id_, {});
    work();
    EXPECT_EQ(status(), "completed");
}

TEST_P(SendIn, a_repeated_request_happens_once) {
    const RequestOptions once{.request_id = "payment-7"};
    const Transaction app = connect();
    for (int i = 0; i < 2; ++i) {
        run(app, "BEGIN");
        engine_.signal_in(app, id_, "later", Json(i), once);
        run(app, "COMMIT");
    }
    work();
    run(app, "BEGIN");
    engine_.signal_in(app, id_, "later", Json(3), once);
    run(app, "COMMIT");
    work();
    const std::vector<std::string> all = types();
    EXPECT_EQ(std::count(all.begin(), all.end(), "signal_received"), 1);
    EXPECT_TRUE(store_->tasks(id_).empty());
}

TEST_P(SendIn, many_are_delivered_in_order_by_more_than_one_commit) {
    constexpr int kMany = kMailReadMax + 6;
    const Transaction app = connect();
    run(app, "BEGIN");
    for (int i = 0; i < kMany; ++i) engine_.signal_in(app, id_, "later", Json(i));
    run(app, "COMMIT");
    work();
    EXPECT_EQ(engine_.counters().mail_received, static_cast<std::uint64_t>(kMany));
    // More signals than an instance keeps are refused.
    EXPECT_EQ(engine_.counters().mail_refused, 6U);
    int next = 0;
    for (const HistoryEntry& entry : engine_.history(id_)) {
        if (entry.type != "signal_received") continue;
        EXPECT_EQ(entry.payload, std::to_string(next++));
    }
    EXPECT_EQ(next, kMailReadMax);
}

TEST_P(SendIn, what_is_not_possible_any_more_is_refused_and_counted) {
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.decide_in(app, id_, {.by = "ada"});
    run(app, "COMMIT");
    work();
    EXPECT_EQ(engine_.counters().mail_refused, 1U);
    EXPECT_EQ(status(), "running");
    EXPECT_TRUE(store_->tasks(id_).empty());
}

TEST_P(SendIn, mail_of_an_instance_that_ends_first_is_dropped_and_counted) {
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.signal_in(app, id_, "later");
    run(app, "COMMIT");
    engine_.abort(id_);
    EXPECT_EQ(store_->tasks(id_).size(), 1U);
    work();
    EXPECT_EQ(engine_.counters().mail_dropped, 1U);
    EXPECT_TRUE(store_->tasks(id_).empty());
    run(app, "BEGIN");
    const auto signal = [&] { engine_.signal_in(app, id_, "later"); };
    EXPECT_THAT(refusal(signal), HasSubstr("has ended"));
    run(app, "COMMIT");
}

TEST_P(SendIn, an_instance_with_unread_mail_is_not_exported) {
    const Transaction app = connect();
    run(app, "BEGIN");
    engine_.signal_in(app, id_, "paid");
    run(app, "COMMIT");
    EXPECT_THAT(
        refusal([&] { (void)engine_.export_instance(id_); }), HasSubstr("it has unread mail")
    );
    EXPECT_EQ(status(), "running");
}

TEST_P(SendIn, a_refused_request_leaves_the_transaction_as_it_was) {
    const Transaction app = connect();
    EXPECT_THAT(
        refusal([&] { engine_.signal_in(app, id_, "paid"); }),
        HasSubstr("Nothing can be written in the transaction")
    );
    run(app, "BEGIN");
    EXPECT_THAT(
        refusal([&] { engine_.signal_in(app, InstanceId{}, "paid"); }),
        HasSubstr("There is no instance")
    );
    EXPECT_THAT(
        refusal([&] { engine_.signal_in(app, id_, ""); }), HasSubstr("The name of a signal")
    );
    EXPECT_THAT(
        refusal([&] { engine_.cancel_in(app, id_, {.expected_revision = 1}); }),
        HasSubstr("has no `expected_revision`")
    );
    engine_.signal_in(app, id_, "paid");
    run(app, "COMMIT");
    work();
    EXPECT_THAT(types(), ::testing::Contains("signal_received"));
}

INSTANTIATE_TEST_SUITE_P(Databases, SendIn, ::testing::Bool(), [](const auto& kind) {
    return std::string(kind.param ? "postgresql" : "sqlite");
});

}  // namespace
}  // namespace ebb::testing
