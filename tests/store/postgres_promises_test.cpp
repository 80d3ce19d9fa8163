// Goal: a bound that was put on the tables so that they can be divided never outlives the attempt:
// beyond it nothing could be started. Method: attempts that fail at the exchange, sessions that are
// gone, and one that is still at work.

#include <ebb/error.h>

#include "store/application.h"
#include "store/partitioned.h"

namespace ebb::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

class PostgresPromises : public ::testing::Test {
 protected:
    PostgresPromises() : store_(open()) { start_one(*store_, instance_of(1, {put(1, "pay")})); }

    StorePtr open() {
        return make_postgres_store({.url = postgres_server().url(), .schema = schema_}, clock_);
    }

    std::string execute(const std::string& sql) {
        return postgres_server().execute("SET search_path = " + schema_ + "; " + sql);
    }

    std::string bounds() {
        return execute(
            "SELECT count(*) FROM pg_constraint WHERE conname IN ('instances_before', "
            "'history_before') AND connamespace = '" +
            schema_ + "'::regnamespace"
        );
    }

    /// What an attempt leaves that has died before its exchange.
    void leave_bounds(const std::string& session) {
        execute(
            "ALTER TABLE instances ADD CONSTRAINT instances_before CHECK (id < '" +
            id_of(2).to_string() + "') NOT VALID"
        );
        execute(
            "ALTER TABLE history ADD CONSTRAINT history_before CHECK (instance_id < '" +
            id_of(2).to_string() + "') NOT VALID"
        );
        if (session.empty()) return;
        for (const char* table : {"instances", "history"}) {
            execute(fmt::format("COMMENT ON CONSTRAINT {0}_before ON {0} IS '{1}'", table, session)
            );
        }
    }

    ManualClock clock_{kStart};
    std::string schema_ = fresh_schema();
    StorePtr store_;
};

TEST_F(PostgresPromises, go_with_an_attempt_that_fails_at_the_exchange) {
    execute("CREATE TABLE instances_default (n integer)");  // which must be created
    EXPECT_THROW(divide(schema_, kStart), Error);
    EXPECT_EQ(bounds(), "0\n");
    execute("DROP TABLE instances_default");
    divide(schema_, kStart);
    EXPECT_EQ(bounds(), "0\n");
    start_one(*store_, instance_of(2, {put(1, "pay")}));
}

TEST_F(PostgresPromises, go_with_an_attempt_that_fails_at_the_check) {
    // There are rows beyond the bound: ids of a time that is far ahead.
    execute(
        "CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF current_query() LIKE '%VALIDATE CONSTRAINT%' THEN RAISE 'not now'; END IF; END $$"
    );
    execute(
        "CREATE EVENT TRIGGER refuse_" + schema_ + " ON ddl_command_start EXECUTE FUNCTION refuse()"
    );
    EXPECT_THROW(divide(schema_, kStart), Error);
    execute("DROP EVENT TRIGGER refuse_" + schema_);
    EXPECT_EQ(bounds(), "0\n");
}

TEST_F(PostgresPromises, of_sessions_that_are_gone_are_removed_by_the_next_migration) {
    leave_bounds("1234567 1800000000000000");
    try {
        start_one(*store_, instance_of(3, {put(1, "pay")}));
        ADD_FAILURE() << "the bound does not hold";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("`ebb migrate` removes it"));
    }
    open();
    EXPECT_EQ(bounds(), "0\n");
    EXPECT_EQ(start_one(*store_, instance_of(3, {put(1, "pay")})).kind, StartResult::Kind::Created);
}

TEST_F(PostgresPromises, of_earlier_versions_are_removed_by_the_sweep) {
    leave_bounds("");
    const auto turn = store_->take_sweep(1min);
    ASSERT_TRUE(turn.has_value()) << "no worker would sweep";
    store_->housekeep({});
    EXPECT_EQ(bounds(), "0\n");
    store_->put_sweep(*turn, 0s);
    EXPECT_FALSE(store_->take_sweep(1min).has_value()) << "there is nothing more to do";
}

TEST_F(PostgresPromises, stay_as_long_as_the_session_lives_that_made_them) {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> other(
        PQconnectdb(postgres_server().url().c_str()), PQfinish
    );
    leave_bounds(run_sql(
        other.get(),
        "SELECT format('%s %s', pid, (extract(epoch FROM backend_start) * 1000000)::bigint) FROM "
        "pg_stat_activity WHERE pid = pg_backend_pid()"
    ));
    open();
    store_->housekeep({});
    EXPECT_EQ(bounds(), "2\n");
}

TEST_F(PostgresPromises, that_are_taken_away_are_made_again) {
    // Removing the bound after its check must not make all others wait for another check.
    // The removal is a command itself and calls the trigger again: the first check ends at 5.
    execute(fmt::format(
        "CREATE SEQUENCE removals; CREATE FUNCTION remove() RETURNS event_trigger LANGUAGE plpgsql "
        "AS $$ BEGIN IF current_query() LIKE '%history VALIDATE%' AND nextval('{0}.removals') < 5 "
        "THEN ALTER TABLE {0}.instances DROP CONSTRAINT IF EXISTS instances_before; END IF; END $$",
        schema_
    ));
    execute(
        "CREATE EVENT TRIGGER remove_" + schema_ + " ON ddl_command_end EXECUTE FUNCTION remove()"
    );
    divide(schema_, kStart);
    execute("DROP EVENT TRIGGER remove_" + schema_);
    EXPECT_EQ(execute("SELECT last_value FROM removals"), "6\n") << "checked twice";
    EXPECT_EQ(execute("SELECT count(*) FROM partitioning"), "1\n");
}

}  // namespace
}  // namespace ebb::testing
