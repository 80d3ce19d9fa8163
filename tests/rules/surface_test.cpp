// The surface of rules: transactions beside one another, users who want more than they may, and a
// process of Ebb that works on the same instances. What a write means is compared with the kernel
// in reflex_test.cpp.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ebb/engine.h>
#include <ebb/store.h>

#include "rules/surface_world.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

/// v2's claim and UPDATE, or the lease and wed_complete.
struct Way {
    const char* isolation;
    const char* refusal;  ///< of the second one
};

TEST_F(Surface, two_transitions_that_end_at_once_never_lose_the_final) {
    for (const Way& way : std::vector<Way>{
             {"READ COMMITTED", ""}, {"REPEATABLE READ", "40001"}, {"SERIALIZABLE", "40001"}
         }) {
        SCOPED_TRACE(way.isolation);
        const std::string wid = start();
        const auto claim = [&](int tgid) {
            return fmt::format("SELECT pg_try_advisory_xact_lock({}, {})", wid, tgid);
        };
        const auto update = [&](const char* attribute) {
            return fmt::format("UPDATE wed_flow SET {} = 'done' WHERE wid = {}", attribute, wid);
        };
        const std::string begin = fmt::format("BEGIN ISOLATION LEVEL {}", way.isolation);
        one.run(begin);
        two.run(begin);
        EXPECT_EQ(one.value(claim(1)), "t");
        EXPECT_EQ(two.value(claim(2)), "t");
        one.run(update("l"));
        send_and_block(update("r"));
        one.run("COMMIT");
        EXPECT_EQ(answer(), way.refusal);
        two.run(*way.refusal == '\0' ? "COMMIT" : "ROLLBACK");
        if (*way.refusal != '\0') {
            EXPECT_EQ(status(wid), "R");
            two.run("BEGIN");
            EXPECT_EQ(two.value(claim(2)), "t");
            two.run(update("r"));
            two.run("COMMIT");
        }
        EXPECT_EQ(status(wid), "F");
        EXPECT_EQ(one.value("SELECT count(*) FROM wed_trace WHERE wid = " + wid), "3");
    }
}

TEST_F(Surface, a_claim_is_exclusive_and_a_completed_job_is_gone) {
    const std::string wid = start();
    const std::string leased = one.value("SELECT job FROM wed_claim('left')");
    EXPECT_EQ(two.value("SELECT count(*) FROM wed_claim('left')"), "0");
    one.run("BEGIN");
    EXPECT_EQ(one.value(fmt::format("SELECT pg_try_advisory_xact_lock({}, 2)", wid)), "t");
    EXPECT_EQ(two.value(fmt::format("SELECT pg_try_advisory_xact_lock({}, 2)", wid)), "f");
    EXPECT_EQ(two.value("SELECT count(*) FROM wed_claim('right')"), "0");
    one.run("ROLLBACK");
    EXPECT_EQ(two.value("SELECT count(*) FROM wed_claim('right')"), "1");
    const std::string complete =
        fmt::format("SELECT wed_complete('{}', '{{\"l\": \"done\"}}')", leased);
    EXPECT_EQ(one.value(complete), "R");
    EXPECT_EQ(one.refusal(complete), "EB003");
}

TEST_F(Surface, an_update_is_refused_where_wed_sql_refuses_it) {
    const std::string wid = start();
    const std::string other = start();
    EXPECT_EQ(one.refusal("INSERT INTO wed_flow (l, r) VALUES ('x', 'y')"), "EB001");
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET l = 'done' WHERE wid = " + wid), "EB008");
    one.run("SELECT ebb.set_flow('j', 'external_writes', 'none')");
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET l = 'done' WHERE wid = " + wid), "EB003");
    one.run("BEGIN");
    one.run(fmt::format("SELECT pg_try_advisory_xact_lock({}, 1)", wid));
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET l = 'done' WHERE wid = " + other), "EB004");
    one.run("ROLLBACK; BEGIN");
    one.run(fmt::format("SELECT pg_try_advisory_xact_lock({}, 1)", wid));
    EXPECT_EQ(
        one.refusal(fmt::format("UPDATE wed_flow SET l = 'done', r = 'done' WHERE wid = {}", wid)),
        "EB005"
    );
    one.run("ROLLBACK");
    EXPECT_EQ(one.value("SELECT count(*) FROM job_pool WHERE wid = " + wid), "2");
    one.run("INSERT INTO wed_flow (l, r) VALUES ('done', 'done')");
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET n = 1 WHERE l = 'done'"), "EB002");
    EXPECT_EQ(one.refusal("DELETE FROM wed_flow"), "EB009");
}

