"""BaseWorker.BaseClass and WEDWorkerTemplate do what their users know, with psycopg 3 and psycopg2: jobs
that were there before, notifications, SET texts and dicts, refusals, stale notifications, SIGTERM. And a
worker that is killed at every statement does nothing twice and loses nothing.

usage: worker_test.py DRIVER SERVER EBB, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
SERVER: reference or surface
"""

import json
import os
import signal
import subprocess
import sys
import threading
import unittest

from server import CLIENTS, HERE, URL, connect, psql, server_of

DRIVER, SERVER, EBB = sys.argv[1:4]
if DRIVER == "psycopg2":
    sys.modules["psycopg"] = None
sys.path.insert(0, str(CLIENTS))
import BaseWorker  # noqa: E402
import WEDWorker  # noqa: E402
from ebb_client import wed  # noqa: E402

SERVING = server_of(SERVER, EBB)
FLOWS = iter(f"flow{n}" for n in range(1000))
PLACES_MAX = 60

# Of the draft: the definition of Figure 2, with an attribute more that Figure 3 writes.
FIGURE_2 = """
INSERT INTO wed_attr (aname, adv) VALUES ('a1','ready'), ('a4', '1');
INSERT INTO wed_attr (aname) VALUES ('a2'),('a3');
INSERT INTO wed_trig (tgname,trname,cname,cpred,timeout)
VALUES ('t1','tr_aaa','c1', $$a1='ready' and (a2 is null)$$, '3d18h');
INSERT INTO wed_trig (tgname,trname,cname,cpred,timeout)
VALUES ('t2','tr_final','c2', $$a1='ready' and (a2 is not null) and (a3 is not null)$$, '00:00:10');
INSERT INTO wed_trig (cpred,cfinal) VALUES ($$a1 <> 'ready'$$, True);
"""


def flow_of(definition):
    flow = next(FLOWS)
    SERVING.create(flow)
    made = psql(definition, flow, "-v", "ON_ERROR_STOP=1", "-1")
    if made.returncode != 0:
        raise AssertionError(made.stdout)
    return flow


def dbs(flow):
    return f"{URL}?options=-csearch_path%3D{flow}%2Cpg_catalog&application_name=ww-{flow}"


def worker_of(flow, trname, work, base=BaseWorker.BaseClass, interval=30):
    """A worker that stops by itself after as many jobs as `work` yields changes for."""
    changes = iter(work)
    worker = None

    class Worker(base):
        seen = []

        def wed_trans(self, *seen):
            self.seen.append(seen)
            change = next(changes)
            if not isinstance(change, tuple):
                return change
            worker.stop()
            return change[0]

    worker = Worker(trname, dbs(flow), interval)
    worker.seen = []
    return worker


