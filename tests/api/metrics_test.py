#!/usr/bin/env python3
"""GET /metrics of a real server, with promtool as the judge: metrics_test.py ROOT EBB STORE

promtool is Debian's; `./dev` fetches it to build/tools. No case waits for a time.
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from contract import Contract
from world import Client, Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
ALERTS = ROOT / "contrib" / "prometheus" / "alerts.yml"
DASHBOARD = ROOT / "contrib" / "grafana" / "ebb.json"
PAGE = ROOT / "docs" / "reference" / "metrics.md"
PROMTOOL = shutil.which("promtool") or shutil.which("promtool", path=str(ROOT / "build" / "tools"))
NEEDS_PROMTOOL = unittest.skipUnless(PROMTOOL, "there is no promtool; ./dev test api fetches it")

WORKFLOW = """
workflow: order
steps:
  - step: charge
    compensate: {handler: refund}
  - step: ship
    max_attempts: 2
    backoff: {initial: 1ms}
handlers:
  charge: {exec: [cat]}
  refund: {exec: [cat]}
  ship: {exec: ["sh", "-c", "test \\"$(cat)\\" != '\\"broken\\"'"], output: none}
"""

PARKED = """
workflow: parked
on_error: dead_letter
steps:
  - step: store
    max_attempts: 1
handlers:
  store: {exec: ["false"]}
"""

ASKED = """
workflow: asked
steps:
  - decision: approve
  - step: nobody_has_this
"""

# What appears only when something has happened that this test does not let happen.
NEVER_HERE = {
    "ebb_store_errors_total", "ebb_metric_values_dropped_total", "ebb_queue_rate_used",
    # Only with TLS: config_test.py.
    "ebb_tls_certificate_expiry_timestamp_seconds",
}


def promtool(*arguments, text=None):
    return subprocess.run(
        [PROMTOOL, *arguments], input=text, capture_output=True, text=True, check=False, timeout=120
    )


def samples(text):
    """The samples of an exposition as {(name, labels): value}."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:{(.*)})? (\S+)", line).groups()
        pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")
        found[name, tuple(sorted(pairs))] = float(value)
    return found


def families(text):
    return {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}


def named_in(expression):
    return set(re.findall(r"\b((?:ebb|http_server|process)_[a-z_]+)", expression))


def family_of(name, known):
    for suffix in ("", "_bucket", "_count", "_sum"):
        if name.endswith(suffix) and name.removesuffix(suffix) in known:
            return name.removesuffix(suffix)
    return None