TEST_F(Surface, increments_from_outside_add_up) {
    const std::string wid = start();
    one.run("BEGIN");
    one.run("UPDATE wed_flow SET n = n + 1");
    send_and_block("UPDATE wed_flow SET n = n + 1");
    one.run("COMMIT");
    EXPECT_EQ(answer(), "");
    EXPECT_EQ(one.value("SELECT n FROM wed_flow WHERE wid = " + wid), "2");
    EXPECT_EQ(one.value("SELECT state::json #>> '{rules,values,n}' FROM ebb.instances"), "2");
}

// The lock is the claim of a job, and another one's lease is a claim, too.
TEST_F(Surface, a_job_that_cannot_be_claimed_has_no_lock) {
    const auto lock = [&](const std::string& wid, int tgid) {
        return fmt::format("SELECT pg_try_advisory_xact_lock({}, {})", wid, tgid);
    };
    const std::string wid = start();
    const std::string job = two.value("SELECT job FROM wed_claim('left', 1, 'other')");
    EXPECT_EQ(one.value(lock(wid, 1)), "f");
    EXPECT_EQ(one.value(lock(wid, 2)), "t");
    two.run(fmt::format("SELECT wed_release('{}')", job));
    EXPECT_EQ(one.value(lock(wid, 1)), "t");
    two.run("SELECT wed_complete(job, '{\"l\": \"x\"}') FROM wed_claim('left')");
    // As in WED-SQL, a job that does not exist can be locked. An UPDATE under this lock is not a
    // write from outside, which it would be without a claim.
    for (const int tgid : {1, 77}) {
        EXPECT_EQ(one.value("BEGIN; " + lock(wid, tgid)), "t");
        EXPECT_EQ(one.refusal("UPDATE wed_flow SET n = 7 WHERE wid = " + wid), "EB003");
        EXPECT_NE(one.message.find("does not exist"), std::string::npos) << one.message;
        one.run("ROLLBACK");
    }
    EXPECT_EQ(one.value(lock("4711", 1)), "t");
    // One that does not exist leaves a real claim as it is.
    one.run("BEGIN; " + lock(wid, 1) + "; " + lock(wid, 2));
    one.run("UPDATE wed_flow SET r = 'x' WHERE wid = " + wid + "; COMMIT");
    EXPECT_EQ(one.value("SELECT r FROM wed_flow WHERE wid = " + wid), "x");
}

TEST_F(Surface, a_lock_that_is_taken_twice_is_one_claim) {
    const std::string wid = start();
    const std::string lock = fmt::format("SELECT pg_try_advisory_xact_lock({}, 1)", wid);
    one.run("BEGIN; " + lock);
    EXPECT_EQ(one.value(lock), "t");
    one.run("UPDATE wed_flow SET l = 'done' WHERE wid = " + wid + "; COMMIT");
    EXPECT_EQ(
        one.value("SELECT trw FROM wed_trace WHERE wid = " + wid + " ORDER BY seq DESC LIMIT 1"),
        "left"
    );
}

TEST_F(Surface, a_condition_with_an_empty_name_gets_one_and_names_are_explained) {
    one.run("INSERT INTO wed_trig (cname, cpred, cfinal) VALUES ('', 'n = 5', true)");
    EXPECT_EQ(one.value("SELECT cname FROM wed_trig WHERE cpred = 'n = 5'"), "final_4");
    // A table that is imported has many rows.
    EXPECT_EQ(
        one.refusal("INSERT INTO wed_trig (tgid, cname, cpred, cfinal) VALUES (7, 'a b', 'n = 6', "
                    "true)"),
        "EB007"
    );
    EXPECT_NE(one.message.find("(cname, tgid 7)"), std::string::npos) << one.message;
    for (const char* name : {"ebb", "pg_x"}) {
        EXPECT_EQ(one.refusal(fmt::format("SELECT ebb.create_flow('{}')", name)), "EB007");
        EXPECT_NE(one.message.find("which are reserved"), std::string::npos) << one.message;
    }
}

