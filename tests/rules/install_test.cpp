// The surface of a workflow that is defined elsewhere: in a file or a program. What it decides is
// compared with the kernel in reflex_test.cpp.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/store.h>

#include "rules/surface_session.h"
#include "store/migrations.h"
#include "store/rules_surface.h"
#include "support/json.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTravel = R"({
    "workflow": "travel",
    "rules": {
        "attributes": [
            {"attribute": "asked", "default": "no", "external": true},
            {"attribute": "hotel"},
            {"attribute": "air"},
            {"attribute": "n", "type": "integer", "default": 0, "external": true}
        ],
        "triggers": [
            {"trigger": "hotel", "when": "asked = 'yes' and hotel is null", "do": "reserve",
             "writes": ["hotel"], "timeout": "1m30s", "max_attempts": 5},
            {"trigger": "air", "when": "asked = 'yes' and air is null", "do": "buy",
             "compensate": "refund"},
            {"trigger": "count", "when": "n > 10", "mode": "edge", "after": "1d"}
        ],
        "final": [{"final": "booked", "when": "hotel is not null and air is not null"}]
    }
})";

/// A database with the functions for rules in SQL, a session of its owner and an engine without
/// handlers.
class Install : public ::testing::Test {
 protected:
    static const std::string& url() {
        static const std::string made = surface_database("install");
        return made;
    }

    Install() : owner(url()), store(open_postgres_store({.url = url()})) {
        owner.run("SELECT ebb.drop_flow(flow, false) FROM ebb.flows");
        owner.run("DROP SCHEMA IF EXISTS travel CASCADE");
        owner.run("DELETE FROM ebb.tasks; DELETE FROM ebb.history; DELETE FROM ebb.instances");
        owner.run("DELETE FROM ebb.calls; DELETE FROM ebb.workflows; DELETE FROM ebb.workers");
        engine = std::make_unique<Engine>(*store, none);
    }

    void add(const Json& definition) {
        engine->register_workflow(parse_definition_json(to_text(definition)));
    }

    Json install(const std::string& dialect = "ebb", const std::string& role = {}) {
        return Json::parse(std::string(install_surface(
            {.url = url()}, {.workflow = "travel", .dialect = dialect, .role = role}
        )));
    }

    /// Registers the travel and installs it; the schema is the first of the session's search_path.
    void travel(const Json& definition = Json::parse(kTravel)) {
        add(definition);
        install();
        owner.run("SET search_path = travel, pg_catalog");
    }

    static Json with_version(int version) {
        Json definition = Json::parse(kTravel);
        definition["version"] = version;
        return definition;
    }

    std::string start(const std::string& input) {
        return engine->start("travel", Payload::text(input)).id.to_string();
    }

    std::string insert() {
        return owner.value("INSERT INTO wed_flow (asked) VALUES ('yes') RETURNING wid");
    }

    /// The sentence with which an installation is refused.
    std::string refusal(const std::string& workflow) {
        try {
            install_surface({.url = url()}, {.workflow = workflow});
        } catch (const Error& error) {
            return error.what();
        }
        return "It is installed.";
    }

    std::string trace(const std::string& wid) {
        return owner.value(
            "SELECT string_agg(concat_ws(' ', trw, trf, status, state), '; ' ORDER BY seq)"
            " FROM wed_trace WHERE wid = " +
            wid
        );
    }

    /// How many instances have a row, or values, that the other does not have.
    std::string rows_that_differ() {
        return owner.value(
            "SELECT count(*) FROM wed_flow AS f FULL JOIN (SELECT * FROM ebb.instances AS o WHERE"
            " o.workflow = 'travel') AS i ON i.id = f.instance_id"
            " WHERE (to_jsonb(f) @> (i.state::jsonb #> '{rules,values}')) IS NOT TRUE"
        );
    }

    const HandlerRegistry none;
    Session owner;
    StorePtr store;
    std::unique_ptr<Engine> engine;
};

