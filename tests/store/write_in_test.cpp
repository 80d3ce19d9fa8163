// Goal: a write of attributes in the application's own transaction takes effect with it, sees what
// the transaction has written before, and is refused without harm. Method: connections of an
// application, beside both databases.

#include <nlohmann/json.hpp>

#include <ebb/builder.h>
#include <ebb/engine.h>
#include <ebb/error.h>

#include "store/application.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;

constexpr Duration kLong = std::chrono::seconds(60);

Definition orders(int version = 1) {
    return parse_definition_json(fmt::format(
        R"({{"workflow": "orders", "version": {}, "rules": {{
            "evolution": "follow",
            "on_idle": "wait",
            "attributes": {{
                "status": {{"default": "open", "external": true}},
                "price": {{"type": "integer", "default": 0, "external": true}},
                "receipt": "text"
            }},
            "triggers": {{"pay": {{"when": "status = 'ready' and price > 0", "mode": "once"}}}},
            "final": {{"paid": "receipt is not null"}},
            "invariants": {{"price": "price >= 0"}}
        }}}})",
        version
    ));
}

HandlerRegistry cashier() {
    HandlerRegistry handlers;
    handlers.add_raw("pay", Handler([](const Payload&, const StepContext&) {
                         return Payload(R"({"receipt": "r1"})");
                     }));
    return handlers;
}

struct Application {
    std::function<std::string(const std::string&)> run;
    Transaction transaction;
};

class WriteIn : public ::testing::TestWithParam<bool> {
 protected:
    WriteIn() {
        engine_.register_workflow(orders());
        id_ = engine_.start("orders", Payload::text("{}")).id;
    }

    bool is_postgres() const { return GetParam(); }

    /// A connection of the application.
    Application connect() {
        if (is_postgres()) {
            PGconn* raw = PQconnectdb(postgres_server().url("ebb_test").c_str());
            postgres_.emplace_back(raw, PQfinish);
            return {[raw](const std::string& sql) { return run_sql(raw, sql); }, Transaction(raw)};
        }
        sqlite3* raw = nullptr;
        sqlite3_open(dir_.file("ebb.db").c_str(), &raw);
        sqlite3_busy_timeout(raw, 10'000);
        sqlite_.emplace_back(raw, sqlite3_close);
        return {[raw](const std::string& sql) { return run_sql(raw, sql); }, Transaction(raw)};
    }

    std::string attribute(const char* name) {
        return Json::parse(engine_.show(id_).attributes).at(name).dump();
    }

    std::string refusal(const Transaction& transaction, const char* values) {
        try {
            engine_.write_in(transaction, id_, Payload::text(values));
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing was refused";
    }

    const HandlerRegistry handlers_ = cashier();
    TempDir dir_;
    Place place_ = is_postgres() ? postgres_place(dir_) : sqlite_place(dir_);
    StorePtr store_ = place_.open();
    Engine engine_{*store_, handlers_};
    InstanceId id_;
    std::vector<std::unique_ptr<PGconn, void (*)(PGconn*)>> postgres_;
    std::vector<std::unique_ptr<sqlite3, int (*)(sqlite3*)>> sqlite_;
};

TEST_P(WriteIn, fires_when_the_transaction_commits) {
    const Application app = connect();
    app.run("BEGIN; CREATE TABLE effects (id integer); INSERT INTO effects VALUES (1)");
    const auto values = Payload::text(R"({"status": "ready", "price": 5})");
    EXPECT_TRUE(engine_.write_in(app.transaction, id_, values, {.by = "ada"}));
    EXPECT_EQ(attribute("price"), "0");
    app.run("COMMIT");
    EXPECT_EQ(attribute("price"), "5");
    EXPECT_EQ(engine_.wait(id_, kLong).status, "completed");
    EXPECT_EQ(app.run("SELECT count(*) FROM effects"), "1");
}

TEST_P(WriteIn, has_never_happened_when_the_transaction_rolls_back) {
    const Application app = connect();
    app.run("BEGIN");
    engine_.write_in(app.transaction, id_, Payload::text(R"({"price": 5})"));
    app.run("ROLLBACK");
    EXPECT_EQ(attribute("price"), "0");
    EXPECT_TRUE(engine_.write(id_, Payload::text(R"({"price": 6})")));
    EXPECT_EQ(engine_.history(id_).size(), 2U);
}

TEST_P(WriteIn, sees_what_the_transaction_has_written_before) {
    const Application app = connect();
    app.run("BEGIN");
    const InstanceId id = engine_.start_in(app.transaction, "orders", Payload::text("{}")).id;
    engine_.write_in(app.transaction, id, Payload::text(R"({"status": "ready"})"));
    engine_.write_in(app.transaction, id, Payload::text(R"({"price": 7})"));
    EXPECT_FALSE(engine_.write_in(app.transaction, id, Payload::text(R"({"price": 7})")));
    EXPECT_FALSE(engine_.find(id).has_value());
    app.run("COMMIT");
    EXPECT_EQ(engine_.wait(id, kLong).status, "completed");
}

TEST_P(WriteIn, a_refused_write_leaves_the_transaction_as_it_was) {
    const Application app = connect();
    app.run("BEGIN; CREATE TABLE effects (id integer); INSERT INTO effects VALUES (1)");
    EXPECT_THAT(refusal(app.transaction, R"({"price": -1})"), HasSubstr("invariant \"price\""));
    EXPECT_THAT(refusal(app.transaction, R"({"receipt": "x"})"), HasSubstr("not `external`"));
    EXPECT_THAT(refusal(app.transaction, R"({"prize": 1})"), HasSubstr("no attribute \"prize\""));
    EXPECT_THROW(engine_.write_in(app.transaction, InstanceId{}, Payload::text("{}")), Error);
    engine_.write_in(app.transaction, id_, Payload::text(R"({"price": 8})"));
    app.run("COMMIT");
    EXPECT_EQ(attribute("price"), "8");
    EXPECT_EQ(app.run("SELECT count(*) FROM effects"), "1");
}

TEST_P(WriteIn, without_a_transaction_is_refused) {
    const Application app = connect();
    EXPECT_THAT(
        refusal(app.transaction, R"({"price": 1})"),
        HasSubstr("Nothing can be written in the transaction")
    );
}

TEST_P(WriteIn, follows_to_the_newest_version) {
    engine_.register_workflow(orders(2));
    const Application app = connect();
    app.run("BEGIN");
    engine_.write_in(app.transaction, id_, Payload::text(R"({"price": 9})"));
    EXPECT_EQ(engine_.find(id_)->version, 1);
    app.run("COMMIT");
    EXPECT_EQ(engine_.find(id_)->version, 2);
    EXPECT_EQ(attribute("price"), "9");
}

INSTANTIATE_TEST_SUITE_P(Databases, WriteIn, ::testing::Bool(), [](const auto& kind) {
    return std::string(kind.param ? "postgresql" : "sqlite");
});

}  // namespace
}  // namespace ebb::testing