TEST_F(Surface, a_process_of_ebb_and_sql_work_on_one_instance) {
    const std::string wid = start();
    const auto store = open_postgres_store({.url = url()});
    HandlerRegistry handlers;
    handlers.add("left", [](const Json&) { return Json{{"l", "done"}}; });
    Engine engine(*store, handlers, EngineOptions{.worker_id = "cpp"});
    engine.run();
    // The commit of the process projects the row.
    while (one.value("SELECT l FROM wed_flow WHERE wid = " + wid) != "done") {
        std::this_thread::yield();
    }
    const std::string job = one.value("SELECT job FROM wed_claim('right')");
    EXPECT_EQ(one.value(fmt::format("SELECT wed_complete('{}', '{{\"r\": \"done\"}}')", job)), "F");
    // And what the engine starts has a row, too.
    const auto id = engine.start("j", Payload::text(R"({"n": 7})")).id;
    EXPECT_EQ(
        one.value(fmt::format("SELECT n FROM wed_flow WHERE instance_id = '{}'", id.to_string())),
        "7"
    );
    engine.drain(10s);
}

TEST_F(Surface, a_condition_that_stays_true_for_a_time_fires_then) {
    one.run(R"(
        BEGIN;
        INSERT INTO wed_trig (trname, cpred, after) VALUES
            ('soon', $$n = 1$$, '1 ms'),
            ('later', $$n = 1$$, '3 days'),
            ('never', $$n = 1$$, '3 days');
        COMMIT;
        INSERT INTO wed_flow (n) VALUES (1))");
    EXPECT_EQ(
        one.value("SELECT string_agg(trname || ' ' || status, ', ' ORDER BY tgid) FROM job_pool"
                  " WHERE trname IN ('later', 'never')"),
        "later armed, never armed"
    );
    // An armed trigger has no job to claim.
    EXPECT_EQ(one.value("SELECT job FROM wed_claim('later')"), "");
    const std::string armed = one.value("SELECT job FROM job_pool WHERE trname = 'later'");
    EXPECT_EQ(one.refusal(fmt::format("SELECT wed_complete('{}', '{{}}')", armed)), "EB003");
    const auto store = open_postgres_store({.url = url()});
    HandlerRegistry handlers;
    handlers.add("soon", [](const Json& seen) { return Json{{"n", seen["n"].get<int>() + 1}}; });
    Engine engine(*store, handlers, EngineOptions{.worker_id = "cpp"});
    engine.run();
    while (one.value("SELECT n FROM wed_flow") != "2") std::this_thread::yield();
    engine.drain(10s);
    // The others were disarmed, because n is no longer 1.
    EXPECT_EQ(
        one.value("SELECT string_agg(trname, ' ' ORDER BY trname) FROM job_pool"), "left right"
    );
    EXPECT_EQ(one.value("SELECT count(*) FROM ebb.history WHERE type = 'step_skipped'"), "2");
    EXPECT_EQ(one.refusal("UPDATE wed_trig SET after = '0'"), "EB007");
    // A final condition does not wait for what is armed.
    one.run("UPDATE wed_flow SET n = 1");
    one.run("SELECT wed_complete(job, '{\"l\": \"done\"}') FROM wed_claim('left')");
    EXPECT_EQ(
        one.value("SELECT wed_complete(job, '{\"r\": \"done\"}') FROM wed_claim('right')"), "F"
    );
}

TEST_F(Surface, the_trace_keeps_what_was_fired_and_stopped_before_its_call) {
    const std::string wid = start();
    const std::string fired = "SELECT trf FROM wed_trace WHERE seq = 1 AND wid = " + wid;
    EXPECT_EQ(one.value(fired), "{left,right}");
    const auto store = open_postgres_store({.url = url()});
    const HandlerRegistry none;
    Engine engine(*store, none, EngineOptions{.worker_id = "cpp"});
    engine.run();
    one.run(fmt::format("SELECT wed_recover({}, 1, 'stop')", wid));
    while (one.value("SELECT trname FROM job_pool WHERE trname = 'left'") != "") {
        std::this_thread::yield();
    }
    EXPECT_EQ(one.value(fired), "{left,right}");
    // Neither a newer version nor the end of the instance changes what has been.
    one.run("SELECT trigger_toggle(2)");
    one.run(fmt::format("SELECT wed_cancel({})", wid));
    while (one.value("SELECT ebb_status FROM st_status") != "cancelled") std::this_thread::yield();
    EXPECT_EQ(one.value(fired), "{left,right}");
    engine.drain(10s);
}