class Rules(unittest.TestCase):
    @NEEDS_PROMTOOL
    def test_promtool_accepts_the_alerts_and_they_fire_when_they_should(self):
        done = promtool("check", "rules", str(ALERTS))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        with tempfile.TemporaryDirectory() as folder:
            for file in (ALERTS, ROOT / "tests" / "api" / "alerts_test.yml"):
                shutil.copy(file, folder)
            done = promtool("test", "rules", f"{folder}/alerts_test.yml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_alert_is_tested(self):
        alerts = set(re.findall(r"alert: (\w+)", ALERTS.read_text()))
        tested = set(re.findall(r"alertname: (\w+)", (ROOT / "tests/api/alerts_test.yml").read_text()))
        self.assertEqual(alerts, tested)


class Scrape(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        path = cls.folder.__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        files = []
        for text in (WORKFLOW, PARKED, ASKED):
            name = re.search(r"workflow: (\w+)", text).group(1) + ".yaml"
            (pathlib.Path(path) / name).write_text(text)
            files.append(name)
        (pathlib.Path(path) / "workflows").mkdir()
        cls.server = Server(EBB, STORE, path, files=files, arguments=["--definitions", "workflows"])
        cls.addClassCleanup(cls.server.stop)
        cls.contract = Contract(ROOT)
        cls.admin = log_in(cls.server, cls.contract)
        cls.addClassCleanup(cls.admin.close)
        cls.run_workflows()
        cls.text = cls.admin.raw("GET", "/metrics").body
        cls.samples = samples(cls.text)

    @classmethod
    def run_workflows(cls):
        def start(workflow, value, status):
            answer = cls.admin.post("/instances", {"workflow": workflow, "input": value}, wait="60s")
            assert answer.status == 201, answer.body
            done = cls.admin.get(f"/instances/{answer.json()['id']}")
            assert done.json()["status"] == status, done.body

        start("order", "fine", "completed")
        start("order", "broken", "failed")
        cls.admin("PUT", "/queues/narrow", {"concurrency": 3})
        # Neither ends: one waits for an operator, one for a person and then for a worker.
        ids = [
            cls.admin.post("/instances", {"workflow": workflow}).json()["id"]
            for workflow in ("parked", "asked", "asked")
        ]
        cls.await_status(ids[0], "dead_letter")
        with socket.create_connection(("127.0.0.1", cls.server.port), timeout=60) as refused:
            refused.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert refused.recv(100).startswith(b"HTTP/1.1 400"), "a request without Host"
        stranger = Client(cls.server, cls.contract, token="ebb_wrong")
        assert stranger.get("/me").status == 401
        stranger.close()
        cls.admin.post(f"/instances/{ids[2]}/decide", {"verdict": "confirm"})

    @classmethod
    def await_status(cls, instance, status):
        """Reads its stream until it has this status."""
        with_wait = {"wait": "1s"}
        for _ in range(120):
            if cls.admin.get(f"/instances/{instance}").json()["status"] == status:
                return
            cls.admin.get(f"/instances/{instance}/result", **with_wait)
        raise AssertionError(f"{instance} is not {status}")

    def value(self, name, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))

    @NEEDS_PROMTOOL
    def test_promtool_finds_nothing_to_say(self):
        done = promtool("check", "metrics", text=self.text)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_counts_what_has_happened(self):
        for name, labels, expected in (
            ("ebb_instances_started_total", {"workflow": "order"}, 2),
            ("ebb_instances_finished_total", {"workflow": "order", "status": "completed"}, 1),
            ("ebb_instances_finished_total", {"workflow": "order", "status": "failed"}, 1),
            ("ebb_instance_duration_seconds_count", {"workflow": "order", "status": "failed"}, 1),
            ("ebb_step_attempts_total", {"workflow": "order", "step": "charge", "outcome": "completed"}, 2),
            ("ebb_step_attempts_total", {"workflow": "order", "step": "ship", "outcome": "completed"}, 1),
            ("ebb_step_attempts_total", {"workflow": "order", "step": "ship", "outcome": "failed"}, 2),
            ("ebb_step_duration_seconds_count", {"workflow": "order", "step": "ship"}, 3),
            ("ebb_compensations_total", {"workflow": "order", "outcome": "completed"}, 1),
            ("ebb_rollbacks_total", {"workflow": "order", "kind": "failure"}, 1),
            ("ebb_dead_letters", {"workflow": "parked"}, 1),
            ("ebb_instances", {"workflow": "parked", "status": "dead_letter"}, 1),
            ("ebb_instances", {"workflow": "asked", "status": "running"}, 2),
            ("ebb_decisions_waiting", {"workflow": "asked"}, 1),
            ("ebb_tasks_unserved", {"handler": "nobody_has_this", "queue": "default"}, 1),
            ("ebb_queue_slots_limit", {"queue": "narrow"}, 3),
            ("ebb_workers", {"state": "dead"}, 0),
            ("ebb_store_up", {}, 1),
            ("ebb_http_refused_total", {"reason": "bad_request"}, 1),
            ("ebb_auth_failures_total", {"credential": "token"}, 1),
            ("ebb_definitions", {"state": "invalid"}, 0),
            ("ebb_config_last_reload_successful", {}, 1),
        ):
            with self.subTest(name, **labels):
                self.assertEqual(self.value(name, **labels), expected)
        dead = [key for key in self.samples if key[0] == "ebb_dead_lettered_total"]
        self.assertEqual([dict(labels)["workflow"] for _, labels in dead], ["parked"])
        started = self.value("ebb_schedule_to_start_seconds_count", queue="default")
        self.assertEqual(started, 3 + 2 + 1 + 1, "each call of a handler")
        self.assertGreaterEqual(self.value("ebb_store_call_duration_seconds_count", verb="commit"), 1)
        self.assertGreaterEqual(self.value("ebb_workers", state="alive"), 1)
        self.assertGreaterEqual(self.value("http_server_active_requests"), 1, "this one")
        self.assertGreater(self.value("process_resident_memory_bytes"), 1e6)
        self.assertGreater(self.value("process_start_time_seconds"), 1.7e9)

    def test_measures_requests_by_route_and_never_by_path(self):
        key = {"http_request_method": "POST", "http_response_status_code": "201", "http_route": "/instances"}
        self.assertEqual(self.value("http_server_request_duration_seconds_count", **key), 5)
        text = self.admin.raw("GET", "/metrics").body
        routes = set(re.findall(r'http_route="([^"]*)"', text))
        self.assertIn("/instances/{id}", routes)
        self.assertFalse([route for route in routes if re.search(r"[0-9a-f]{8}-", route)])
        unknown = self.admin.connection
        unknown.request("BREW", "/nowhere/at/all")
        self.assertEqual(unknown.getresponse().read()[:1], b"{")
        text = self.admin.raw("GET", "/metrics").body
        self.assertNotIn("BREW", text)
        self.assertNotIn("/nowhere", text)

    def test_needs_a_login_that_may_see_figures(self):
        client = Client(self.server, self.contract)
        self.assertEqual(client.raw("GET", "/metrics").status, 401)
        for role, status in (("viewer", 200), ("starter", 403)):
            client.token = self.admin("PUT", f"/tokens/{role}", {"role": role}).json()["token"]
            answer = client.raw("GET", "/metrics")
            self.assertEqual(answer.status, status, answer.body)
        self.assertEqual(self.admin.raw("GET", "/metrics?all=1").status, 400)
        self.assertEqual(self.admin.raw("DELETE", "/metrics").status, 405)
        answer = self.admin.raw("HEAD", "/metrics")
        self.assertEqual((answer.status, answer.body), (200, ""))
        self.assertEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        client.close()

    def test_can_be_public_where_the_operator_says_so(self):
        with Folder() as path, Server(EBB, "memory", path, arguments=["--public-metrics"]) as server:
            client = Client(server, self.contract)
            self.assertEqual(client.raw("GET", "/metrics").status, 200)
            self.assertEqual(client.get("/me").status, 401)
            client.close()

    def test_alerts_and_dashboard_name_what_exists(self):
        known = families(self.text) | NEVER_HERE
        dashboard = json.loads(DASHBOARD.read_text())
        targets = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        names = named_in(" ".join(targets)) | named_in(ALERTS.read_text())
        self.assertGreater(len(targets), 20)
        self.assertEqual([name for name in sorted(names) if not family_of(name, known)], [])

    def test_the_page_lists_what_there_is(self):
        first_cells = re.findall(r"^\| (`[^|]*) \|", PAGE.read_text(), re.MULTILINE)
        page = set(re.findall(r"`(\w+)`", " ".join(first_cells)))
        here = families(self.text)
        self.assertEqual(here - page, set(), "not in docs/reference/metrics.md")
        self.assertEqual(page - here - NEVER_HERE, set(), "not in the output")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
