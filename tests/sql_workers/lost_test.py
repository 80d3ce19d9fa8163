"""What a worker in SQL loses: the time of a silent one is up when its transition says, and a restart of the
server costs no attempt.

usage: lost_test.py EBB CLIENTS, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from programs import CLIENTS, EBB, URL, ebb, psql

sys.path.insert(0, str(pathlib.Path(CLIENTS) / "python"))
from ebb_client.sql import Worker  # noqa: E402

NAMED = URL + ("&" if "?" in URL else "?") + "application_name=lost_test_worker"
FLOW = """
SELECT ebb.create_flow('silent'); SET search_path = silent, pg_catalog;
BEGIN; INSERT INTO wed_attr (aname, adv) VALUES ('a', 'go');
INSERT INTO wed_trig (trname, cpred, timeout) VALUES ('one', $$a = 'go'$$, '1 s'); COMMIT;
INSERT INTO wed_flow DEFAULT VALUES;
"""


def wait_for(is_so):
    until = time.monotonic() + 90
    while not is_so():
        if time.monotonic() > until:
            raise AssertionError("It does not happen.")
        threading.Event().wait(0.05)


class Lost(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ebb("migrate", "--sql-workers")
        ebb("migrate", "--rules-sql")
        cls.keeper = subprocess.Popen([EBB, "--db", URL, "worker"], stderr=subprocess.DEVNULL)
        wait_for(lambda: psql("SELECT count(*) FROM ebb.workers WHERE session IS NULL") == "1")

    @classmethod
    def tearDownClass(cls):
        cls.keeper.terminate()
        cls.keeper.wait(timeout=60)

    def test_a_claim_ends_with_the_timeout_of_its_transition(self):
        psql(FLOW)
        for attempt in ("2", "3", "4"):
            wait_for(lambda: psql("SELECT count(*) FROM silent.wed_claim('one', 1, 'mute')") == "1")
            wait_for(lambda: psql("SELECT attempt FROM silent.job_pool") == attempt)
        # The heartbeat of a process of Ebb finds it, within about a second; maintenance is every 40 seconds.
        took = psql("SELECT (at - started_at) / 1000000.0 FROM ebb.history WHERE type = 'step_retried'")
        self.assertEqual(len(took.split()), 3)
        for seconds in took.split():
            self.assertGreaterEqual(float(seconds), 1.0)
            self.assertLess(float(seconds), 10.0)

    def test_a_restart_of_the_server_costs_no_attempt(self):
        psql("SELECT ebb.grant_work(current_user::text, 'lost')")
        calls = []
        worker = Worker(NAMED, name="lost", slots=1)
        worker.handler("only")(lambda value, context: calls.append(context.attempt))
        thread = threading.Thread(target=worker.run)
        thread.start()
        try:
            with tempfile.TemporaryDirectory() as folder:
                flow = pathlib.Path(folder) / "lost.yaml"
                flow.write_text("workflow: lost\nsteps: [{step: only, max_attempts: 5}]\n")
                ebb("wait", ebb("start", str(flow), "-q"))
                # As a restart does: all connections of the worker end.
                psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                     " WHERE application_name = 'lost_test_worker'")
                ebb("wait", ebb("start", str(flow), "-q"))
        finally:
            worker.stop()
            thread.join(60)
        self.assertEqual(calls, [1, 1])


unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
