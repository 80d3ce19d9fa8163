#pragma once

#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/engine.h>
#include <ebb/store.h>

#include "rules/surface_session.h"

namespace ebb::test {

inline constexpr const char* kJoin = R"(
    SELECT ebb.create_flow('j'); SET search_path = j, pg_catalog;
    BEGIN;
    INSERT INTO wed_attr (aname, adv) VALUES ('l', 'todo'), ('r', 'todo');
    INSERT INTO wed_attr (aname, atype, adv, external) VALUES ('n', 'integer', '0', true);
    INSERT INTO wed_trig (trname, cpred) VALUES ('left', $$l = 'todo'$$), ('right', $$r = 'todo'$$);
    INSERT INTO wed_trig (cpred, cfinal) VALUES ($$l = 'done' and r = 'done'$$, true);
    COMMIT;
    SELECT ebb.set_flow('j', 'external_writes', 'declared'), ebb.set_flow('j', 'notify', 'none'))";

/// A flow `j` whose instance ends when its attributes `l` and `r` are done, and two sessions.
class Surface : public ::testing::Test {
 protected:
    static const std::string& url() {
        static const std::string made = surface_database("surface");
        return made;
    }

    Surface() : one(url()), two(url()) {
        one.run("SELECT ebb.drop_flow(flow, false) FROM ebb.flows");
        one.run("DELETE FROM ebb.tasks; DELETE FROM ebb.history; DELETE FROM ebb.instances");
        one.run("DELETE FROM ebb.calls; DELETE FROM ebb.workflows");
        one.run(kJoin);
        two.run("SET search_path = j, pg_catalog");
    }

    /// The wid of a new instance.
    std::string start() { return one.value("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid"); }

    std::string job(const std::string& wid, const std::string& transition) {
        return one.value(fmt::format(
            "SELECT job FROM job_pool WHERE wid = {} AND trname = '{}'", wid, transition
        ));
    }

    /// Gives an attribute of all states another value with one statement, as a commit of Ebb does.
    /// `value` may use `i.number`, from 1 on in the order of the rows.
    void change_states(const std::string& attribute, const std::string& value) {
        one.run(fmt::format(
            "UPDATE ebb.instances AS o SET state = jsonb_set(o.state::jsonb,"
            " '{{rules,values,{}}}', to_jsonb({}))::text"
            " FROM (SELECT instance_id, row_number() OVER (ORDER BY wid) AS number FROM wed_flow)"
            " AS i WHERE o.id = i.instance_id",
            attribute,
            value
        ));
    }

    std::string status(const std::string& wid) {
        return one.value("SELECT status FROM st_status WHERE wid = " + wid);
    }

    /// Sends a statement in the second session; returns when it waits for a lock of the first.
    void send_and_block(const std::string& sql) {
        ASSERT_EQ(PQsendQuery(two.get(), sql.c_str()), 1);
        const std::string pid = std::to_string(PQbackendPID(two.get()));
        Session looker(url());
        while (looker.value("SELECT wait_event_type FROM pg_stat_activity WHERE pid = " + pid) !=
               "Lock") {
            std::this_thread::yield();
        }
    }

    /// The SQLSTATE of what was sent; empty when it is done.
    std::string answer() {
        std::string state;
        while (PGresult* result = PQgetResult(two.get())) {
            const char* text = PQresultErrorField(result, PG_DIAG_SQLSTATE);
            if (text != nullptr) state = text;
            PQclear(result);
        }
        return state;
    }

    Session one;
    Session two;
};

}  // namespace ebb::test