TEST_F(Surface, a_row_that_is_held_does_not_stop_a_process_of_ebb) {
    const std::string wid = start();
    const auto store = open_postgres_store({.url = url()});
    const HandlerRegistry none;
    Engine engine(*store, none, EngineOptions{.worker_id = "cpp"});
    engine.run();
    const auto id = *InstanceId::parse(one.value("SELECT instance_id FROM wed_flow"));
    one.run("BEGIN");
    one.run("SELECT 1 FROM wed_flow FOR UPDATE");
    engine.write(id, Payload::text(R"({"n": 5})"), {.by = "ada"});
    EXPECT_EQ(one.value("SELECT n FROM wed_flow"), "0");
    // What was read is too old: nothing is lost.
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET n = n + 1"), "40001");
    one.run("ROLLBACK");
    // The next commit of the flow catches up.
    engine.start("j");
    EXPECT_EQ(one.value("SELECT n FROM wed_flow WHERE wid = " + wid), "5");
    EXPECT_EQ(one.value("SELECT count(*) FROM ebb.flow_behind"), "0");
    one.run("UPDATE wed_flow SET n = n + 1 WHERE wid = " + wid);
    EXPECT_EQ(
        one.value(fmt::format(
            "SELECT state::json #>> '{{rules,values,n}}' FROM ebb.instances WHERE id = '{}'",
            id.to_string()
        )),
        "6"
    );
    engine.drain(10s);
}

TEST_F(Surface, a_constraint_refuses_a_worker_in_sql_and_does_not_stop_a_process_of_ebb) {
    const std::string wid = start();
    one.run("ALTER TABLE wed_flow ADD CHECK (n < 5)");
    const std::string job = one.value("SELECT job FROM wed_claim('left')");
    EXPECT_EQ(one.refusal(fmt::format("SELECT wed_complete('{}', '{{\"n\": 9}}')", job)), "23514");
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET n = 9"), "23514");
    const auto store = open_postgres_store({.url = url()});
    const HandlerRegistry none;
    Engine engine(*store, none, EngineOptions{.worker_id = "cpp"});
    engine.run();
    const auto id = *InstanceId::parse(one.value("SELECT instance_id FROM wed_flow"));
    engine.write(id, Payload::text(R"({"n": 9})"), {.by = "ada"});
    EXPECT_EQ(one.value("SELECT n FROM wed_flow"), "0");
    EXPECT_EQ(one.value("SELECT count(*) FROM ebb.flow_behind"), "1");
    engine.write(id, Payload::text(R"({"n": 4})"), {.by = "ada"});
    EXPECT_EQ(one.value("SELECT n FROM wed_flow"), "4");
    engine.drain(10s);
}

TEST_F(Surface, an_update_of_many_rows_and_a_commit_of_many_instances_lock_in_one_order) {
    // Two rows whose numbers and ids are in opposite orders.
    std::vector<Session::Row> pair;
    while (pair.empty()) {
        one.run("INSERT INTO wed_flow (l) SELECT 'todo' FROM generate_series(1, 4)");
        pair = one.run(
            "SELECT a.wid, a.instance_id, b.wid, b.instance_id FROM wed_flow AS a JOIN wed_flow AS "
            "b"
            " ON a.wid < b.wid AND a.instance_id > b.instance_id LIMIT 1"
        );
    }
    const auto lock = [](const std::string& id) {
        return fmt::format("SELECT 1 FROM ebb.instances WHERE id = '{}' FOR UPDATE", id);
    };
    // As a commit of Ebb, the lower id first.
    one.run("BEGIN");
    one.run(lock(pair[0][3]));
    send_and_block(
        fmt::format("UPDATE wed_flow SET n = n + 1 WHERE wid IN ({}, {})", pair[0][0], pair[0][2])
    );
    one.run(lock(pair[0][1]));
    one.run("COMMIT");
    EXPECT_EQ(answer(), "");
}

