// Goal: a program that speaks SQL only starts and steers instances in its own transaction, with no
// rights but those it was given. Method: sessions of plain roles call the installed functions, and
// an engine without handlers decides; every refusal is tried by a role that has everything else.

#include <map>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/application.h"
#include "store/migrations.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

class SqlRequests : public ::testing::Test {
 protected:
    struct Close {
        void operator()(PGconn* connection) const { PQfinish(connection); }
    };

    SqlRequests() {
        for (const char* role : {"sql_shop", "sql_thief"}) {
            postgres_server().execute(fmt::format(
                "DO $$ BEGIN CREATE ROLE {} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END "
                "$$",
                role
            ));
        }
        store_ = open_postgres_store(options_);
        install_sql_workers(options_);
        engine_ = std::make_unique<Engine>(*store_, no_handlers_);
        engine_->register_workflow(
            WorkflowBuilder("order").signal("paid").decision("approve").build()
        );
        engine_->register_workflow(parse_definition_json(
            R"({"workflow": "strict", "input_schema": {"type": "object"}, "steps": ["pay"]})"
        ));
        engine_->register_workflow(parse_definition_json(R"({"workflow": "rules", "rules": {
            "on_idle": "wait", "attributes": {"price": {"type": "integer", "external": true}},
            "triggers": {"pay": {"when": "price > 5", "mode": "once"}},
            "final": {"paid": "price = 1"}
        }})"));
        run("ebb", "SELECT ebb.grant_requests('sql_shop')");
    }

    /// With `ebb.` for the schema.
    std::string run(const std::string& role, std::string sql) {
        for (auto at = sql.find("ebb."); at != std::string::npos; at = sql.find("ebb.", at + 1)) {
            sql.replace(at, 4, options_.schema + ".");
        }
        auto& connection = connections_[role];
        if (!connection) {
            connection.reset(PQconnectdb(postgres_server().url("ebb_test", role).c_str()));
        }
        return run_sql(connection.get(), sql);
    }

    std::string shop(const std::string& sql) { return run("sql_shop", sql); }

    std::string refused(const std::string& sql, const std::string& role = "sql_shop") {
        try {
            return "it was allowed: " + run(role, sql);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    }

    InstanceId start(const std::string& arguments) {
        return *InstanceId::parse(shop("SELECT ebb.start(" + arguments + ")"));
    }

    void work() {
        for (int round = 0; round < 5; ++round) engine_->poll();
    }

    InstanceStatus status(const InstanceId& id) { return engine_->find(id)->status; }

    static std::string call(
        const std::string& name, const InstanceId& id, const std::string& rest
    ) {
        return "SELECT ebb." + name + "('" + id.to_string() + "'" + rest + ")";
    }

    const PostgresOptions options_{.url = postgres_server().url(), .schema = fresh_schema()};
    HandlerRegistry no_handlers_;
    StorePtr store_;
    std::unique_ptr<Engine> engine_;
    std::map<std::string, std::unique_ptr<PGconn, Close>> connections_;  // by role
};

TEST_F(SqlRequests, start_and_steer_an_instance_to_its_end) {
    shop("BEGIN");
    const InstanceId id = start("'order', '{\"amount\": 5}', key => 'A'");
    shop(call("signal", id, ", 'paid', '{\"receipt\": 7}'"));
    EXPECT_FALSE(engine_->find(id).has_value()) << "it was not committed";
    shop("COMMIT");
    work();
    EXPECT_EQ(engine_->history(id).front().payload, R"({"amount": 5})");
    EXPECT_EQ(start("'order', key => 'A'"), id);
    shop(call("decide", id, ", 'approve', 'confirm', by => 'ada'"));
    work();
    EXPECT_EQ(status(id), InstanceStatus::Completed);
    std::string sender;
    for (const HistoryEntry& entry : engine_->history(id)) {
        if (entry.type == "signal_received") sender = entry.worker;
    }
    EXPECT_EQ(sender, "sql_shop");
    EXPECT_THAT(
        refused(call("signal", id, ", 'paid'")), HasSubstr("has ended: its status is completed")
    );
}

