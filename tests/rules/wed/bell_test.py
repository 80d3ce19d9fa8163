"""When SQL notifies workers of what it puts for them to do.

A NOTIFY makes commits wait for each other, so none is sent while a job of the same kind waits: the workers
look for that one, and find both. A transaction that stays open may commit after they have looked; it
notifies them then.

usage: bell_test.py EBB, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import itertools
import sys
import unittest

import psycopg

from server import URL, Surface, connect, psql

EBB = sys.argv[1]
SURFACE = Surface(EBB)


class Bell(unittest.TestCase):
    numbers = itertools.count()

    def setUp(self):
        # Workers look for tasks by the name of their handler, so that those of other tests count.
        self.first = f"first_{next(self.numbers)}"
        flow = self.id().rsplit(".", 1)[1]
        SURFACE.create(flow)
        made = psql(f"SELECT ebb.set_flow('{flow}', 'notify', 'none');"
                    f"SELECT ebb.set_flow('{flow}', 'external_writes', 'all');"
                    "INSERT INTO wed_attr (aname, adv) VALUES ('step', 'a');"
                    f"INSERT INTO wed_trig (trname, cpred) VALUES ('{self.first}', $$step = 'a'$$);"
                    f"INSERT INTO wed_trig (trname, cpred) VALUES ('second_{self.first}', $$step = 'b'$$);"
                    "INSERT INTO wed_trig (cpred, cfinal) VALUES ($$step = 'end'$$, true);",
                    flow, "-v", "ON_ERROR_STOP=1", "-1")
        self.assertEqual(made.returncode, 0, made.stdout)
        self.one, self.two = self.connected(flow), self.connected(flow)
        self.ear = psycopg.connect(URL, autocommit=True)
        self.addCleanup(self.ear.close)
        self.ear.execute("LISTEN ebb_ebb")

    def connected(self, flow):
        session = connect(flow)
        self.addCleanup(session.close)
        return session

    def rings(self):
        """How many notifications have come. One that this test sends itself is the last of them."""
        self.two.execute("SELECT pg_catalog.pg_notify('ebb_ebb', 'last')")
        count = 0
        for said in self.ear.notifies():
            if said.payload == "last":
                return count
            count += "any" in said.payload
        raise AssertionError("the connection has ended")

    def end_all(self):
        self.one.execute("SELECT wed_complete(job, '{\"step\": \"end\"}') FROM wed_claim(%s, 1000)",
                         (self.first,))

    def test_a_lonely_event_rings(self):
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        self.end_all()
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)

    def test_a_loaded_system_does_not_ring(self):
        for _ in range(50):
            self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        # One of the other kind, in a transaction as in WED-SQL, and then forty more.
        for wid in range(1, 42):
            with self.one.transaction():
                self.one.execute("SELECT pg_try_advisory_xact_lock(%s::int, 1)", (wid,))
                self.one.execute("UPDATE wed_flow SET step = 'b' WHERE wid = %s", (wid,))
        self.assertEqual(self.rings(), 1)
        with self.one.transaction():
            self.one.execute("UPDATE wed_flow SET step = 'b' WHERE step = 'a'")
        self.assertEqual(self.rings(), 0)

    def test_a_transaction_that_stays_open_rings_at_its_commit(self):
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        with self.two.transaction():
            self.two.execute("SELECT 1")
            self.two.execute("INSERT INTO wed_flow DEFAULT VALUES")
            # A worker sees the first only, and would sleep.
            self.end_all()
        self.assertEqual(self.rings(), 1)

    def test_and_not_if_what_was_there_still_waits(self):
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        with self.two.transaction():
            self.two.execute("SELECT 1")
            self.two.execute("INSERT INTO wed_flow (step) VALUES ('a'), ('a'), ('a')")
        self.assertEqual(self.rings(), 0)

    def test_nor_for_what_the_transaction_has_taken_itself(self):
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        with self.two.transaction():
            self.two.execute("SELECT 1")
            self.two.execute("INSERT INTO wed_flow DEFAULT VALUES")
            self.two.execute("SELECT wed_claim(%s, 2)", (self.first,))
        self.assertEqual(self.rings(), 0)

    def test_requests_ring_at_the_commit_too(self):
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.one.execute("INSERT INTO wed_flow DEFAULT VALUES")
        self.assertEqual(self.rings(), 1)
        self.one.execute("SELECT wed_cancel(1)")
        self.assertEqual(self.rings(), 1)
        with self.two.transaction():
            self.two.execute("SELECT 1")
            self.two.execute("SELECT wed_cancel(2)")
            # As a process of Ebb does that decides the first.
            self.one.execute("DELETE FROM ebb.tasks WHERE handler = '' AND instance_id ="
                             " (SELECT instance_id FROM wed_flow WHERE wid = 1)")
        self.assertEqual(self.rings(), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