TEST_F(Install, instances_that_there_are_have_rows_in_the_order_of_their_start) {
    add(Json::parse(kTravel));
    const std::string first = start(R"({"asked": "yes", "n": 1})");
    const std::string second = start(R"({"asked": "yes", "n": 2})");
    const Json made = install();
    EXPECT_EQ(made["instances"], 2);
    EXPECT_EQ(made["is_new"], true);
    owner.run("SET search_path = travel, pg_catalog");
    const std::string third = start(R"({"asked": "yes", "n": 3})");
    owner.run("INSERT INTO wed_flow (asked, n) VALUES ('yes', 4)");
    EXPECT_EQ(
        owner.value("SELECT string_agg(wid || ' ' || n, ', ' ORDER BY wid) FROM wed_flow"),
        "1 1, 2 2, 3 3, 4 4"
    );
    EXPECT_EQ(
        owner.value(
            "SELECT string_agg(instance_id::text, ' ' ORDER BY wid) FROM wed_flow WHERE wid < 4"
        ),
        first + " " + second + " " + third
    );
    EXPECT_EQ(rows_that_differ(), "0");
    // And again it changes nothing.
    const Json again = install();
    EXPECT_EQ(again["is_new"], false);
    EXPECT_EQ(again["instances"], 4);
    EXPECT_EQ(rows_that_differ(), "0");
}

TEST_F(Install, a_worker_in_sql_and_a_process_of_ebb_leave_the_same_trace) {
    travel();
    const std::string by_sql = insert();
    owner.run("SELECT wed_complete(job, '{\"hotel\": \"H\"}') FROM wed_claim('reserve')");
    owner.run(fmt::format(
        "BEGIN; SELECT pg_try_advisory_xact_lock({0}, 2);"
        " UPDATE wed_flow SET air = 'A' WHERE wid = {0}; COMMIT",
        by_sql
    ));
    const std::string id = start(R"({"asked": "yes"})");
    const std::string by_cpp =
        owner.value(fmt::format("SELECT wid FROM wed_flow WHERE instance_id = '{}'", id));
    // One after the other, as above.
    for (const auto& [handler, attribute] :
         {std::pair{"reserve", "hotel"}, std::pair{"buy", "air"}}) {
        HandlerRegistry handlers;
        handlers.add(handler, [name = std::string(attribute)](const Json&) {
            return Json{{name, name == "air" ? "A" : "H"}};
        });
        Engine worker(*store, handlers, EngineOptions{.worker_id = handler});
        worker.run();
        while (owner.value(fmt::format("SELECT {} FROM wed_flow WHERE wid = {}", attribute, by_cpp))
                   .empty()) {
            std::this_thread::yield();
        }
        worker.drain(10s);
    }
    EXPECT_EQ(trace(by_sql), trace(by_cpp));
    EXPECT_NE(trace(by_sql).find("buy {} F"), std::string::npos) << trace(by_sql);
    EXPECT_EQ(rows_that_differ(), "0");
}

TEST_F(Install, an_update_from_outside_fires_and_is_refused_as_the_definition_says) {
    travel();
    EXPECT_EQ(owner.refusal("INSERT INTO wed_flow DEFAULT VALUES"), "EB001");
    const std::string wid = insert();
    owner.run("UPDATE wed_flow SET n = 11");
    EXPECT_EQ(
        owner.value("SELECT tgid || ' ' || status FROM job_pool WHERE trname = 'count'"), "3 armed"
    );
    EXPECT_EQ(owner.refusal("UPDATE wed_flow SET hotel = 'H'"), "EB008");
    EXPECT_EQ(
        owner.value("SELECT timeout || ' ' || max_attempts FROM wed_trig WHERE tgname = 'hotel'"),
        "00:01:30 5"
    );
    EXPECT_EQ(owner.value("SELECT timeout FROM job_pool WHERE trname = 'buy'"), "01:00:00");
    // What has no timeout is leased for an hour.
    owner.run("SELECT wed_claim('buy', 1, 'w')");
    EXPECT_EQ(
        owner.value("SELECT lease_until - due_at FROM ebb.tasks WHERE lease_owner = 'w'"),
        "3600000000"
    );
}

TEST_F(Install, the_trace_of_an_instance_without_an_input_can_be_read) {
    Json definition = Json::parse(kTravel);
    definition["rules"]["on_idle"] = "wait";
    travel(definition);
    engine->start("travel");
    owner.run("INSERT INTO wed_flow DEFAULT VALUES");
    EXPECT_EQ(owner.value("SELECT string_agg(state ->> 'asked', ' ') FROM wed_trace"), "no no");
    EXPECT_EQ(rows_that_differ(), "0");
}