class Workers(unittest.TestCase):
    def setUp(self):
        self.flow = flow_of(FIGURE_2)
        self.database = connect(self.flow)
        self.addCleanup(self.database.close)

    def rows(self, text):
        return self.database.execute(text).fetchall()

    def start(self, worker):
        """Runs it in a thread that has looked at the pool and waits."""
        thread = threading.Thread(target=worker.run)
        thread.start()
        while not self.rows("SELECT FROM pg_stat_activity WHERE state = 'idle' AND pid <> pg_backend_pid() "
                            f"AND application_name = 'ww-{self.flow}' "
                            "AND (query LIKE 'SELECT wid, tgid%' OR query LIKE 'SELECT extract%')"):
            self.assertTrue(thread.is_alive())
        return thread

    def test_figure_3(self):
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = worker_of(self.flow, "tr_aaa", [("a2='done', a3='ready', a4=(a4::integer+1)::text",)])
        self.assertEqual(worker.wed_cond, "a1='ready' and (a2 is null)")
        worker.run()
        self.assertEqual(worker.seen[0][0], {"a1": "ready", "a2": None, "a3": None, "a4": "1"})
        self.assertEqual(self.rows("SELECT a1, a2, a3, a4 FROM wed_flow"), [("ready", "done", "ready", "2")])
        self.assertEqual(self.rows("SELECT trname FROM job_pool"), [("tr_final",)])
        self.assertEqual(self.rows("SELECT trw, trf, status FROM wed_trace ORDER BY seq"),
                         [("_INIT", ["tr_aaa"], "R"), ("tr_aaa", ["tr_final"], "R")])

    def test_a_notification_wakes_it(self):
        worker = worker_of(self.flow, "tr_aaa", [("a2='done', a3='x'",)], interval=600)
        thread = self.start(worker)
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow"), [("done",)])

    def test_a_dict_and_the_later_class(self):
        wid = self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")[0][0]
        text = "it's 100% \\ \" done;-- é"
        worker = worker_of(self.flow, "tr_aaa", [({"a2": text, "a3": 5},)], WEDWorker.WEDWorkerTemplate)
        worker.run()
        self.assertEqual(worker.seen[0][1], wid)
        self.assertEqual(self.rows("SELECT a2, a3 FROM wed_flow"), [(text, "5")])

    def test_a_comment_in_a_set_text_does_not_reach_other_rows(self):
        for _ in range(2):
            self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker_of(self.flow, "tr_aaa", [("a2='100%', a3='x' -- done",)]).run()
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow ORDER BY wid"), [("100%",), (None,)])

    def test_nothing_returned_gives_the_job_back(self):
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = worker_of(self.flow, "tr_aaa", [(None,)])
        worker.run()
        self.assertEqual(self.rows("SELECT trname FROM job_pool"), [("tr_aaa",)])
        self.assertEqual(len(self.rows("SELECT FROM wed_trace")), 1)

    def test_an_error_leaves_nothing_behind_and_the_worker_goes_on(self):
        for _ in range(2):
            self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = worker_of(self.flow, "tr_aaa", ["no_such_column='x'", ("a2='y', a3='x'",)])
        with self.assertLogs("ebb_client.wed", "WARNING") as log:
            worker.run()
        self.assertIn("no_such_column", log.output[0])
        self.assertEqual(sorted(self.rows("SELECT a2 FROM wed_flow"), key=str), [("y",), (None,)])

    def test_a_stale_notification_does_no_work(self):
        wid, tgid = self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid, 1")[0]
        worker_of(self.flow, "tr_aaa", [("a2='done', a3='x'",)]).run()
        worker = worker_of(self.flow, "tr_aaa", [("a2='done', a3='x'",)], interval=600)
        thread = self.start(worker)
        # Of a job that is done, and of none. Then a job that is there ends the worker.
        for content in ({"wid": wid, "tgid": tgid}, {"wid": 77777, "tgid": 1}):
            self.database.execute("SELECT pg_notify('tr_aaa', %s)", [json.dumps(content)])
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(len(worker.seen), 1)
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow"), [("done",), ("done",)])

    def test_a_notification_of_another_form_lets_it_look(self):
        worker = worker_of(self.flow, "tr_aaa", [("a2='done', a3='x'",)], interval=600)
        thread = self.start(worker)
        with self.database.transaction():
            for text in ("[]", "{", "", '{"wid": {}}'):
                self.database.execute("SELECT pg_notify('tr_aaa', %s)", [text])
            self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow"), [("done",)])

    def test_a_job_that_another_one_holds_is_left_to_it(self):
        wid = self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")[0][0]
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        with connect(self.flow) as other, other.transaction():
            other.execute("SELECT pg_try_advisory_xact_lock(%s::int, 1)", [wid])
            worker = worker_of(self.flow, "tr_aaa", [("a2='y', a3='x'",)])
            worker.run()
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow ORDER BY wid"), [(None,), ("y",)])

    @unittest.skipIf(SERVER == "reference", "v2 has no leases")
    def test_a_leased_job_is_left_to_its_holder(self):
        wid = self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")[0][0]
        job = self.rows("SELECT job FROM wed_claim('tr_aaa')")[0][0]
        worker = worker_of(self.flow, "tr_aaa", [("a2='y', a3='x'",)], interval=600)
        thread = self.start(worker)
        self.database.execute("SELECT pg_notify('tr_aaa', %s)", [json.dumps({"wid": wid, "tgid": 1})])
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        thread.join(60)
        self.assertEqual(len(worker.seen), 1)
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow ORDER BY wid"), [(None,), ("y",)])
        self.rows(f"SELECT wed_complete('{job}', '{{\"a2\": \"z\", \"a3\": \"z\"}}')")
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow ORDER BY wid"), [("z",), ("y",)])

    @unittest.skipIf(SERVER == "reference", "v2 does not count failures")
    def test_a_failure_is_reported(self):
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = worker_of(self.flow, "tr_aaa", ["no_such_column='x'"])
        with self.assertLogs("ebb_client.wed", "WARNING"):
            worker._open()
            worker._look()
            worker._close()
        # A process of Ebb would decide what follows: until then it is not offered again.
        self.assertEqual(self.rows("SELECT status FROM job_pool"), [("held",)])

    def test_a_failure_that_no_text_of_the_database_can_have(self):
        class Fails(BaseWorker.BaseClass):
            def wed_trans(self, payload):
                raise ValueError("a\0b\ud800c")

        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = Fails("tr_aaa", dbs(self.flow), 30)
        with self.assertLogs("ebb_client.wed", "WARNING") as log:
            worker._open()
            worker._look()
            worker._close()
        self.assertIn("ValueError: a\ufffdb\ufffdc", log.output[0])
        if SERVER == "surface":
            self.assertEqual(self.rows("SELECT status FROM job_pool"), [("held",)])

    @unittest.skipIf(SERVER == "reference", "v2 has no writes")
    def test_a_write_that_is_refused_fails_for_good(self):
        self.rows("UPDATE wed_trig SET writes = '{a3}' WHERE trname = 'tr_aaa' RETURNING 1")
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker = worker_of(self.flow, "tr_aaa", ["a2='y'"])
        with self.assertLogs("ebb_client.wed", "WARNING"):
            worker._open()
            worker._look()
            worker._close()
        outcome = self.rows("SELECT t.outcome::json FROM ebb.tasks AS t "
                            "JOIN job_pool USING (instance_id, token)")
        self.assertEqual([(row["type"], row["permanent"]) for row, in outcome], [("step_failed", True)])

    def test_a_transition_that_does_not_exist(self):
        with self.assertRaisesRegex(Exception, "tr_bbb"):
            worker_of(self.flow, "tr_bbb", [])

    def test_more_jobs_than_a_page(self):
        count = wed._PAGE * 2 + 1
        for _ in range(count):
            self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        worker_of(self.flow, "tr_aaa", ["a2='y', a3='x'"] * (count - 1) + [("a2='y', a3='x'",)]).run()
        self.assertEqual(self.rows("SELECT count(*) FROM wed_flow WHERE a2 = 'y'"), [(count,)])

    def test_a_lost_connection_is_made_again(self):
        worker = worker_of(self.flow, "tr_aaa", [("a2='done', a3='x'",)], interval=600)
        thread = self.start(worker)
        self.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                  f"WHERE application_name = 'ww-{self.flow}'")
        self.rows("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid")
        thread.join(60)
        self.assertFalse(thread.is_alive())
        self.assertEqual(self.rows("SELECT a2 FROM wed_flow"), [("done",)])


