"""A flow of WED-SQL is taken over while its instances live, and goes on as it would have gone on there.

Each flow of orders/ begins on the reference server, which has WED-SQL's tables; some of its instances have
run one transition, some two, some all. Then ebb.import_wed copies it, and both go on, the lowest trigger
first: traces, jobs and statuses stay equal.

usage: import_test.py EBB, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import re
import sys
import unittest

import psycopg

from server import HERE, Reference, Surface, connect, psql

EBB = sys.argv[1]
SURFACE = Surface(EBB)
STEPS_BEFORE = (0, 1, 2, 99)


class Player:
    """One flow on one server, and what each of its transitions writes."""

    def __init__(self, schema, work):
        self.database = connect(schema)
        self.work = work

    def rows(self, sql, *values):
        return self.database.execute(sql, values or None).fetchall()

    def step(self, wid):
        """Runs the pending transition with the lowest trigger that is not refused. False if there is none."""
        jobs = self.rows("SELECT trname, tgid FROM job_pool WHERE wid = %s ORDER BY tgid", wid)
        return any(self.run(wid, name, number) for name, number in jobs if name in self.work)

    def run(self, wid, name, number):
        try:
            with self.database.transaction():
                self.database.execute("SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", (wid, number))
                self.database.execute(f"UPDATE wed_flow SET {self.work[name]} WHERE wid = {wid}")
        except psycopg.Error as error:
            if error.sqlstate == "EB005":  # it would end while others are pending
                return False
            raise
        return True

    def seen(self):
        trace = self.rows("SELECT wid, trw, ARRAY(SELECT f FROM unnest(trf) f ORDER BY f), status::text,"
                          " state::jsonb FROM wed_trace ORDER BY wid, seq")
        jobs = self.rows("SELECT wid, trname, payload::jsonb FROM job_pool ORDER BY wid, trname")
        return trace, jobs, self.rows("SELECT wid, status::text FROM st_status ORDER BY wid")


class Import(unittest.TestCase):
    maxDiff = None

    def play(self, path):
        text = path.read_text()
        work = dict(re.findall(r"^-- work (\w+): (.*)$", text, re.M))
        name = path.stem
        Reference().create(f"old_{name}")
        made = psql(text, f"old_{name}", "-v", "ON_ERROR_STOP=1", "-1")
        self.assertEqual(made.returncode, 0, made.stdout)
        old = Player(f"old_{name}", work)
        self.addCleanup(old.database.close)
        for wid, steps in enumerate(STEPS_BEFORE, 1):
            old.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
            while steps and old.step(wid):
                steps -= 1
        taken = psql(f"SELECT ebb.import_wed('{name}', 'old_{name}')", "public", "-v", "ON_ERROR_STOP=1")
        self.assertEqual(taken.stdout.strip(), str(len(STEPS_BEFORE)))
        new = Player(name, work)
        self.addCleanup(new.database.close)
        self.assertEqual(new.seen(), old.seen())
        for wid in range(1, len(STEPS_BEFORE) + 1):
            while old.step(wid):
                self.assertTrue(new.step(wid))
            self.assertFalse(new.step(wid))
        self.assertEqual(new.seen(), old.seen())
        # New instances get the numbers behind those that were taken over.
        added = new.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        self.assertEqual(added, [(len(STEPS_BEFORE) + 1,)])

    def test_flows_go_on(self):
        for path in sorted((HERE / "orders").glob("*.sql")):
            with self.subTest(path.stem):
                self.play(path)

    def test_a_copy_that_is_not_of_one_moment_is_refused(self):
        Reference().create("old_torn")
        psql("INSERT INTO wed_attr (aname) VALUES ('a');"
             "INSERT INTO wed_trig (trname, cpred) VALUES ('t', 'a is null');"
             "INSERT INTO wed_flow DEFAULT VALUES; DELETE FROM job_pool", "old_torn")
        refused = psql("SELECT ebb.import_wed('torn', 'old_torn')", "public")
        self.assertIn("does not lead to its attributes and jobs", refused.stdout)
        left = psql("SELECT nspname FROM pg_namespace WHERE nspname = 'torn'", "public")
        self.assertEqual(left.stdout, "")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