TEST_F(Install, the_definition_is_only_shown) {
    travel();
    owner.run(
        "DO $$ BEGIN CREATE ROLE visitor LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; "
        "END $$"
    );
    for (const char* sql :
         {"INSERT INTO wed_attr (aname) VALUES ('x')",
          "UPDATE wed_attr SET adv = 'x'",
          "DELETE FROM wed_attr",
          "INSERT INTO wed_trig (trname, cpred) VALUES ('x', 'true')",
          "UPDATE wed_trig SET enabled = false",
          "DELETE FROM wed_trig",
          "SELECT trigger_toggle(1)",
          "SELECT attribute_toggle('n')",
          "SELECT ebb.set_flow('travel', 'external_writes', 'all')",
          "SELECT ebb.set_flow('travel', 'many_triggers', 'on')",
          "SELECT ebb.grant_flow('travel', 'visitor', '{define}')"}) {
        EXPECT_EQ(owner.refusal(sql), "EB007") << sql;
        EXPECT_NE(owner.message.find("travel"), std::string::npos) << owner.message;
    }
    owner.run("SELECT ebb.set_flow('travel', 'notify', 'wed')");
    EXPECT_EQ(
        owner.value("SELECT string_agg(concat_ws(' ', aid, aname, adv, atype, external), ', '"
                    " ORDER BY aid) FROM wed_attr"),
        "1 asked no text t, 2 hotel text f, 3 air text f, 4 n 0 integer t"
    );
    EXPECT_EQ(
        owner.value("SELECT string_agg(triggers::text, '' ORDER BY trname) FROM wed_trans"
                    " WHERE trname <> 'count'"),
        "{air}{hotel}"
    );
    EXPECT_EQ(
        owner.value("SELECT cpred FROM wed_cond WHERE cfinal"),
        "hotel is not null and air is not null"
    );
}

TEST_F(Install, a_new_version_is_taken_over_when_it_is_registered) {
    travel();
    const std::string old = insert();
    Json definition = with_version(2);
    definition["rules"]["attributes"].insert(
        definition["rules"]["attributes"].begin(),
        Json{{"attribute", "class"}, {"default", "second"}, {"external", true}}
    );
    definition["rules"]["attributes"].erase(4);  // n
    definition["rules"]["triggers"].erase(2);
    definition["rules"]["triggers"].insert(
        definition["rules"]["triggers"].begin(),
        Json{{"trigger", "greet"}, {"when", "class = 'first'"}, {"mode", "once"}}
    );
    add(definition);
    EXPECT_EQ(owner.value("SELECT version FROM ebb.flows"), "2");
    // What has a number keeps it.
    EXPECT_EQ(
        owner.value("SELECT string_agg(tgid || ' ' || tgname, ', ' ORDER BY tgid) FROM wed_trig"),
        "1 hotel, 2 air, 4 _FINAL, 5 greet"
    );
    const std::string wid =
        owner.value("INSERT INTO wed_flow (asked, class) VALUES ('yes', 'first') RETURNING wid");
    EXPECT_EQ(
        owner.value("SELECT string_agg(concat_ws(' ', f.wid, i.version, class, n), ', ' ORDER BY"
                    " f.wid) FROM wed_flow AS f JOIN ebb.instances AS i ON i.id = f.instance_id"),
        fmt::format("{} 1 0, {} 2 first", old, wid)
    );
    // Each is decided by its own version.
    EXPECT_EQ(owner.refusal("UPDATE wed_flow SET class = 'x' WHERE wid = " + old), "EB008");
    EXPECT_EQ(owner.refusal("UPDATE wed_flow SET n = 3 WHERE wid = " + wid), "EB008");
    EXPECT_EQ(owner.refusal("INSERT INTO wed_flow (asked, n) VALUES ('yes', 3)"), "EB008");
    owner.run("UPDATE wed_flow SET n = 20 WHERE wid = " + old);
    EXPECT_EQ(
        owner.value("SELECT string_agg(wid || ' ' || tgid, ', ' ORDER BY wid, tgid) FROM job_pool"),
        fmt::format("{0} 1, {0} 2, {0} 3, {1} 1, {1} 2, {1} 5", old, wid)
    );
    EXPECT_EQ(owner.value("SELECT count(*) FROM wed_claim('buy', 10)"), "2");
    owner.run("SELECT wed_complete(job, '{\"air\": \"A\"}') FROM job_pool WHERE trname = 'buy'");
    EXPECT_EQ(owner.value("SELECT string_agg(air, '') FROM wed_flow"), "AA");
    EXPECT_EQ(rows_that_differ(), "0");
}