TEST_F(Surface, an_instance_is_taken_back_to_an_earlier_write) {
    const std::string wid = start();
    const std::string job = one.value("SELECT job FROM wed_claim('left')");
    one.run(fmt::format("SELECT wed_complete('{}', '{{\"l\": \"done\"}}')", job));
    EXPECT_EQ(one.refusal(fmt::format("SELECT wed_recover({}, 99)", wid)), "EB011");
    EXPECT_EQ(one.refusal(fmt::format("SELECT wed_recover({}, 1, 'go')", wid)), "EB011");
    EXPECT_EQ(one.refusal("SELECT wed_recover(99, 1)"), "EB011");
    one.run(fmt::format("SELECT wed_recover({}, 1)", wid));
    const auto store = open_postgres_store({.url = url()});
    const HandlerRegistry none;
    Engine engine(*store, none, EngineOptions{.worker_id = "cpp"});
    engine.run();
    while (one.value("SELECT l FROM wed_flow WHERE wid = " + wid) != "todo") {
        std::this_thread::yield();
    }
    // What holds has fired again.
    while (one.value("SELECT count(*) FROM job_pool WHERE status = 'ready'") != "2") {
        std::this_thread::yield();
    }
    engine.drain(10s);
}

TEST_F(Surface, sessions_share_what_waits) {
    one.run("INSERT INTO wed_flow (l) SELECT 'todo' FROM generate_series(1, 300)");
    one.run("ANALYZE ebb.tasks; ANALYZE ebb.instances");
    EXPECT_EQ(one.value("SELECT count(*) FROM wed_claim('left', 7)"), "7");
    // A second look finds others.
    EXPECT_EQ(two.value("SELECT count(*) FROM wed_claim('left', 293, 'other')"), "293");
    EXPECT_EQ(two.value("SELECT count(*) FROM wed_claim('left', 1, 'third')"), "0");
}

TEST_F(Surface, all_instances_are_checked_again_and_counted_by_transition) {
    start();
    start();
    one.run("SELECT job FROM wed_claim('left')");
    EXPECT_EQ(one.value("SELECT jobs FROM running WHERE trname = 'left'"), "1");
    EXPECT_EQ(one.value("SELECT jobs FROM ready WHERE trname = 'left'"), "1");
    EXPECT_EQ(one.value("SELECT count(*) FROM late"), "0");
    EXPECT_EQ(one.value("SELECT count(*) FROM failed"), "0");
    EXPECT_EQ(one.value("SELECT wed_rematch()"), "0");
    one.run("INSERT INTO wed_trig (trname, cpred) VALUES ('third', $$n = 0$$)");
    EXPECT_EQ(one.value("SELECT wed_rematch()"), "2");
    EXPECT_EQ(one.value("SELECT jobs FROM ready WHERE trname = 'third'"), "2");
    one.run(
        "UPDATE ebb.tasks SET due_at = due_at - 120000000, lease_until = 1 WHERE lease_owner <> ''"
    );
    EXPECT_EQ(one.value("SELECT jobs FROM late"), "1");
}

TEST_F(Surface, a_commit_of_many_instances_writes_the_rows_that_nothing_is_in_the_way_of) {
    one.run("INSERT INTO wed_flow (n) SELECT x FROM generate_series(1, 6) AS x");
    one.run("ALTER TABLE wed_flow ADD CHECK (n <> 13)");
    const auto numbers = [this] {
        return one.value("SELECT string_agg(n::text, ' ' ORDER BY wid) FROM wed_flow");
    };
    two.run("BEGIN");
    two.run("SELECT 1 FROM j.wed_flow WHERE n = 2 FOR UPDATE");
    change_states("n", "i.number + 10");
    EXPECT_EQ(numbers(), "11 2 3 14 15 16");
    EXPECT_EQ(one.value("SELECT count(*) FROM ebb.flow_behind"), "2");
    two.run("ROLLBACK");
    change_states("n", "i.number + 20");
    EXPECT_EQ(numbers(), "21 22 23 24 25 26");
    EXPECT_EQ(one.value("SELECT count(*) FROM ebb.flow_behind"), "0");
}

