// Goal: a role that may define a flow, and no more, stays without any right it was not given.
// Method: the role tries what users of WED-SQL became superusers by, with objects of its own in the
// search_path.

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rules/surface_session.h"

namespace ebb::test {
namespace {

class HostileOwner : public ::testing::Test {
 protected:
    static const std::string& url() {
        static const std::string made = surface_database("hostile");
        return made;
    }

    HostileOwner() : owner(url()) {
        owner.run(
            "DO $$ BEGIN CREATE ROLE mallory LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END "
            "$$"
        );
        owner.run("SELECT ebb.drop_flow(flow, false) FROM ebb.flows");
        owner.run("DROP SCHEMA IF EXISTS evil CASCADE; CREATE SCHEMA evil AUTHORIZATION mallory");
        owner.run("DROP TABLE IF EXISTS public.treasure; CREATE TABLE public.treasure (n integer)");
        owner.run("DELETE FROM ebb.workflows; DELETE FROM ebb.calls");
        owner.run("SELECT ebb.create_flow('m')");
        owner.run("SELECT ebb.grant_flow('m', 'mallory', '{define,start,write,work:*,recover}')");
        mallory =
            std::make_unique<Session>(ebb::testing::postgres_server().url("hostile", "mallory"));
    }

    /// A flow of mallory's whose one trigger has this condition.
    std::string define(const std::string& condition) {
        return mallory->refusal(fmt::format(
            "INSERT INTO m.wed_trig (trname, cpred) VALUES ('go', {})", mallory->quote(condition)
        ));
    }

    /// The role is not a superuser, and can neither read nor write what belongs to others.
    void expect_nothing_gained() {
        EXPECT_EQ(
            owner.value("SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = 'mallory'"),
            "f"
        );
        for (const char* sql :
             {"SELECT * FROM ebb.instances",
              "SELECT * FROM ebb.history",
              "SELECT * FROM ebb.flow_rights",
              "SELECT * FROM ebb.flow_versions",
              "SELECT * FROM public.treasure",
              "UPDATE ebb.flows SET external_writes = 'all'",
              "INSERT INTO ebb.flow_rights VALUES ('mallory', 'm', 'define')",
              "SELECT ebb.grant_flow('m', 'mallory', '{observe}')",
              "SELECT ebb.set_flow('m', 'external_writes', 'all')",
              "SELECT ebb.drop_flow('m')",
              "SELECT ebb.create_flow('n')",
              "SELECT ebb.flow_build('m')",
              "SELECT ebb.rules_check('true', '[]', 'x')",
              "SELECT ebb.flow_functions('m', 9, '{}')",
              "SELECT m._match_1('{}')",
              "CREATE TABLE m.mine (n integer)",
              "ALTER TABLE m.wed_flow DISABLE TRIGGER ALL",
              "CREATE TRIGGER t AFTER INSERT ON m.wed_flow EXECUTE FUNCTION evil.run()",
              "DELETE FROM m.wed_flow",
              "TRUNCATE m.wed_flow",
              "UPDATE m.wed_attr SET earlier = '{x}'"}) {
            EXPECT_NE(mallory->refusal(sql), "") << sql;
        }
    }

