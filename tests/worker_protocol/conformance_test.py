#!/usr/bin/env python3
"""What every client for remote workers has to do, against a real `ebb serve`:
conformance_test.py REPOSITORY EBB STORE COMMAND...

COMMAND FOLDER runs the worker of the kit: the handlers `add`, `flaky`, `refuse`, `ask`, `hold`, `tell`,
`odd` and `undo` of worker.py. It gets EBB_URL, EBB_TOKEN, EBB_WORKER_ID, EBB_SLOTS, EBB_LEASE and
EBB_PATIENCE (the last two in seconds). Beside the program worker.* is client.*, which uses the rest of the
client.
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

ROOT, EBB, STORE, COMMAND = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
sys.path.insert(0, str(ROOT / "tests" / "api"))
sys.path.insert(0, str(ROOT / "clients" / "python"))

from ebb_client import Client  # noqa: E402
from world import Folder, Server  # noqa: E402

PATIENCE = 120

WORKFLOWS = {
    "adding": "steps: [add]",
    "flaking": "steps: [{step: flaky, max_attempts: 3, backoff: {initial: 10ms}}]",
    "refusing": "steps: [{step: add, compensate: undo}, {step: refuse, max_attempts: 5}]",
    "asking": "steps: [ask]",
    "holding": "steps: [hold]",
    "timing": "steps: [{step: hold, timeout: 1s, max_attempts: 1}]",
    "telling": "steps: [tell]",
    "deciding": "steps: [{decision: approve, roles: [boss]}]",
    "odd": "steps: [{step: odd, max_attempts: 2, backoff: {initial: 1ms}}]",
    "freezing": "on_error: dead_letter\nsteps: [{step: add, max_attempts: 1}]",
}


def free_port():
    """Below the ports of connections, so that no other test gets it while the server restarts."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Worker:
    """The program of the kit, as a process."""

    def __init__(self, folder, url, token, name, **environment):
        self.log = open(folder / f"{name}.log", "ab")
        self.process = subprocess.Popen(
            [*COMMAND, str(folder)], stdout=self.log, stderr=self.log, cwd=folder,
            env={**os.environ, "EBB_URL": url, "EBB_TOKEN": token, "EBB_WORKER_ID": name, **environment},
        )

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        self.log.close()
        return code


class Forgetful(http.server.ThreadingHTTPServer):
    """A proxy that loses answers: the request arrives, and its sender hears nothing."""

    def __init__(self, port):
        self.port = port
        self.to_lose = {}  # path: how many answers
        self.lost = []
        self.hangs_up = False  # after each answer, without having said so
        self.hung_up = 0
        self.to_hold = 0  # how many answers with a task
        self.held, self.may_go = threading.Event(), threading.Event()
        self.seen = []  # the bodies of polls
        self.events = None  # how many a stream has before it is cut
        self.streams = 0
        super().__init__(("127.0.0.1", 0), Forwarder)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Forwarder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        there = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        there.request("GET", self.path, headers=dict(self.headers))
        answer = there.getresponse()
        self.close_connection = True
        self.server.streams += 1
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type"))
        self.send_header("Connection", "close")
        self.end_headers()
        events = 0
        for line in answer:
            self.wfile.write(line)
            events += line == b"\n"
            if events == self.server.events:
                break
        there.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/poll"):
            self.server.seen.append(json.loads(body))
        there = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        there.request("POST", self.path, body, dict(self.headers))
        answer = there.getresponse()
        text = answer.read()
        there.close()
        name = self.path.rsplit("/", 1)[1]
        # Only an answer that says something is worth losing.
        says = b'"recorded"' in text or b'"idempotency_key"' in text
        if says and self.server.to_lose.get(name, 0) > 0:
            self.server.to_lose[name] -= 1
            self.server.lost.append(name)
            self.close_connection = True
            return
        if b'"idempotency_key"' in text and self.server.to_hold > 0:
            self.server.to_hold -= 1
            self.server.held.set()
            self.server.may_go.wait(PATIENCE)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        with contextlib.suppress(OSError):  # A worker that was killed waits for nothing.
            self.wfile.write(text)
        if self.server.hangs_up:
            self.close_connection = True
            self.server.hung_up += 1

    def log_message(self, *_):
        pass