TEST_F(Install, an_instance_that_follows_continues_on_the_new_version) {
    Json definition = Json::parse(kTravel);
    definition["rules"]["evolution"] = "follow";
    travel(definition);
    const std::string wid = insert();
    definition["version"] = 2;
    definition["rules"]["attributes"].push_back({{"attribute", "class"}, {"default", "second"}});
    add(definition);
    EXPECT_EQ(owner.value("SELECT class FROM wed_flow"), "");
    owner.run("UPDATE wed_flow SET n = 1");
    EXPECT_EQ(owner.value("SELECT class FROM wed_flow"), "second");
    EXPECT_EQ(owner.value("SELECT version FROM ebb.instances"), "2");
    EXPECT_EQ(rows_that_differ(), "0");
    // What is pending must have the same handler.
    definition["version"] = 3;
    definition["rules"]["triggers"][0]["do"] = "other";
    add(definition);
    owner.run("UPDATE wed_flow SET n = 2");
    EXPECT_EQ(owner.value("SELECT version FROM ebb.instances"), "2");
    // And the kernel agrees.
    engine->write(
        *InstanceId::parse(owner.value("SELECT instance_id FROM wed_flow")),
        Payload::text(R"({"n": 3})"),
        {.by = "ada"}
    );
    EXPECT_EQ(owner.value("SELECT version FROM ebb.instances"), "2");
}