CHAIN = """
INSERT INTO wed_attr (aname) VALUES ('first_done'), ('last_done');
INSERT INTO wed_trig (trname, cpred) VALUES ('first', 'first_done is null'),
    ('last', $$first_done = 'yes' and last_done is null$$);
INSERT INTO wed_trig (cpred, cfinal) VALUES ($$last_done = 'yes'$$, true);
"""


class Killed(unittest.TestCase):
    def setUp(self):
        self.flow = flow_of(CHAIN)
        self.database = connect(self.flow)
        self.addCleanup(self.database.close)
        self.database.execute("CREATE TABLE IF NOT EXISTS public.effects (name text)")

    def start(self, trname, place=0):
        program = [sys.executable, "-B", str(HERE / "worker.py"), DRIVER, self.flow, trname, str(place)]
        return subprocess.Popen(program, env={**os.environ, "EBB_CLIENTS": str(CLIENTS)})

    def is_pending(self, trname):
        return self.database.execute("SELECT FROM job_pool WHERE trname = %s", [trname]).fetchall() != []

    def play(self, place):
        """One instance; returns whether a worker was killed."""
        self.database.execute("TRUNCATE public.effects")
        wid = self.database.execute("INSERT INTO wed_flow DEFAULT VALUES RETURNING wid").fetchone()[0]
        killed = False
        for trname in ("first", "last"):
            status = self.start(trname, place).wait(60)
            self.assertIn(status, (0, -signal.SIGKILL))
            killed = killed or status != 0
            if self.is_pending(trname):
                self.assertNotEqual(status, 0, "A worker ended and left its job.")
                self.assertEqual(self.start(trname).wait(60), 0)
        self.assertEqual(self.database.execute("SELECT name FROM public.effects ORDER BY name").fetchall(),
                         [("first",), ("last",)], f"killed at {place}")
        trace = self.database.execute("SELECT trw, status FROM wed_trace WHERE wid = %s ORDER BY seq", [wid])
        self.assertEqual(trace.fetchall(), [("_INIT", "R"), ("first", "R"), ("last", "F")],
                         f"killed at {place}")
        return killed

    def test_at_every_statement(self):
        places = 0
        while self.play(places + 2):
            places += 1
            self.assertLess(places, PLACES_MAX)
        self.assertGreater(places, 12, "The worker makes that many statements at least.")

    def test_sigterm_lets_the_job_end(self):
        self.database.execute("INSERT INTO wed_flow DEFAULT VALUES")
        # The claim is there, but the row is locked: the worker waits in its UPDATE.
        with connect(self.flow) as other, other.transaction():
            other.execute("SELECT FROM wed_flow FOR UPDATE")
            worker = self.start("first")
            while not self.database.execute("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                                            "AND query LIKE 'UPDATE wed_flow%'").fetchall():
                self.assertIsNone(worker.poll())
            worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(60), 0)
        self.assertFalse(self.is_pending("first"))


class Notes(unittest.TestCase):
    def test_keys_of_a_notification(self):
        self.assertEqual(wed._keys_of('{"wid": 3, "tgid": "4", "timeout": "1 h", "payload": "{}"}'), (3, 4))
        for text in ("", "{", "[]", "3", "{}", '{"wid": 3}', '{"wid": null, "tgid": 1}'):
            self.assertIsNone(wed._keys_of(text), text)

    def test_statements(self):
        self.assertEqual(wed._update(3, "a = 1"), ("UPDATE wed_flow SET a = 1\nWHERE wid = 3", ()))
        self.assertEqual(wed._update(3, {'a"b': {"x": 1}, "c": None}),
                         ('UPDATE wed_flow SET "a""b" = %s, "c" = %s WHERE wid = 3', ('{"x": 1}', None)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
