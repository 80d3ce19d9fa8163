// The surface of rules: what an installation and the definition of a flow make in the database, and
// what is left when they go.

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/surface_world.h"
#include "store/migrations.h"

namespace ebb::test {
namespace {

TEST_F(Surface, what_is_dropped_leaves_the_rows_and_what_is_the_user_s) {
    const std::string wid = start();
    one.run("CREATE FUNCTION j.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'");
    one.run("SELECT ebb.drop_flow('j')");
    EXPECT_EQ(one.value("SELECT j.mine() || l FROM j.wed_flow WHERE wid = " + wid), "1todo");
    one.run("UPDATE j.wed_flow SET l = 'done'");
    one.run("DELETE FROM ebb.instances");
    EXPECT_EQ(one.value("SELECT count(*) FROM j.wed_flow"), "1");
    EXPECT_EQ(
        one.value(
            "SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = 'j'::regnamespace"
        ),
        "mine"
    );
    one.run("DROP SCHEMA j CASCADE");
}

TEST_F(Surface, the_functions_are_installed_again_whatever_attributes_are_called) {
    // The words that a view could use for something of its own.
    for (char name = 'a'; name <= 'z'; ++name) {
        if (name == 'l' || name == 'r' || name == 'n') continue;
        one.run(fmt::format("INSERT INTO wed_attr (aname, adv) VALUES ('{}', 'x')", name));
    }
    for (const char* name : {"ids", "vals", "rest", "projecting", "deciding", "commits"}) {
        one.run(fmt::format("INSERT INTO wed_attr (aname, adv) VALUES ('{}', 'x')", name));
    }
    install_rules_sql({.url = url()});
    const std::string wid = start();
    EXPECT_EQ(
        one.value(
            "SELECT string_agg(trname, ' ' ORDER BY trname) FROM job_pool WHERE wid = " + wid
        ),
        "left right"
    );
    EXPECT_EQ(one.value("SELECT state ->> 'k' FROM wed_trace WHERE wid = " + wid), "x");
    change_states("k", "'y'::text");
    EXPECT_EQ(one.value("SELECT k || rest FROM wed_flow WHERE wid = " + wid), "yx");
}

TEST_F(Surface, the_triggers_on_instances_are_there_as_long_as_there_is_a_flow) {
    const auto triggers = [this] {
        return one.value(
            "SELECT string_agg(tgname, ' ' ORDER BY tgname) FROM pg_trigger"
            " WHERE tgrelid = 'ebb.instances'::regclass AND tgname LIKE 'flow%'"
        );
    };
    one.run("SELECT ebb.create_flow('k')");
    EXPECT_EQ(triggers(), "flow_j_purge flow_k_purge flows_committed flows_started");
    one.run("SELECT ebb.drop_flow('j', false)");
    EXPECT_EQ(triggers(), "flow_k_purge flows_committed flows_started");
    one.run("SELECT ebb.drop_flow('k', false)");
    EXPECT_EQ(triggers(), "");
}

TEST_F(Surface, a_flow_of_an_earlier_installation_gets_the_triggers_of_today) {
    const std::string wid = start();
    // As it was: a trigger for each row and each flow.
    one.run("DROP TRIGGER flows_started ON ebb.instances");
    one.run("DROP TRIGGER flows_committed ON ebb.instances");
    one.run("DROP FUNCTION j._project(uuid[], jsonb[])");
    one.run(
        "CREATE FUNCTION j._project(uuid, jsonb) RETURNS void LANGUAGE sql AS 'SELECT';"
        "CREATE FUNCTION ebb.surface_commit() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER flow_j AFTER INSERT OR UPDATE OF state ON ebb.instances"
        " FOR EACH ROW WHEN (NEW.workflow = 'j') EXECUTE FUNCTION ebb.surface_commit('j')"
    );
    install_rules_sql({.url = url()});
    change_states("n", "7");
    EXPECT_EQ(one.value("SELECT n FROM wed_flow WHERE wid = " + wid), "7");
    EXPECT_EQ(
        one.value("SELECT count(*) FROM pg_proc WHERE proname = 'surface_commit'"
                  " OR (proname = '_project' AND pronargs = 2 AND proargtypes[0] = 'uuid'::regtype)"
        ),
        "0"
    );
}

}  // namespace
}  // namespace ebb::test
