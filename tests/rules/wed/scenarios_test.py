"""WED-SQL's scenarios, played on a server (see server.py) and compared with what is written beside them.

s*.sql are psql scripts in v2's dialect; errors are compared by their SQLSTATE. surface_*.sql are for Ebb
only. orders/*.sql define flows whose transitions are played with the lowest trigger first (L), the highest
first (H), and in every order there is (N): how many orders, states and endings there are. S4 is two sessions
at once. A difference that is meant is in EXPECTED_DIFFERENCES, with its reason, and has an expectation of
its own: NAME.surface.expected.

usage: scenarios_test.py SERVER EBB [--approve], with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import collections
import re
import sys
import threading
import unittest

import psycopg

from server import HERE, connect, psql, server_of

SERVER, EBB = sys.argv[1:3]
APPROVES = "--approve" in sys.argv
SERVING = server_of(SERVER, EBB)
SCRIPTS = sorted(HERE.glob("s[0-9]_*.sql"))
if SERVER == "surface":
    SCRIPTS += sorted(HERE.glob("surface_*.sql"))
ORDERS = sorted((HERE / "orders").glob("*.sql"))
STATES_MAX = 1000
# Of the surface, by name of the script or flow: why it answers otherwise than v2.
EXPECTED_DIFFERENCES = {
    "s5_evolution": "An attribute that exists is refused as the definition that it is (EB007), and a flow "
                    "may have several final conditions.",
    "s8_levels": "Of several rows under one claim the first consumes it: EB003. In v2 the trigger that "
                 "has fired itself again lends it to the second, which is another instance: EB004.",
}


def create(flow):
    SERVING.create(flow)
    made = psql((HERE / "helpers.sql").read_text(), flow, "-v", "ON_ERROR_STOP=1")
    if made.returncode != 0:
        raise AssertionError(made.stdout)


class Flow:
    """A flow of orders/, and what each of its transitions writes."""

    def __init__(self, path):
        self.name = path.stem
        text = path.read_text()
        self.work = dict(re.findall(r"^-- work (\w+): (.*)$", text, re.M))
        create(self.name)
        made = psql(text, self.name, "-v", "ON_ERROR_STOP=1", "-1")
        if made.returncode != 0:
            raise AssertionError(made.stdout)
        self.database = connect(self.name)
        names = self.rows("SELECT aname FROM wed_attr ORDER BY aid")
        self.columns = ", ".join(name for name, in names)

    def rows(self, text, *values):
        return self.database.execute(text, values).fetchall()

    def start(self):
        return self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")[0][0]

    def jobs(self, wid):
        return self.rows("SELECT tgid, trname FROM job_pool WHERE wid = %s ORDER BY tgid", wid)

    def run(self, wid, tgid, trname):
        """None, or the SQLSTATE by which the end of the transition was refused."""
        try:
            with self.database.transaction():
                claimed = self.rows("SELECT pg_try_advisory_xact_lock(%s::int, %s::int)", wid, tgid)
                assert claimed == [(True,)], f"{trname} of {wid} was not to be had"
                self.database.execute(f"UPDATE wed_flow SET {self.work[trname]} WHERE wid = {wid}")
        except psycopg.Error as error:
            return error.sqlstate
        return None

    def run_named(self, wid, trname):
        tgid, = (tgid for tgid, name in self.jobs(wid) if name == trname)
        return self.run(wid, tgid, trname)

    def state(self, wid):
        values = self.rows(f"SELECT {self.columns} FROM wed_flow WHERE wid = %s", wid)[0]
        status = self.rows("SELECT st_status_of(%s)", wid)[0][0]
        # The place of an exception's job (v2: that of the last transition) makes no other state of it.
        return status, values, tuple(sorted(trname for _, trname in self.jobs(wid)))

    def play(self, choose):
        """The trace of an instance whose next job is what `choose` takes; refused ones come last."""
        wid, refused = self.start(), []
        while jobs := [job for job in self.jobs(wid) if job not in refused]:
            job = choose(jobs)
            if self.run(wid, *job) is None:
                refused = []
            else:
                refused.append(job)
        rows = self.rows("SELECT trw, fired, status FROM trace_of(%s)", wid)
        return " ".join(f"{writer}->{fired}{status}" for writer, fired, status in rows)

    def explore(self):
        """Every state that can be reached, by replaying the way to it: how many orders, states, endings."""
        start = self.state(self.start())
        ways_to = {start: []}
        following = {}
        open_states = collections.deque([start])
        while open_states:
            state = open_states.popleft()
            following[state] = []
            for trname in state[2]:
                wid = self.start()
                for earlier in ways_to[state]:
                    assert self.run_named(wid, earlier) is None
                if self.run_named(wid, trname) is not None:
                    continue
                reached = self.state(wid)
                following[state].append(reached)
                if reached not in ways_to:
                    ways_to[reached] = ways_to[state] + [trname]
                    open_states.append(reached)
            assert len(ways_to) < STATES_MAX
        endings = collections.Counter()

        def count(state, before=()):
            assert state not in before, "an endless flow has no number of orders"
            if state not in counted:
                after = [count(s, (*before, state)) for s in following[state]]
                counted[state] = sum(after) if after else 1
            return counted[state]

        counted = {}
        ways = count(start)
        for state, after in following.items():
            if not after:
                endings[f"{state[0]}{'' if not state[2] else ' with jobs'}"] += 1
        return f"{ways} orders, {len(following)} states, endings: " + ", ".join(
            f"{number} {ending}" for ending, number in sorted(endings.items()))


class Scenarios(unittest.TestCase):
    maxDiff = None

    def compare(self, path, got):
        expected = path.with_suffix(".expected")
        if SERVER == "surface" and path.stem in EXPECTED_DIFFERENCES:
            expected = path.with_suffix(".surface.expected")
        if APPROVES:
            expected.write_text(got)
        self.assertEqual(expected.read_text(), got, path.name)

    def test_scripts(self):
        for path in SCRIPTS:
            with self.subTest(path.name):
                create(path.stem)
                done = psql("\\set VERBOSITY sqlstate\n" + path.read_text(), path.stem)
                self.compare(path, done.stdout)

    def test_orders(self):
        for path in ORDERS:
            with self.subTest(path.name):
                flow = Flow(path)
                got = f"L {flow.play(lambda jobs: jobs[0])}\nH {flow.play(lambda jobs: jobs[-1])}\n"
                got += f"N {flow.explore()}\n"
                flow.database.close()
                self.compare(path, got)


TWO_LAST = """
INSERT INTO wed_attr (aname) VALUES ('a'), ('b');
INSERT INTO wed_trig (trname, cpred) VALUES ('ta', 'a is null'), ('tb', 'b is null');
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$a = '1' and b = '1'$$, true);
"""


class TwoSessions(unittest.TestCase):
    """S4: the last two transitions of an instance end at once."""

    @classmethod
    def setUpClass(cls):
        create("s4")
        made = psql(TWO_LAST, "s4", "-v", "ON_ERROR_STOP=1")
        if made.returncode != 0:
            raise AssertionError(made.stdout)

    def setUp(self):
        self.watch = connect("s4")
        self.addCleanup(self.watch.close)
        self.wid = self.watch.execute("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid").fetchone()[0]

    def end_both(self, level):
        """The first holds its row until the second one waits for it. Returns the second one's SQLSTATE."""
        outcome = []
        with connect("s4") as first, connect("s4") as second:
            for session, tgid in ((first, 1), (second, 2)):
                session.execute(f"BEGIN ISOLATION LEVEL {level}")
                claimed = session.execute(f"SELECT pg_try_advisory_xact_lock({self.wid}, {tgid})").fetchone()
                self.assertEqual(claimed, (True,))
            first.execute(f"UPDATE wed_flow SET a = '1' WHERE wid = {self.wid}")

            def end_second():
                try:
                    second.execute(f"UPDATE wed_flow SET b = '1' WHERE wid = {self.wid}")
                    second.execute("COMMIT")
                    outcome.append(None)
                except psycopg.Error as error:
                    second.execute("ROLLBACK")
                    outcome.append(error.sqlstate)

            thread = threading.Thread(target=end_second)
            pid = second.info.backend_pid
            thread.start()
            waits = "SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'"
            while not self.watch.execute(waits, [pid]).fetchall():
                self.assertTrue(thread.is_alive(), "It did not wait.")
            first.execute("COMMIT")
            thread.join(60)
        return outcome[0]

    def trace(self):
        rows = self.watch.execute("SELECT trw, fired, status, state FROM trace_of(%s)", [self.wid]).fetchall()
        return [(writer, status, state["a"], state["b"]) for writer, _, status, state in rows]

    def test_the_second_continues_on_the_row_of_the_first(self):
        self.assertIsNone(self.end_both("READ COMMITTED"))
        self.assertEqual(self.trace(),
                         [("_INIT", "R", None, None), ("ta", "R", "1", None), ("tb", "F", "1", "1")])

    def test_a_snapshot_must_be_begun_again(self):
        for level in ("REPEATABLE READ", "SERIALIZABLE"):
            with self.subTest(level):
                self.setUp()
                self.assertEqual(self.end_both(level), "40001")
                self.assertEqual(self.trace(), [("_INIT", "R", None, None), ("ta", "R", "1", None)])
                jobs = self.watch.execute("SELECT trname FROM job_pool WHERE wid = %s", [self.wid])
                self.assertEqual(jobs.fetchall(), [("tb",)])

    def test_a_claim_is_exclusive(self):
        with connect("s4") as first, first.transaction():
            first.execute(f"SELECT pg_try_advisory_xact_lock({self.wid}, 1)")
            claimed = self.watch.execute(f"SELECT pg_try_advisory_xact_lock({self.wid}, 1)").fetchone()
            self.assertEqual(claimed, (False,))
        claimed = self.watch.execute(f"SELECT pg_try_advisory_xact_lock({self.wid}, 1)").fetchone()
        self.assertEqual(claimed, (True,))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
