"""Outcomes that the database does not take, by a worker in SQL in Python: each ends its attempt as what it
is, the thread goes on, and SIGTERM ends the worker.

usage: refused_test.py DRIVER EBB CLIENTS, with a PostgreSQL at $EBB_TEST_POSTGRES_URL
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from programs import CLIENTS, EBB, URL, ebb, psql

DRIVER = sys.argv[1]
WORKFLOW = "workflow: {0}\nsteps: [{{step: only, max_attempts: 2, backoff: {{initial: 1ms}}}}]\n"
WORKER = r"""
import os, sys
if sys.argv[1] == "psycopg2":
    sys.modules["psycopg"] = None
from ebb_client.sql import Failure, Result, Worker

worker = Worker(os.environ["EBB_TEST_POSTGRES_URL"], name="refused", slots=1)

def uses(context):
    context.connection.cursor().execute("SELECT 1")

def fail(error):
    raise error

def leave_aborted(context):
    try:
        context.connection.cursor().execute("SELECT 1/0")
    except Exception:
        pass

CASES = {
    "message_with_nul": lambda context: fail(ValueError("a\x00b")),
    "message_with_surrogate": lambda context: fail(ValueError("a\ud800b")),
    "message_that_is_long": lambda context: fail(ValueError("é" * 3_000_000)),
    "exit": lambda context: sys.exit("leaves"),
    "output_with_nul": lambda context: {"a": "x\x00y"},
    "output_with_surrogate": lambda context: "\ud800",
    "output_that_is_large": lambda context: "x" * 2_000_000,
    "output_that_is_large_after_a_query": lambda context: uses(context) or "x" * 2_000_000,
    "output_that_is_no_json": lambda context: float("nan"),
    "output_that_is_an_object": lambda context: object(),
    "handle_with_nul": lambda context: Result(1, handle="\x00"),
    "details_with_nul": lambda context: fail(Failure("the shop is closed", code="c", details={"a": "\x00"})),
    "code_that_is_long": lambda context: fail(Failure("the shop is closed", code="c" * 1000)),
    "code_that_is_empty": lambda context: fail(Failure("the shop is closed", code="")),
    "aborted_transaction": leave_aborted,
    "fine": uses,
}

@worker.handler("only")
def only(case, context):
    return CASES[case](context)

worker.run()
"""
# Code, whether another attempt is made, and what the message has.
EXPECTED = {
    "message_with_nul": ("error", True, "ValueError: a\ufffdb"),
    "message_with_surrogate": ("error", True, "ValueError: a\ufffdb"),
    "message_that_is_long": ("error", True, "ValueError: é"),
    "exit": ("error", True, "SystemExit: leaves"),
    "output_with_nul": ("invalid_output", False, "\\u0000"),
    "output_with_surrogate": ("invalid_output", False, "surrogate"),
    "output_that_is_large": ("invalid_output", False, "1,048,576"),
    "output_that_is_large_after_a_query": ("invalid_output", False, "1,048,576"),
    "output_that_is_no_json": ("invalid_output", False, "not JSON"),
    "output_that_is_an_object": ("invalid_output", False, "not JSON serializable"),
    "handle_with_nul": ("invalid_output", False, "\\u0000"),
    "details_with_nul": ("error", True, "the shop is closed"),
    "code_that_is_long": ("error", True, "the shop is closed"),
    "code_that_is_empty": ("error", True, "the shop is closed"),
    "aborted_transaction": ("error", True, "current transaction is aborted"),
}


class Refused(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ebb("migrate", "--sql-workers")
        psql("SELECT ebb.grant_work(current_user::text, '*')")
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        (cls.folder / "worker.py").write_text(WORKER, encoding="utf-8")
        cls.keeper = subprocess.Popen([EBB, "--db", URL, "worker"], stderr=subprocess.DEVNULL)
        cls.addClassCleanup(cls.end, cls.keeper)
        cls.log = open(cls.folder / "log", "wb")
        cls.addClassCleanup(cls.log.close)
        cls.worker = subprocess.Popen([sys.executable, "-B", str(cls.folder / "worker.py"), DRIVER],
                                      env={**os.environ, "PYTHONPATH": str(pathlib.Path(CLIENTS) / "python")},
                                      stdout=cls.log, stderr=cls.log)
        cls.addClassCleanup(cls.end, cls.worker)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait(timeout=60)

    def start(self, case):
        flow = self.folder / f"{DRIVER}_{case}.yaml"
        flow.write_text(WORKFLOW.format(flow.stem))
        return ebb("start", str(flow), "--input", f'"{case}"', "-q")

    def wait(self, instance):
        # Not successful, mostly.
        subprocess.run([EBB, "--db", URL, "wait", instance, "--timeout", "30s"], check=False,
                       capture_output=True, timeout=120)
        return psql(f"SELECT status FROM ebb.instances WHERE id = '{instance}'")

    def test_each_outcome_is_what_it_is(self):
        for case, (code, is_retried, text) in EXPECTED.items():
            with self.subTest(case):
                instance = self.start(case)
                self.assertEqual(self.wait(instance), "failed")
                failures = psql(
                    "SELECT concat_ws('|', payload::json ->> 'code', payload::json ->> 'message')"
                    f" FROM ebb.history WHERE instance_id = '{instance}'"
                    " AND type IN ('step_retried', 'step_failed')")
                self.assertEqual(failures.count(f"{code}|"), 2 if is_retried else 1, failures)
                self.assertIn(text, failures)
        self.assertEqual(self.wait(self.start("fine")), "completed")
        # The log of the worker names what was refused.
        log = (self.folder / "log").read_text(encoding="utf-8")
        self.assertIn("current transaction is aborted", log)
        self.assertNotIn("Exception in thread", log)
        self.worker.send_signal(signal.SIGTERM)
        self.assertEqual(self.worker.wait(timeout=60), 0)


unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