class Conformance(unittest.TestCase):
    def setUp(self):
        holder = Folder()
        self.folder = pathlib.Path(holder.__enter__())
        self.addCleanup(holder.__exit__)
        self.files = []
        for name, steps in WORKFLOWS.items():
            file = self.folder / f"{name}.yaml"
            file.write_text(f"workflow: {name}\n{steps}\n")
            self.files.append(str(file))
        self.port = free_port()
        self.serve()
        admin = self.login()
        self.token = admin("PUT", "/tokens/kit", {"role": "worker"})["token"]
        self.admin = admin("PUT", "/tokens/admin", {"role": "admin", "act_as": True})["token"]
        self.api = Client(self.url, self.admin, patience=60)
        self.addCleanup(self.api.close)
        self.workers = []
        self.addCleanup(self.end_workers)

    def serve(self, *arguments):
        self.server = Server(EBB, STORE, self.folder, ["--listen", f"127.0.0.1:{self.port}",
                             "--requests-per-second", "0", *arguments], self.files)
        # Of the two addresses, the fixed one.
        self.url = f"http://127.0.0.1:{self.port}"
        self.addCleanup(self.server.stop)

    def login(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        self.addCleanup(connection.close)
        headers = {"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}

        def call(method, path, body):
            connection.request(method, "/api/v1" + path, json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
            assert response.status < 300, text
            cookie = response.getheader("Set-Cookie")
            if cookie:
                headers["Cookie"] = cookie.split(";")[0]
            return json.loads(text)

        call("POST", "/session", {"login": self.server.login})
        return call

    def work(self, name="kit-1", url=None, **environment):
        worker = Worker(self.folder, url or self.url, self.token, name, **environment)
        self.workers.append(worker)
        return worker

    def end_workers(self):
        (self.folder / "go").touch()
        for worker in self.workers:
            worker.end(signal.SIGKILL)

    def proxy(self):
        proxy = Forgetful(self.port)
        self.addCleanup(proxy.server_close)
        self.addCleanup(proxy.shutdown)
        return proxy, f"http://127.0.0.1:{proxy.server_address[1]}"

    def use(self, command, url=None):
        program = COMMAND[-1].replace("worker.", "client.")
        environment = {**os.environ, "EBB_URL": url or self.url, "EBB_TOKEN": self.admin}
        done = subprocess.run([*COMMAND[:-1], program, command], env=environment, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def names(self):
        return [entry["id"] for entry in self.api.repeat("GET", "/workers")["items"]]

    def end_cleanly(self, worker):
        """At SIGTERM and without a word, before an open poll (60 s) or the patience with the server ends."""
        worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(worker.process.wait(timeout=45), 0)
        self.assertEqual((self.folder / "kit-1.log").read_text(), "")

    def until(self, what, condition):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        logs = {file.name: file.read_text() for file in self.folder.glob("*.log")}
        self.fail(f"{what} did not happen: {logs} {self.server.log[-20:]}")

    def lines(self, name):
        file = self.folder / name
        return file.read_text().splitlines() if file.exists() else []

    def end_of(self, instance):
        result = self.api.result(instance, PATIENCE)
        self.assertTrue(result["is_finished"], result)
        return result["status"], result["output"], result["error"]

    def history(self, instance, *types):
        events = self.api.repeat("GET", f"/instances/{instance}/history?limit=100&payloads=full")["items"]
        return [event for event in events if not types or event["type"] in types]

    def test_reports_success(self):
        self.work()
        instances = [self.api.start("adding", {"a": number, "b": 1}) for number in range(20)]
        for number, instance in enumerate(instances):
            self.assertEqual(self.end_of(instance), ("completed", {"sum": number + 1}, None))
        [event] = self.history(instances[0], "step_completed")
        self.assertEqual(event["worker"], "kit-1")

    def test_a_failure_is_retried_with_the_same_idempotency_key(self):
        self.work()
        instance = self.api.start("flaking")
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 2}))
        first, second = (line.split() for line in self.lines("flaky"))
        self.assertEqual((first[0], second[0]), ("1", "2"))
        self.assertEqual(first[1], second[1])
        [event] = self.history(instance, "step_retried")
        self.assertEqual((event["payload"]["code"], event["payload"]["details"]), ("busy", {"attempt": 1}))

    def test_a_permanent_failure_is_not_retried_and_is_compensated(self):
        self.work()
        instance = self.api.start("refusing", {"a": 1, "b": 2})
        status, _, error = self.end_of(instance)
        self.assertEqual((status, error["code"]), ("failed", "no_amount"))
        self.assertEqual(self.lines("undo"), ["True 3"])
        self.assertEqual(len(self.history(instance, "step_retried")), 0)

    def test_what_cannot_be_stored_fails_its_attempt_only(self):
        self.work()
        expected = {
            "message": ("error", "a\ufffdb\ufffdcé"), "code": ("error", "the shop is closed"),
            "details": ("error", "the shop is closed"), "exit": ("error", "leaves"),
            "surrogate": ("invalid_output", ""), "number": ("invalid_output", "not JSON"),
            "large": ("invalid_output", "too large"),
        }
        # All at once: those that come together with another are not its fault.
        instances = {case: self.api.start("odd", case) for case in expected}
        fine = [self.api.start("adding", {"a": number, "b": 0}) for number in range(5)]
        for case, (code, text) in expected.items():
            with self.subTest(case):
                status, _, error = self.end_of(instances[case])
                self.assertEqual((status, error["code"]), ("failed", code))
                self.assertIn(text, error["message"])
                retries = 1 if code == "error" else 0
                self.assertEqual(len(self.history(instances[case], "step_retried")), retries)
        for number, instance in enumerate(fine):
            self.assertEqual(self.end_of(instance)[:2], ("completed", {"sum": number}))

    def test_pauses_until_a_signal_comes(self):
        self.work()
        instance = self.api.start("asking")
        self.until("the pause", lambda: any(
            wait["kind"] == "signal" for wait in self.api.show(instance)["waiting_for"]))
        self.api.signal(instance, "ask", {"yes": True})
        self.assertEqual(self.end_of(instance)[:2],
                         ("completed", {"answer": {"yes": True}, "pauses": 1}))

    def test_keeps_its_lease_while_a_handler_runs_longer(self):
        # Two more workers would take the task over.
        self.work(EBB_LEASE="1")
        self.work("kit-2", EBB_LEASE="1")
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        begun = time.monotonic()
        self.until("three leases", lambda: time.monotonic() - begun > 3)
        (self.folder / "go").touch()
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertEqual(len(self.lines("hold")), 1)

    def test_tells_a_handler_that_its_time_is_over(self):
        self.work()
        instance = self.api.start("timing")
        status, _, error = self.end_of(instance)
        self.assertEqual((status, error["code"]), ("failed", "timeout"))
        self.until("the stop", lambda: self.lines("stopped"))

    def test_tells_a_handler_that_its_instance_is_cancelled(self):
        self.work()
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        self.api.cancel(instance)
        self.assertEqual(self.end_of(instance)[0], "cancelled")
        self.until("the stop", lambda: self.lines("stopped"))

    def test_passes_progress_and_log_lines_on(self):
        self.work()
        instance = self.api.start("telling")
        [event] = self.until("the progress", lambda: self.history(instance, "step_progressed"))
        self.assertEqual(event["payload"], {"percent": 50})
        entry = self.server.wait_for("handler_log")
        self.assertEqual((entry["message"], entry["level"]), ("half of it", "warning"))
        (self.folder / "go").touch()
        self.assertEqual(self.end_of(instance)[0], "completed")

    def test_repeats_a_report_whose_answer_was_lost(self):
        proxy, url = self.proxy()
        proxy.to_lose = {"complete": 2}
        self.work(url=url)
        instances = [self.api.start("adding", {"a": number, "b": 0}) for number in range(5)]
        for number, instance in enumerate(instances):
            self.assertEqual(self.end_of(instance)[:2], ("completed", {"sum": number}))
            self.assertEqual(len(self.history(instance, "step_completed")), 1)
        self.until("the loss", lambda: len(proxy.lost) == 2)

    def test_gets_a_task_again_whose_answer_was_lost(self):
        proxy, url = self.proxy()
        proxy.to_lose = {"poll": 1}
        self.work(url=url)
        instance = self.api.start("flaking")
        self.assertEqual(self.end_of(instance)[0], "completed")
        # No attempt was spent on the lost answer.
        self.assertEqual([line.split()[0] for line in self.lines("flaky")], ["1", "2"])
        self.assertEqual(proxy.lost, ["poll"])

    def test_another_worker_takes_over_after_kill_9(self):
        first = self.work(EBB_LEASE="1")
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        first.end(signal.SIGKILL)
        (self.folder / "go").touch()
        self.work("kit-2")
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 2}))
        [lost] = self.history(instance, "lease_lost")
        self.assertEqual(lost["worker"], "kit-1")
        keys = {line.split()[1] for line in self.lines("hold")}
        self.assertEqual(len(keys), 1)

    def test_a_task_survives_kill_9_of_the_server(self):
        self.work(EBB_LEASE="60")
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        self.server.process.kill()
        self.server.stop()
        self.serve()
        (self.folder / "go").touch()
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertEqual(len(self.lines("hold")), 1)
        self.assertEqual(self.end_of(self.api.start("adding", {"a": 1, "b": 1}))[0], "completed")

    def test_a_task_survives_a_restart_of_the_server(self):
        self.work(EBB_LEASE="60")
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        self.assertEqual(self.server.stop(), 0)
        self.serve()
        (self.folder / "go").touch()
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertEqual(len(self.lines("hold")), 1)

    def test_drains(self):
        worker = self.work()
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        worker.process.send_signal(signal.SIGTERM)
        waiting = self.api.start("adding", {"a": 1, "b": 2})
        (self.folder / "go").touch()
        self.assertEqual(worker.end(), 0)
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertNotIn("kit-1", self.names())
        self.work("kit-2")
        self.assertEqual(self.end_of(waiting)[:2], ("completed", {"sum": 3}))

    def test_a_stop_ends_a_worker_that_never_reached_a_server(self):
        proxy, url = self.proxy()
        proxy.port = free_port()  # Nothing is there.
        tries = []
        proxy.finish_request = lambda *_: tries.append(1)
        worker = self.work(url=url, EBB_PATIENCE="3600")
        self.until("a repetition", lambda: len(tries) > 2)
        self.end_cleanly(worker)

    def test_a_stop_ends_an_idle_worker_while_the_server_is_away(self):
        worker = self.work(EBB_PATIENCE="3600")
        self.until("the worker", lambda: "kit-1" in self.names())
        self.api.close()
        self.server.process.kill()
        self.server.stop()
        self.end_cleanly(worker)

    def test_a_stop_ends_an_idle_worker_while_the_server_does_not_answer(self):
        worker = self.work(EBB_PATIENCE="3600", EBB_LEASE="600")
        self.until("the worker", lambda: "kit-1" in self.names())
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        self.end_cleanly(worker)

    def test_a_stop_waits_for_no_poll(self):
        proxy, url = self.proxy()
        worker = self.work(url=url, EBB_LEASE="3600")
        self.until("the poll", lambda: proxy.seen)
        self.assertEqual(proxy.seen[0]["wait"], "1m")
        self.end_cleanly(worker)
        self.assertNotIn("kit-1", self.names())

    def test_signs_off_although_the_server_closes_each_connection(self):
        proxy, url = self.proxy()
        worker = self.work(url=url)
        instance = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        worker.process.send_signal(signal.SIGTERM)
        self.until("the stop", lambda: any(poll["free"] == 0 and poll["wait"] == "0s" for poll in proxy.seen))
        proxy.hangs_up = True
        self.until("the end of a connection", lambda: proxy.hung_up)
        (self.folder / "go").touch()
        self.end_cleanly(worker)
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertNotIn("kit-1", self.names())

    def test_a_task_that_arrives_at_a_worker_that_is_to_stop_is_not_lost(self):
        proxy, url = self.proxy()
        proxy.to_hold = 1
        worker = self.work(url=url)
        instance = self.api.start("holding")
        self.assertTrue(proxy.held.wait(PATIENCE))
        worker.process.send_signal(signal.SIGTERM)
        # The poll that has the task is on its way while a newer one takes it back.
        self.until("the stop", lambda: any(poll["free"] == 0 and poll["wait"] == "0s" for poll in proxy.seen))
        proxy.may_go.set()
        (self.folder / "go").touch()
        self.end_cleanly(worker)
        self.work("kit-2")
        self.assertEqual(self.end_of(instance)[:2], ("completed", {"attempt": 1}))
        self.assertEqual(len(self.lines("hold")), 1)
        self.assertNotIn("kit-1", self.names())

    def test_a_certificate_that_is_not_trusted_ends_the_worker_at_once(self):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
             "-keyout", "own.key", "-out", "own.pem", "-days", "30", "-subj", "/CN=own",
             "-addext", "subjectAltName=IP:127.0.0.1"],
            cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(self.server.stop(), 0)
        self.serve("--tls-cert", "own.pem", "--tls-key", "own.key")
        for name, port, what in (
            ("kit-1", self.port, f"The certificate of https://127.0.0.1:{self.port} is not trusted: "),
            ("kit-2", self.proxy()[0].server_address[1], "There is no TLS with https://127.0.0.1:"),
        ):
            worker = self.work(name, f"https://127.0.0.1:{port}", EBB_PATIENCE="3600")
            self.assertNotEqual(worker.process.wait(timeout=PATIENCE), 0)
            self.assertIn(what, (self.folder / f"{name}.log").read_text())

    def test_lists_instances_page_by_page(self):
        labels = {"customer": "acme", "vip": True}
        self.assertEqual(self.use("lists"), {
            "all": True, "two": True, "label": [labels, labels], "where": 2, "key": ["deciding"], "none": []})

    def test_decides_once_and_in_the_name_of_a_user(self):
        said = self.use("decides")
        instance = said.pop("id")
        self.assertEqual(said, {"refused": "not_allowed", "status": "completed"})
        [event] = self.history(instance, "decision_made")
        self.assertEqual((event["payload"]["by"], event["payload"]["comment"]), ("ann", "looks good"))

    def test_pauses_resumes_cancels_and_aborts(self):
        self.assertEqual(self.use("steers"), {
            "paused": [True, "paused", False], "resumed": "running", "stale": "precondition_failed",
            "cancelled": [True, "cancelled"], "aborted": "aborted", "unknown": "instance_not_found"})

    def test_requeues_with_a_new_input(self):
        self.work()
        self.assertEqual(self.use("requeues"), {"sum": 3})

    def test_starts_the_work_of_an_instance_again(self):
        self.work()
        self.assertEqual(self.use("reruns"), {
            "same": {"sum": 3}, "labels": {"tenant": "acme"}, "is_linked": True, "is_new": True,
            "other": {"sum": 10}, "is_once": True})

    def test_watches_an_instance_although_its_stream_is_cut(self):
        proxy, url = self.proxy()
        proxy.events = 2  # the blocks of `retry` and of one event
        said = self.use("watches", url)
        seqs = [event["seq"] for event in self.history(said["id"])]
        self.assertEqual((said["numbers"], said["rest"]), (seqs, True))
        self.assertGreater(proxy.streams, len(seqs))

    def test_the_newer_of_two_workers_with_one_name_works(self):
        first = self.work()
        self.end_of(self.api.start("adding", {"a": 1, "b": 1}))
        second = self.work()
        self.assertNotEqual(first.process.wait(timeout=PATIENCE), 0)
        self.assertEqual(self.end_of(self.api.start("adding", {"a": 1, "b": 1}))[0], "completed")
        self.assertEqual(second.end(), 0)