TEST_F(Surface, an_attribute_is_a_binary_number_and_never_a_document) {
    one.run("INSERT INTO wed_attr (aname, atype, adv, external) VALUES ('d', 'double', '2', true)");
    const std::string wid = start();
    EXPECT_EQ(one.value("SELECT d FROM wed_flow WHERE wid = " + wid), "2");
    // The digits that a session shows are not those that are stored.
    one.run("SET extra_float_digits = 0; UPDATE wed_flow SET d = 0.1::float8 + 0.2::float8");
    one.run("RESET extra_float_digits");
    EXPECT_EQ(one.value("SELECT d FROM wed_flow WHERE wid = " + wid), "0.30000000000000004");
    EXPECT_NE(
        one.value("SELECT state FROM ebb.instances").find(R"("d":0.30000000000000004)"),
        std::string::npos
    );
    one.run("UPDATE wed_flow SET d = 1e21");
    EXPECT_NE(one.value("SELECT state FROM ebb.instances").find(R"("d":1e+21)"), std::string::npos);
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET d = 'NaN'"), "EB008");
    EXPECT_NE(
        one.message.find(R"("d" (double) cannot be "NaN"; allowed is a number)"), std::string::npos
    ) << one.message;
    EXPECT_EQ(one.refusal("INSERT INTO wed_attr (aname, atype) VALUES ('x', 'json')"), "EB007");
    EXPECT_NE(one.message.find("A document is kept as a text"), std::string::npos) << one.message;
}

// The kernel reads what the surface writes, so both have the same limits.
struct Limit {
    const char* type;
    const char* last;    ///< SQL of the last value that is allowed
    const char* beyond;  ///< SQL of the first that is not
    const char* allowed;
};

const std::vector<Limit> kLimits{
    {"numeric",
     "'1e1000'::numeric - 1",
     "'1e1000'::numeric",
     "a decimal number of at most 1,000 digits before and after the point"},
    {"numeric", "'1e-1000'::numeric", "'-1e-1001'::numeric", "at most 1,000 digits"},
    {"date", "date '9999-12-31'", "date '10000-01-01'", "a date of the years 1 to 9999"},
    {"date", "date '0001-01-01'", "date '0001-12-31 BC'", "a date of the years 1 to 9999"},
    {"timestamp",
     "timestamptz '9999-12-31 23:59:59.999999Z'",
     "timestamptz '10000-01-01 00:00:00Z'",
     "a time of the years 1 to 9999 (UTC)"},
    {"timestamp",
     "timestamptz '0001-01-01 00:00:00Z'",
     "timestamptz '0001-12-31 23:59:59Z BC'",
     "a time of the years 1 to 9999 (UTC)"},
};

TEST_F(Surface, values_that_the_kernel_cannot_read_are_refused) {
    int number = 0;
    for (const char* zone : {"UTC", "America/New_York", "Asia/Karachi"}) {
        one.run(fmt::format("SET timezone = '{}'", zone));
        for (const Limit& limit : kLimits) {
            SCOPED_TRACE(fmt::format("{} {}", zone, limit.beyond));
            const std::string name = fmt::format("v{}", ++number);
            const auto refused = [&](const std::string& sql, const char* state) {
                EXPECT_EQ(one.refusal(sql), state);
                EXPECT_NE(one.message.find(limit.allowed), std::string::npos) << one.message;
            };
            const std::string beyond = one.quote(one.value(fmt::format("SELECT {}", limit.beyond)));
            const auto add = [&](const std::string& initial) {
                return fmt::format(
                    "INSERT INTO wed_attr (aname, atype, adv, external)"
                    " VALUES ('{}', '{}', {}, true)",
                    name,
                    limit.type,
                    initial
                );
            };
            refused(add(beyond), "EB007");
            one.run(add("NULL"));
            refused(
                fmt::format("INSERT INTO wed_flow ({}) VALUES ({})", name, limit.beyond), "EB008"
            );
            const std::string wid = one.value(
                fmt::format("INSERT INTO wed_flow ({}) VALUES ({}) RETURNING wid", name, limit.last)
            );
            refused(
                fmt::format("UPDATE wed_flow SET {} = {} WHERE wid = {}", name, limit.beyond, wid),
                "EB008"
            );
            refused(
                fmt::format(
                    "SELECT wed_write({}, jsonb_build_object('{}', ({})::text))",
                    wid,
                    name,
                    limit.beyond
                ),
                "EB008"
            );
            EXPECT_EQ(
                one.value(fmt::format(
                    "SELECT {0} = {1} FROM wed_flow WHERE wid = {2}", name, limit.last, wid
                )),
                "t"
            );
        }
    }
    // A process of Ebb reads all that there is.
    const auto store = open_postgres_store({.url = url()});
    const HandlerRegistry none;
    Engine engine(*store, none, EngineOptions{.worker_id = "cpp"});
    for (const auto& row : one.run("SELECT instance_id FROM wed_flow")) {
        EXPECT_NO_THROW(engine.show(*InstanceId::parse(row[0]))) << row[0];
    }
}