    Session owner;
    std::unique_ptr<Session> mallory{};
};

TEST_F(HostileOwner, gains_nothing_by_conditions) {
    mallory->run("INSERT INTO m.wed_attr (aname) VALUES ('a')");
    for (const std::string condition :
         {"false) or (true",
          "a = 'x'); ALTER ROLE mallory SUPERUSER; --",
          "a = 'x'; ALTER ROLE mallory SUPERUSER",
          "(SELECT count(*) FROM public.treasure) > 0",
          "pg_read_file('PG_VERSION') <> ''",
          "pg_catalog.lower(a) = 'x'",
          "evil.lower(a) = 'x'",
          "a OPERATOR(evil.=) 'x'",
          "query_to_xml('select 1', true, true, '') is not null",
          "a = $q$x$q$ || (select 'y')",
          "a::evil.mine = 'x'",
          "set_config('role', 'postgres', false) = 'x'",
          "a = E'\\'; ALTER ROLE mallory SUPERUSER; --'; SELECT 1",
          "a /* ' */ = 'x'"}) {
        EXPECT_EQ(define(condition), "EB007") << condition;
    }
    expect_nothing_gained();
}

TEST_F(HostileOwner, gains_nothing_by_own_operators_and_functions) {
    mallory->run(R"(
        CREATE TABLE evil.called (who text);
        GRANT INSERT ON evil.called TO PUBLIC; GRANT USAGE ON SCHEMA evil TO PUBLIC;
        CREATE FUNCTION evil.equal(text, text) RETURNS boolean LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO evil.called VALUES (current_user); RETURN true; END $$;
        CREATE OPERATOR evil.= (FUNCTION = evil.equal, LEFTARG = text, RIGHTARG = text);
        CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO evil.called VALUES (current_user); RETURN 'x'; END $$;
        CREATE FUNCTION evil.jsonb_typeof(jsonb) RETURNS text LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO evil.called VALUES (current_user); RETURN 'object'; END $$;
        CREATE FUNCTION evil.format(text, text) RETURNS text LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO evil.called VALUES (current_user); RETURN 'SELECT 1'; END $$;
        SET search_path = evil, m, pg_catalog)");
    mallory->run("INSERT INTO wed_attr (aname, adv) VALUES ('a', 'y')");
    mallory->run("INSERT INTO wed_trig (trname, cpred) VALUES ('go', $$lower(a) = 'x'$$)");
    EXPECT_EQ(mallory->refusal("INSERT INTO wed_flow DEFAULT VALUES"), "EB001");
    mallory->run("INSERT INTO wed_flow (a) VALUES ('X')");
    const std::string job = mallory->value("SELECT job FROM m.wed_claim('go')");
    EXPECT_EQ(
        mallory->value(fmt::format("SELECT m.wed_complete('{}', '{{\"a\": \"b\"}}')", job)), "E"
    );
    EXPECT_EQ(owner.value("SELECT count(*) FROM evil.called"), "0");
    expect_nothing_gained();
}

TEST_F(HostileOwner, gains_nothing_by_temporary_tables_and_functions) {
    mallory->run("INSERT INTO m.wed_attr (aname, adv) VALUES ('a', 'y')");
    mallory->run("INSERT INTO m.wed_trig (trname, cpred) VALUES ('go', $$a = 'x'$$)");
    mallory->run(R"(
        CREATE TEMP TABLE flows AS SELECT 'm'::text AS flow;
        CREATE TEMP TABLE new_rows (wid bigint, instance_id uuid);
        CREATE TEMP TABLE pg_class (oid oid, relowner oid);
        CREATE FUNCTION pg_temp.pg_has_role(name, name, text) RETURNS boolean LANGUAGE sql
        AS 'SELECT true')");
    EXPECT_EQ(mallory->refusal("INSERT INTO m.wed_flow DEFAULT VALUES"), "EB001");
    EXPECT_EQ(mallory->refusal("INSERT INTO m.wed_flow (a) VALUES ('x')"), "");
    EXPECT_EQ(mallory->value("SELECT count(*) FROM m.wed_claim('go')"), "1");
    expect_nothing_gained();
}

TEST_F(HostileOwner, gains_nothing_by_names_defaults_and_values) {
    for (const std::string sql :
         {"INSERT INTO m.wed_attr (aname) VALUES ('x text); ALTER ROLE mallory SUPERUSER; --')",
          "INSERT INTO m.wed_attr (aname, atype) VALUES ('x', 'text; DROP TABLE public.treasure')",
          "INSERT INTO m.wed_trig (trname, cpred) VALUES ('x''; DROP TABLE public.treasure', "
          "'true')",
          "INSERT INTO m.wed_trig (trname, cpred, queue) VALUES ('x', 'true', ''';--')",
          "INSERT INTO m.wed_trig (trname, cpred, writes) VALUES ('x', 'true', '{\"a\\\"b\"}')"}) {
        EXPECT_EQ(mallory->refusal(sql), "EB007") << sql;
    }
    const std::string value = "'; ALTER ROLE mallory SUPERUSER; -- \\ \" $1 %s %I \xC3\xB6\n";
    mallory->run(fmt::format(
        "INSERT INTO m.wed_attr (aname, adv) VALUES ('a', {}), ('b', NULL)", mallory->quote(value)
    ));
    mallory->run(fmt::format(
        "INSERT INTO m.wed_trig (trname, cpred) VALUES ('go', {})",
        mallory->quote("a = " + mallory->quote(value))
    ));
    EXPECT_EQ(mallory->value("INSERT INTO m.wed_flow DEFAULT VALUES RETURNING a"), value);
    const std::string job = mallory->value("SELECT job FROM m.wed_claim('go')");
    EXPECT_EQ(
        mallory->value(fmt::format(
            "SELECT m.wed_complete('{}', jsonb_build_object('b', {}))", job, mallory->quote(value)
        )),
        "R"
    );
    EXPECT_EQ(mallory->value("SELECT b FROM m.wed_flow"), value);
    expect_nothing_gained();
}

TEST_F(HostileOwner, cannot_exhaust_the_server_by_size) {
    mallory->run("INSERT INTO m.wed_attr (aname) VALUES ('a')");
    constexpr std::size_t kLarge = std::size_t{10} << 20;
    EXPECT_EQ(define("a = '" + std::string(kLarge, 'x') + "'"), "EB007");
    EXPECT_EQ(define(std::string(kLarge, '(')), "EB007");
    EXPECT_EQ(define(std::string(8'000, '(')), "EB007");
    EXPECT_EQ(define("a = 'x'" + std::string(16'000, ' ') + std::string(1'000, ' ')), "EB007");
    std::string many = "a = 'x'";
    while (many.size() < 16'000) many += " or a='y'";
    EXPECT_EQ(define(many), "EB007") << "more than 4,096 words, or too deep for the kernel";
    EXPECT_EQ(define("a is not null"), "");
    EXPECT_EQ(
        mallory->refusal(fmt::format(
            "INSERT INTO m.wed_flow (a) VALUES ('{}')", std::string(std::size_t{1} << 20, 'x')
        )),
        "EB008"
    );
    expect_nothing_gained();
}

TEST_F(HostileOwner, cannot_act_for_others_by_forged_settings) {
    owner.run("SELECT ebb.create_flow('other')");
    owner.run(R"(
        INSERT INTO other.wed_attr (aname, adv) VALUES ('a', 'x');
        INSERT INTO other.wed_trig (trname, cpred) VALUES ('go', $$a = 'x'$$);
        INSERT INTO other.wed_flow DEFAULT VALUES)");
    const std::string id = owner.value("SELECT instance_id FROM other.wed_flow");
    const std::string job = owner.value("SELECT job FROM other.wed_claim('go')");
    for (const char* setting : {"projecting", "deciding"}) {
        mallory->run(fmt::format("SET ebb_surface.{} = '{}'", setting, id));
    }
    mallory->run(fmt::format("SET ebb_surface.job = '{}'", job));
    mallory->run("INSERT INTO m.wed_attr (aname, adv) VALUES ('a', 'x')");
    mallory->run("INSERT INTO m.wed_trig (trname, cpred) VALUES ('go', $$a = 'x'$$)");
    EXPECT_EQ(mallory->refusal("INSERT INTO m.wed_flow DEFAULT VALUES"), "");
    EXPECT_EQ(mallory->refusal("UPDATE m.wed_flow SET a = 'y'"), "EB004")
        << "a job of another flow";
    mallory->run("SET ebb_surface.job = ''");
    const std::string wid = mallory->value("SELECT min(wid) FROM m.wed_flow");
    mallory->run(fmt::format(
        R"(SET ebb_surface.claims = '[{{"flow": "m", "wid": {}, "job": "{}", "tgid": 1}}]')",
        wid,
        job
    ));
    EXPECT_EQ(mallory->refusal("UPDATE m.wed_flow SET a = 'y' WHERE wid = " + wid), "EB004")
        << "a forged claim on a job of another instance";
    mallory->run("SET ebb_surface.claims = '[]'");
    EXPECT_EQ(mallory->refusal(fmt::format("SELECT m.wed_complete('{}', '{{}}')", job)), "EB003");
    EXPECT_EQ(mallory->refusal("SELECT ebb.flow_cancel('other', 1)"), "42501");
    EXPECT_EQ(mallory->refusal("SELECT ebb.flow_recover('other', 1, 1, 'stop')"), "42501");
    EXPECT_EQ(mallory->refusal("SELECT ebb.flow_write('other', 1, '{}', '', 'repair')"), "42501");
    EXPECT_EQ(mallory->refusal("SELECT ebb.flow_claim('other', 'go', 1, '')"), "42501");
    EXPECT_EQ(
        mallory->refusal("SELECT ebb.flow_toggle('other', 'wed_trig', 'tgid', '1')"), "42501"
    );
    EXPECT_EQ(mallory->refusal("SELECT ebb.flow_toggle('m', 'wed_flow', 'wid', '1')"), "42703")
        << "no other table has the column";
    EXPECT_EQ(owner.value("SELECT status FROM other.job_pool"), "held");
    expect_nothing_gained();
}

}  // namespace
}  // namespace ebb::test