@unittest.skipIf(STORE != "postgres", "one database for several servers")
class Servers(Conformance):
    """Two servers on one database, and a worker whose requests go to both in turn."""

    def test_a_worker_may_talk_to_any_server(self):
        other = Server(EBB, STORE, self.folder, ["--requests-per-second", "0"], self.files)
        self.addCleanup(other.stop)
        ports = [self.port, other.port]

        class Alternating(Forwarder):
            def do_POST(self):
                ports.reverse()
                self.server.port = ports[0]
                super().do_POST()

        proxy, url = self.proxy()
        proxy.RequestHandlerClass = Alternating
        self.work(url=url, EBB_LEASE="8")
        held = self.api.start("holding")
        self.until("the call", lambda: self.lines("hold"))
        for number in range(3):
            instance = self.api.start("adding", {"a": number, "b": 0})
            self.assertEqual(self.end_of(instance)[:2], ("completed", {"sum": number}))
        (self.folder / "go").touch()
        self.assertEqual(self.end_of(held)[:2], ("completed", {"attempt": 1}))
        self.assertEqual(len(self.lines("hold")), 1)


def load_tests(loader, tests, _):
    suite = unittest.TestSuite()
    names = loader.getTestCaseNames(Conformance)
    suite.addTests(Conformance(name) for name in names)
    suite.addTest(Servers("test_a_worker_may_talk_to_any_server"))
    return suite


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *os.environ.get("EBB_CASES", "").split()], verbosity=2)