TEST(SurfaceUsual, is_decided_by_the_short_functions) {
    Session session(surface_database("surface_usual"));
    session.run(
        "SELECT ebb.create_flow('hops'); SET search_path = hops, pg_catalog;"
        "BEGIN;"
        "INSERT INTO wed_attr (aname, atype, adv) VALUES ('at', 'integer', '0');"
        "INSERT INTO wed_attr (aname) VALUES ('note');"
        "INSERT INTO wed_trig (trname, cpred) VALUES ('a', 'at = 0'), ('b', 'at = 1');"
        "INSERT INTO wed_trig (cpred, cfinal) VALUES ('at = 2', true);"
        "COMMIT;"
        "SELECT ebb.set_flow('hops', 'notify', 'none')"
    );
    // Whatever would need the long ones fails.
    session.run(
        "CREATE OR REPLACE FUNCTION ebb.rules_decide(program jsonb, state_text text, write jsonb,"
        " merged ebb.rules_merged, truth boolean[], faults text[]) RETURNS ebb.rules_decision"
        " LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE EXCEPTION 'long' USING ERRCODE = 'EB999';"
        " END $$"
    );
    EXPECT_EQ(session.refusal("INSERT INTO wed_flow (at) VALUES (0), (1)"), "");
    const std::string first = session.value("SELECT min(wid) FROM wed_flow");
    for (const char* number : {"1", "2"}) {
        EXPECT_EQ(
            session.refusal(fmt::format(
                "SELECT pg_try_advisory_xact_lock({0}, {1});"
                " UPDATE wed_flow SET at = {1}, note = 'it''s' WHERE wid = {0}",
                first,
                number
            )),
            ""
        ) << session.message;
    }
    EXPECT_EQ(session.value("SELECT count(*) FROM ebb.instances WHERE status = 'completed'"), "1");
    // No condition holds: an exception, which is not usual. So is an instance that ends at once.
    EXPECT_EQ(
        session.refusal("SELECT pg_try_advisory_xact_lock(max(wid)::integer, 2) FROM wed_flow;"
                        " UPDATE wed_flow SET at = 7 WHERE wid = (SELECT max(wid) FROM wed_flow)"),
        "EB999"
    );
    EXPECT_EQ(session.refusal("INSERT INTO wed_flow (at) VALUES (2)"), "EB999");
}

TEST_F(Surface, settings_that_a_user_forges_change_nothing) {
    const std::string wid = start();
    const std::string id = one.value("SELECT instance_id FROM wed_flow");
    one.run("BEGIN");
    one.run(fmt::format("SET LOCAL ebb_surface.projecting = '{}'", id));
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET l = 'done'"), "EB008");
    one.run("ROLLBACK; BEGIN");
    two.run("BEGIN");
    EXPECT_EQ(two.value(fmt::format("SELECT pg_try_advisory_xact_lock({}, 1)", wid)), "t");
    one.run(fmt::format(
        "SELECT set_config('ebb_surface.claims', '[{{\"flow\":\"j\",\"wid\":{},\"tgid\":1,"
        "\"job\":\"{}\"}}]', true)",
        wid,
        job(wid, "left")
    ));
    EXPECT_EQ(one.refusal("UPDATE wed_flow SET l = 'done'"), "EB003");
    one.run("ROLLBACK");
    two.run("ROLLBACK");
}