TEST_F(SqlRequests, leave_nothing_when_the_transaction_rolls_back) {
    const InstanceId id = start("'order'");
    work();
    shop("BEGIN");
    shop(call("cancel", id, ", 'a mistake'"));
    const InstanceId other = start("'order', key => 'B'");
    shop("ROLLBACK");
    work();
    EXPECT_EQ(status(id), InstanceStatus::Running);
    EXPECT_FALSE(engine_->find(other).has_value());
    EXPECT_NE(start("'order', key => 'B'"), other);
    shop(call("cancel", id, ", 'a mistake'"));
    work();
    EXPECT_EQ(status(id), InstanceStatus::Cancelled);
}

TEST_F(SqlRequests, are_taken_once_with_a_request_id) {
    const InstanceId id = start("'order'");
    for (int i = 0; i < 3; ++i) {
        shop(call("signal", id, ", 'paid', request_id => 'r1'"));
        if (i > 0) work();
    }
    int signals = 0;
    for (const HistoryEntry& entry : engine_->history(id)) {
        signals += entry.type == "signal_received" ? 1 : 0;
    }
    EXPECT_EQ(signals, 1);
    EXPECT_TRUE(store_->tasks(id).empty());
}

TEST_F(SqlRequests, write_attributes_of_rules) {
    const InstanceId id = start("'rules', '{}'");
    EXPECT_THAT(engine_->why(id), HasSubstr("has not begun"));
    EXPECT_THROW(engine_->cancel(id), Error) << "it has not begun";
    shop(call("write", id, ", '{\"price\": 1}'"));
    work();
    EXPECT_EQ(status(id), InstanceStatus::Completed);
    EXPECT_THAT(refused(call("write", start("'rules', '{}'"), ", '[]'")), HasSubstr("JSON object"));
}

TEST_F(SqlRequests, a_start_with_an_input_that_does_not_conform_is_aborted) {
    const InstanceId id = start("'strict', '5'");
    EXPECT_EQ(status(id), InstanceStatus::Running);
    work();
    EXPECT_EQ(status(id), InstanceStatus::Aborted);
    EXPECT_THAT(std::string(engine_->history(id).front().payload), HasSubstr("does not conform"));
}

TEST_F(SqlRequests, are_refused_with_the_reason) {
    EXPECT_THAT(refused("SELECT ebb.start('nothing')"), HasSubstr("no workflow \"nothing\""));
    EXPECT_THAT(refused("SELECT ebb.start('order', version => 9)"), HasSubstr("with version 9"));
    EXPECT_THAT(refused("SELECT ebb.start('ebb:webhook')"), HasSubstr("one of Ebb itself"));
    EXPECT_THAT(refused("SELECT ebb.start('order', priority => 101)"), HasSubstr("-100 to 100"));
    const InstanceId id = start("'order'");
    EXPECT_THAT(refused(call("signal", id, ", ''")), HasSubstr("1 to 128 bytes"));
    EXPECT_THAT(
        refused(call("signal", id, ", 'x', to_jsonb(repeat('x', 1048577))")),
        HasSubstr("1048576 are allowed")
    );
    EXPECT_THAT(refused(call("decide", id, ", '', 'maybe'")), HasSubstr("confirm or reject"));
    EXPECT_THAT(refused(call("cancel", InstanceId{}, "")), HasSubstr("There is no instance"));
}

TEST_F(SqlRequests, need_the_right_to_the_workflow_and_the_act) {
    const InstanceId id = start("'order'");
    EXPECT_THAT(refused(call("cancel", id, ""), "sql_thief"), HasSubstr("permission denied"));
    run("ebb", "SELECT ebb.grant_requests('sql_thief', 'order', 'signal')");
    run("sql_thief", call("signal", id, ", 'paid'"));
    EXPECT_THAT(refused(call("cancel", id, ""), "sql_thief"), HasSubstr("may not cancel"));
    EXPECT_THAT(refused("SELECT ebb.start('order')", "sql_thief"), HasSubstr("may not start"));
    EXPECT_THAT(refused("SELECT * FROM ebb.inbox", "sql_thief"), HasSubstr("permission denied"));
    EXPECT_THAT(
        refused("SELECT ebb.request_put(NULL, 0, '', '', '{}')", "sql_thief"),
        HasSubstr("permission denied")
    );
    EXPECT_THAT(
        refused("SELECT ebb.grant_requests('sql_thief')", "sql_thief"),
        HasSubstr("permission denied")
    );
    run("ebb", "SELECT ebb.revoke_requests('sql_thief', 'order', 'signal')");
    EXPECT_THAT(refused(call("signal", id, ", 'paid'"), "sql_thief"), HasSubstr("may not signal"));
}

}  // namespace
}  // namespace ebb::testing