TEST_F(Install, a_version_that_does_not_fit_is_not_registered) {
    travel();
    const auto refused = [&](const Json& attribute) {
        Json definition = with_version(2);
        definition["rules"]["attributes"].push_back(attribute);
        try {
            add(definition);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(
        refused({{"attribute", "doc"}, {"type", "json"}}).find("\"doc\" has \"json\""),
        std::string::npos
    );
    EXPECT_NE(
        refused({{"attribute", "xmin"}}).find("cannot have the name \"xmin\""), std::string::npos
    );
    owner.run("ALTER TABLE wed_flow ADD COLUMN mine text");
    EXPECT_NE(refused({{"attribute", "mine"}}).find("not an attribute"), std::string::npos);
    Json other = with_version(2);
    other["rules"]["attributes"][1]["type"] = "integer";
    other["rules"]["triggers"].erase(0);
    EXPECT_THROW(add(other), Error);
    EXPECT_EQ(owner.value("SELECT max(version) FROM ebb.workflows"), "1");
    insert();
    EXPECT_EQ(rows_that_differ(), "0");
    // Without the surface it is.
    uninstall_surface({.url = url()}, "travel");
    add(other);
}

TEST_F(Install, a_version_with_the_same_attributes_waits_for_no_lock) {
    travel();
    insert();
    Session other(url());
    other.run("BEGIN; UPDATE travel.wed_flow SET n = 1");
    Json definition = with_version(2);
    definition["rules"]["triggers"][0]["enabled"] = false;
    add(definition);
    // A new column needs the table for itself.
    definition["version"] = 3;
    definition["rules"]["attributes"].push_back({{"attribute", "class"}});
    EXPECT_EQ(
        owner.refusal(fmt::format(
            "INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)"
            " VALUES ('travel', 3, {}, 'x', 1)",
            owner.quote(to_text(definition_to_json(parse_definition_json(to_text(definition)))))
        )),
        "55P03"
    );
    other.run("COMMIT");
    add(definition);
    EXPECT_EQ(owner.value("SELECT class IS NULL AND n = 1 FROM wed_flow"), "t");
}

TEST_F(Install, versions_that_were_registered_before_are_taken_over_too) {
    add(Json::parse(kTravel));
    start(R"({"asked": "yes"})");
    Json second = with_version(2);
    second["rules"]["attributes"][3]["type"] = "numeric";
    add(second);
    // Both have instances: a column cannot be of two types.
    EXPECT_NE(refusal("travel").find("one column cannot have both"), std::string::npos);
    owner.run("DELETE FROM ebb.tasks; DELETE FROM ebb.history; DELETE FROM ebb.instances");
    install();
    EXPECT_EQ(owner.value("SELECT atype FROM travel.wed_attr WHERE aname = 'n'"), "numeric");
    EXPECT_EQ(owner.value("SELECT string_agg(version::text, '') FROM ebb.flow_versions"), "2");
}

TEST_F(Install, the_wed_dialect_wants_a_claim_and_notifies) {
    add(Json::parse(kTravel));
    install("wed");
    owner.run("SET search_path = travel, pg_catalog; LISTEN reserve");
    insert();
    EXPECT_EQ(owner.refusal("UPDATE wed_flow SET n = 1"), "EB003");
    const std::unique_ptr<PGnotify, decltype(&PQfreemem)> note(PQnotifies(owner.get()), &PQfreemem);
    EXPECT_NE(note, nullptr);
    install("ebb");
    owner.run("UPDATE wed_flow SET n = 1");
}

TEST_F(Install, what_cannot_have_a_surface_is_refused_with_a_reason) {
    const auto add_named = [&](const char* name) {
        Json definition = Json::parse(kTravel);
        definition["workflow"] = name;
        add(definition);
    };
    EXPECT_NE(refusal("nothing").find("no workflow \"nothing\""), std::string::npos);
    add({{"workflow", "line"}, {"steps", Json::array({{{"step", "a"}}})}});
    EXPECT_NE(refusal("line").find("has steps and no rules"), std::string::npos);
    for (const char* name : {"Order", "a-b", "pg_a", "ebb"}) {
        add_named(name);
        EXPECT_NE(refusal(name).find("The name of a flow is"), std::string::npos) << name;
    }
    add_named("public");
    EXPECT_NE(refusal("public").find("already a schema"), std::string::npos);
    Json definition = Json::parse(kTravel);
    definition["rules"]["attributes"][1]["attribute"] = "ctid";
    definition["rules"]["triggers"].erase(0);
    definition["rules"]["final"][0]["when"] = "air is not null";
    add(definition);
    EXPECT_NE(refusal("travel").find("cannot have the name \"ctid\""), std::string::npos);
    EXPECT_EQ(owner.value("SELECT count(*) FROM ebb.flows"), "0");
    EXPECT_EQ(owner.value("SELECT to_regnamespace('travel')"), "");
    owner.run("SELECT ebb.create_flow('tables')");
    owner.run(
        "INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)"
        " SELECT 'tables', version, definition, checksum, created_at FROM ebb.workflows"
        " WHERE name = 'line'"
    );
    EXPECT_NE(refusal("tables").find("in its own tables"), std::string::npos);
    EXPECT_EQ(owner.refusal("SELECT ebb.install_flow('travel', 'sql')"), "EB011");
    EXPECT_EQ(owner.refusal("INSERT INTO tables.wed_attr (aname) VALUES ('xmin')"), "EB007");
    EXPECT_EQ(owner.refusal("SELECT ebb.create_flow('travel')"), "EB007");
}

TEST_F(Install, what_only_a_process_of_ebb_can_decide_is_left_to_it) {
    Json definition = Json::parse(kTravel);
    definition["labels"] = {{"who", {{"type", "text"}, {"value", "x"}}}};
    definition["rules"]["triggers"][1]["set"] = {{"air", "${ output.ticket }"}};
    travel(definition);
    EXPECT_EQ(owner.refusal("INSERT INTO wed_flow (asked) VALUES ('yes')"), "EB009");
    EXPECT_NE(owner.message.find("has labels"), std::string::npos) << owner.message;
    start(R"({"asked": "yes"})");
    owner.run("BEGIN; SELECT pg_try_advisory_xact_lock(wid::integer, 2) FROM wed_flow");
    EXPECT_EQ(owner.refusal("UPDATE wed_flow SET air = 'A'"), "EB009");
    owner.run("ROLLBACK");
    EXPECT_EQ(
        owner.value("SELECT wed_complete(job, '{\"ticket\": \"T\"}') FROM wed_claim('buy')"), "H"
    );
    Engine keeper(*store, none, EngineOptions{.worker_id = "keeper"});
    keeper.run();
    while (owner.value("SELECT air FROM wed_flow") != "T") std::this_thread::yield();
    keeper.drain(10s);
    EXPECT_EQ(
        owner.value("SELECT state::json ->> 'labels' FROM ebb.instances"),
        R"([{"name":"who","text":"x"}])"
    );
    EXPECT_EQ(rows_that_differ(), "0");
}

TEST_F(Install, what_is_uninstalled_leaves_the_rows_and_the_workflow) {
    travel();
    owner.run(
        "DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; "
        "END $$"
    );
    owner.run("SELECT ebb.grant_flow('travel', 'clerk', '{start,write}')");
    const std::string wid = insert();
    const auto id = *InstanceId::parse(owner.value("SELECT instance_id FROM wed_flow"));
    const Json removed = Json::parse(std::string(uninstall_surface({.url = url()}, "travel")));
    EXPECT_EQ(removed["rows"], 1);
    EXPECT_EQ(removed["live"], 1);
    engine->write(id, Payload::text(R"({"n": 5})"), {.by = "ada"});
    start(R"({"asked": "yes"})");
    EXPECT_EQ(owner.value("SELECT string_agg(asked || n, ' ') FROM wed_flow"), "yes0");
    owner.run("UPDATE wed_flow SET hotel = 'mine'; DELETE FROM wed_flow");
    EXPECT_EQ(
        owner.value("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class"
                    " WHERE relnamespace = 'travel'::regnamespace AND relkind IN ('r', 'v')"),
        "wed_flow"
    );
    EXPECT_EQ(
        owner.value("SELECT count(*) FROM pg_proc WHERE pronamespace = 'travel'::regnamespace"), "0"
    );
    EXPECT_EQ(owner.value("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'flow%'"), "0");
    EXPECT_EQ(owner.value("SELECT has_table_privilege('clerk', 'wed_flow', 'INSERT')"), "f");
    // Another version does not care, and the table is in the way of another surface.
    add(with_version(2));
    EXPECT_NE(refusal("travel").find("already a schema"), std::string::npos);
}

TEST_F(Install, a_flow_that_is_defined_in_sql_is_not_uninstalled_while_it_has_live_instances) {
    owner.run("SELECT ebb.create_flow('travel'); SET search_path = travel, pg_catalog");
    owner.run(
        "BEGIN; INSERT INTO wed_attr (aname) VALUES ('a');"
        " INSERT INTO wed_trig (trname, cpred) VALUES ('t', $$a = '1'$$);"
        " INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '2'$$, true); COMMIT"
    );
    owner.run("INSERT INTO wed_flow (a) VALUES ('1')");
    EXPECT_EQ(owner.refusal("SELECT ebb.uninstall_flow('travel')"), "EB009");
    EXPECT_NE(owner.message.find("1 of its instances"), std::string::npos) << owner.message;
    owner.run("SELECT wed_complete(job, '{\"a\": \"2\"}') FROM wed_claim('t')");
    owner.run("SELECT ebb.uninstall_flow('travel')");
    EXPECT_EQ(owner.value("SELECT a FROM wed_flow"), "2");
}

TEST_F(Install, the_functions_are_installed_again_beside_a_surface) {
    travel();
    const std::string wid = insert();
    install_rules_sql({.url = url()});
    owner.run("UPDATE wed_flow SET n = 11");
    EXPECT_EQ(owner.value("SELECT status FROM job_pool WHERE trname = 'count'"), "armed");
    EXPECT_EQ(owner.refusal("DELETE FROM wed_trig"), "EB007");
    EXPECT_EQ(owner.refusal("TRUNCATE wed_flow"), "EB009");
    EXPECT_EQ(rows_that_differ(), "0");
}

class InstallRoles : public Install {
 protected:
    InstallRoles() {
        for (const char* role : {"agent", "watcher", "builder"}) {
            owner.run(fmt::format(
                "DO $$ BEGIN CREATE ROLE {} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END "
                "$$",
                role
            ));
        }
    }

    static std::string url_of(const std::string& role) {
        return ebb::testing::postgres_server().url("install", role);
    }
};

TEST_F(InstallRoles, a_role_may_work_and_define_nothing) {
    add(Json::parse(kTravel));
    EXPECT_EQ(install("ebb", "agent")["role"], "agent");
    Session agent(url_of("agent"));
    EXPECT_EQ(agent.value("SHOW search_path"), "travel, pg_catalog");
    agent.run("INSERT INTO wed_flow (asked) VALUES ('yes')");
    agent.run("UPDATE wed_flow SET n = 3");
    agent.run("SELECT wed_complete(job, '{\"hotel\": \"H\"}') FROM wed_claim('reserve')");
    EXPECT_EQ(agent.value("SELECT hotel FROM wed_flow"), "H");
    for (const char* sql :
         {"UPDATE wed_trig SET enabled = false",
          "SELECT trigger_toggle(1)",
          "SELECT ebb.install_flow('travel')",
          "SELECT ebb.uninstall_flow('travel')",
          "SELECT ebb.flow_adopt('travel', 1)",
          "SELECT * FROM ebb.workflows"}) {
        EXPECT_EQ(agent.refusal(sql), "42501") << sql;
    }
    owner.run("SELECT ebb.grant_flow('travel', 'watcher', '{observe}')");
    Session watcher(url_of("watcher"));
    EXPECT_EQ(watcher.value("SELECT hotel FROM travel.wed_flow"), "H");
    EXPECT_EQ(watcher.value("SELECT count(*) FROM travel.wed_trig"), "4");
    for (const char* sql :
         {"INSERT INTO travel.wed_flow (asked) VALUES ('yes')",
          "UPDATE travel.wed_flow SET n = 4",
          "SELECT travel.wed_claim('buy')",
          "SELECT travel.wed_write(1, '{\"n\": 4}')"}) {
        EXPECT_EQ(watcher.refusal(sql), "42501") << sql;
    }
}

TEST_F(InstallRoles, who_is_not_the_owner_installs_nothing) {
    add(Json::parse(kTravel));
    const PostgresOptions builder{.url = url_of("builder") + "?migrate=off"};
    try {
        install_surface({.url = url_of("builder")}, {.workflow = "travel"});
        FAIL() << "It is installed.";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::StoreDenied);
        EXPECT_NE(std::string(error.what()).find("\"builder\" is not the owner"), std::string::npos)
            << error.what();
    }
    owner.run(
        "GRANT USAGE ON SCHEMA ebb TO builder; GRANT ALL ON ALL TABLES IN SCHEMA ebb TO "
        "builder; GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ebb TO builder"
    );
    Session session(url_of("builder"));
    EXPECT_EQ(session.refusal("SELECT ebb.install_flow('travel')"), "42501");
    EXPECT_NE(session.message.find("may not make a schema"), std::string::npos) << session.message;
    EXPECT_EQ(owner.refusal("SELECT ebb.install_flow('travel', 'ebb', 'nobody_here')"), "EB011");
    owner.run(
        "REVOKE ALL ON ALL TABLES IN SCHEMA ebb FROM builder; REVOKE ALL ON ALL FUNCTIONS IN "
        "SCHEMA ebb FROM builder"
    );
}

TEST_F(InstallRoles, a_worker_s_role_registers_a_version_for_the_surface) {
    travel();
    owner.run(
        "GRANT USAGE ON SCHEMA ebb TO builder; GRANT SELECT, INSERT ON ebb.workflows TO "
        "builder"
    );
    Session builder(url_of("builder"));
    Json definition = with_version(2);
    definition["rules"]["attributes"].push_back({{"attribute", "class"}});
    builder.run(fmt::format(
        "INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)"
        " VALUES ('travel', 2, {}, 'x', 1)",
        builder.quote(to_text(definition_to_json(parse_definition_json(to_text(definition)))))
    ));
    EXPECT_EQ(owner.value("SELECT count(*) FROM wed_attr WHERE aname = 'class'"), "1");
    insert();
    EXPECT_EQ(rows_that_differ(), "0");
    // What it writes there can do no more than a definition can.
    for (const char* name : {"x\" text; BEGIN DROP TABLE ebb.tasks; END", "x\"\"", "X", ""}) {
        definition["version"] = 3;
        definition["rules"]["attributes"][4] = {{"attribute", name}};
        EXPECT_EQ(
            builder.refusal(fmt::format(
                "INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)"
                " VALUES ('travel', 3, {}, 'x', 1)",
                builder.quote(to_text(definition))
            )),
            "EB007"
        ) << name;
    }
    definition["rules"]["attributes"][4] = {{"attribute", "y"}, {"type", "text; DROP TABLE x"}};
    EXPECT_EQ(
        builder.refusal(fmt::format(
            "INSERT INTO ebb.workflows (name, version, definition, checksum, created_at)"
            " VALUES ('travel', 3, {}, 'x', 1)",
            builder.quote(to_text(definition))
        )),
        "EB007"
    );
    owner.run("REVOKE ALL ON ebb.workflows FROM builder");
}

}  // namespace
}  // namespace ebb::test