TEST_F(Surface, a_role_may_do_what_it_was_granted) {
    one.run(
        "DO $$ BEGIN CREATE ROLE flow_agent LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END "
        "$$"
    );
    const std::string wid = start();
    Session agent(ebb::testing::postgres_server().url("surface", "flow_agent"));
    EXPECT_EQ(agent.refusal("SELECT * FROM j.wed_flow"), "42501");
    one.run("SELECT ebb.grant_flow('j', 'flow_agent', '{work:left}')");
    EXPECT_EQ(agent.value("SELECT count(*) FROM j.job_pool"), "2");
    EXPECT_EQ(agent.value("SELECT count(*) FROM j.wed_trace"), "1");
    EXPECT_EQ(agent.refusal("INSERT INTO j.wed_flow DEFAULT VALUES"), "42501");
    EXPECT_EQ(agent.refusal("UPDATE j.wed_flow SET n = 1"), "42501");
    EXPECT_EQ(agent.refusal("SELECT * FROM j.wed_claim('right')"), "42501");
    EXPECT_EQ(agent.refusal("INSERT INTO j.wed_attr (aname) VALUES ('x')"), "42501");
    EXPECT_EQ(agent.refusal("SELECT j.trigger_toggle(1)"), "42501");
    EXPECT_EQ(agent.refusal("SELECT j.wed_cancel(" + wid + ")"), "42501");
    EXPECT_EQ(agent.refusal("SELECT ebb.create_flow('k')"), "42501");
    EXPECT_EQ(agent.refusal("SELECT * FROM ebb.instances"), "42501");
    EXPECT_EQ(agent.refusal("SELECT j._project('{}', '{}')"), "42501");
    const std::string job = agent.value("SELECT job FROM j.wed_claim('left')");
    const std::string complete =
        fmt::format("SELECT j.wed_complete('{}', '{{\"l\": \"done\"}}')", job);
    EXPECT_EQ(one.refusal(complete), "EB003") << "the job is another's";
    EXPECT_EQ(agent.value(complete), "R");
    EXPECT_EQ(one.value("SELECT ebb.revoke_flow('j', 'flow_agent')"), "t");
    EXPECT_EQ(agent.refusal("SELECT * FROM j.wed_flow"), "42501");
}

TEST_F(Surface, conditions_cannot_leave_their_place) {
    const std::vector<std::string> hostile{
        "",
        "false) or (true",
        "l = 'x'; drop table j.wed_flow",
        "l = 'x' -- and more",
        "l /* */ = 'x'",
        "pg_read_file('/etc/passwd') is not null",
        "(select 1) = 1",
        "exists (select 1)",
        "l = current_user",
        "l = U&'x'",
        "l = B'1'",
        "ebb.work_now() > 0",
        "\"l\" = \"x\"",
        "\"l\"\"\" = 'x'",
        "l::regclass is null",
        "l operator(pg_catalog.=) 'x'",
        "l ~ 'x'",
        "(l, r) = ('x', 'y')",
        "l[1] = 'x'",
        "l similar to 'x'",
        "l collate \"C\" = 'x'",
        "n + l > 1",
        "n",
        "l = 'x",
        "l = $$x",
        "l = $1",
        "now() > t",
        "wid = 1",
        std::string(20'000, 'l'),
        std::string(100, '(') + "true" + std::string(100, ')'),
    };
    for (const std::string& condition : hostile) {
        const std::string sql = fmt::format(
            "INSERT INTO wed_trig (trname, cpred) VALUES ('evil', {})", one.quote(condition)
        );
        EXPECT_EQ(one.refusal(sql), "EB007") << condition;
    }
    for (const std::string name : {"", "_EXCPT", "a b", "x\"y", "true"}) {
        const std::string sql = fmt::format(
            "INSERT INTO wed_trig (trname, cpred) VALUES ({}, 'true')", one.quote(name)
        );
        EXPECT_EQ(one.refusal(sql), "EB007") << name;
    }
    for (const std::string name :
         {"", "Wid", "wid", "instance_id", "a b", "x; drop table y", "1a"}) {
        const std::string sql =
            fmt::format("INSERT INTO wed_attr (aname) VALUES ({})", one.quote(name));
        EXPECT_EQ(one.refusal(sql), "EB007") << name;
    }
    EXPECT_EQ(one.refusal("INSERT INTO wed_attr (aname, atype) VALUES ('x', 'json')"), "EB007");
    EXPECT_EQ(
        one.refusal("INSERT INTO wed_attr (aname, atype, adv) VALUES ('x', 'integer', 'y')"),
        "EB007"
    );
}

}  // namespace
}  // namespace ebb::test
