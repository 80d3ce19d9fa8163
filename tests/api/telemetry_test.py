#!/usr/bin/env python3
"""Traces of real processes, as a collector gets them: telemetry_test.py ROOT EBB

Goal: one trace for an instance, whichever commands ran it, and no harm if the collector is away.
Method: a collector of ours on a free loopback port, which the variables of OpenTelemetry name.
"""

import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from world import Server

EBB = os.path.abspath(sys.argv[2])

WORKFLOW = """
workflow: order
steps:
  - step: charge
    compensate: {handler: refund}
  - decision: approve
  - step: ship
    max_attempts: 1
handlers:
  charge: {exec: [cat]}
  refund: {exec: [cat]}
  ship: {exec: ["false"]}
"""


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


class Telemetry(unittest.TestCase):
    def setUp(self):
        self.collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
        self.collector.requests = []
        thread = threading.Thread(target=self.collector.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.collector.server_close)
        self.addCleanup(self.collector.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "order.yaml").write_text(WORKFLOW)

    def ebb(self, *words, port=None, **variables):
        port = port or self.collector.server_address[1]
        environment = {
            "PATH": os.environ["PATH"],
            "EBB_DB": str(self.folder / "ebb.db"),
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
            **variables,
        }
        return subprocess.run([EBB, *words], cwd=self.folder, env=environment, timeout=120,
                              capture_output=True, text=True, check=False)

    def spans(self):
        return [span for _, _, body in self.collector.requests
                for resource in body["resourceSpans"]
                for scope in resource["scopeSpans"]
                for span in scope["spans"]]

    def test_two_processes_send_one_trace(self):
        instance = self.ebb("start", "order.yaml", "--input", "1").stdout.strip()
        self.ebb("worker", "order.yaml", "--once", "-q", OTEL_SERVICE_NAME="first",
                 OTEL_EXPORTER_OTLP_HEADERS="x-team=ebb")
        self.ebb("decide", instance, "confirm", "--by", "ann")
        self.ebb("worker", "order.yaml", "--once", "-q", OTEL_SERVICE_NAME="second")

        spans = {span["name"]: span for span in self.spans()}
        self.assertEqual(set(spans), {"attempt charge", "step charge", "attempt ship", "step ship",
                                      "compensate charge", "workflow order"})
        self.assertEqual({span["traceId"] for span in spans.values()},
                         {instance.replace("-", "")})
        root = spans["workflow order"]
        self.assertNotIn("parentSpanId", root)
        self.assertEqual(spans["step charge"]["parentSpanId"], root["spanId"])
        self.assertEqual(spans["attempt charge"]["parentSpanId"], spans["step charge"]["spanId"])
        self.assertEqual(spans["compensate charge"]["parentSpanId"], root["spanId"])
        self.assertEqual(root["status"]["code"], 2)
        names = [body["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"]
                 for _, _, body in self.collector.requests]
        self.assertEqual(names, ["first", "second"])
        path, headers, _ = self.collector.requests[0]
        self.assertEqual(path, "/v1/traces")
        self.assertEqual(headers["x-team"], "ebb")

    def test_hidden_payloads_stay_out_of_the_text_of_failures(self):
        (self.folder / "declined.yaml").write_text("""
workflow: declined
steps: [charge]
handlers:
  charge: {exec: [sh, -c, 'echo "no funds on 4111" >&2; exit 65']}
""")
        collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.collector.server_address[1]}"}
        for arguments in ([], ["--hide-payloads"]):
            self.collector.requests.clear()
            flags = ["--no-auth", "--allow-exec", *arguments]
            with Server(EBB, "memory", self.folder, flags, ["declined.yaml"], collector) as server:
                request = urllib.request.Request(
                    f"http://127.0.0.1:{server.port}/api/v1/instances?wait=30s", b'{"workflow": "declined"}',
                    {"Content-Type": "application/json"})
                urllib.request.urlopen(request, timeout=60).close()
            failed = {span["name"]: span for span in self.spans() if span["name"].startswith("attempt")}
            attempt = failed["attempt charge"]
            self.assertEqual(attempt["status"]["code"], 2)
            self.assertIn({"key": "error.type", "value": {"stringValue": "exit_65"}}, attempt["attributes"])
            self.assertEqual("message" in attempt["status"], not arguments)

    def test_requests_and_calls_are_in_the_trace_of_their_caller(self):
        trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        asked = []

        class Service(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                asked.append(self.headers["traceparent"])
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        thread = threading.Thread(target=service.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        url = f"http://127.0.0.1:{service.server_address[1]}/charge"
        (self.folder / "pay.yaml").write_text(
            "workflow: pay\nsteps: [charge]\nhandlers:\n  charge: {http: {method: POST, url: '%s'}}\n" % url)
        collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.collector.server_address[1]}"}
        with Server(EBB, "memory", self.folder, ["--no-auth"], ["pay.yaml"], collector) as server:
            def start(headers):
                request = urllib.request.Request(
                    f"http://127.0.0.1:{server.port}/api/v1/instances?wait=60s",
                    json.dumps({"workflow": "pay", "input": {}}).encode(),
                    {"Content-Type": "application/json", **headers})
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.loads(answer.read())["id"]

            instance = start({"traceparent": f"00-{trace}-{parent}-01"})
            start({})
            self.assertEqual(server.stop(), 0)

        spans = self.spans()
        [request] = [span for span in spans if span["traceId"] == trace and span["kind"] == 2]
        self.assertEqual((request["name"], request["parentSpanId"]), ("POST /api/v1/instances", parent))
        [begun] = [each for each in spans if each["name"] == "start pay"]
        self.assertEqual((begun["kind"], begun["traceId"]), (4, trace))
        self.assertEqual(begun["parentSpanId"], request["spanId"])
        own = instance.replace("-", "")
        [root] = [span for span in spans if span["name"] == "workflow pay" and span["traceId"] == own]
        self.assertEqual(begun["links"], [{"traceId": own, "spanId": root["spanId"]}])
        [attempt] = [span for span in spans if span["name"] == "attempt charge" and span["traceId"] == own]
        self.assertEqual(asked[0], f"00-{own}-{attempt['spanId']}-01")
        [other] = [span for span in spans if span["kind"] == 2 and span["traceId"] != trace]
        self.assertNotIn("parentSpanId", other)

    def test_the_task_of_a_remote_worker_names_the_span_of_its_attempt(self):
        (self.folder / "far.yaml").write_text("workflow: far\nsteps: [work]\n")
        collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.collector.server_address[1]}"}
        with Server(EBB, "memory", self.folder, ["--no-auth"], ["far.yaml"], collector) as server:
            def post(path, body):
                request = urllib.request.Request(
                    f"http://127.0.0.1:{server.port}/api/v1{path}", json.dumps(body).encode(),
                    {"Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.loads(answer.read() or "null")

            session = post("/worker/sessions", {"worker_id": "w", "handlers": ["work"]})["session"]
            instance = post("/instances", {"workflow": "far", "input": {}})["id"]

            def next_task(**more):
                for _ in range(100):
                    asked = {"session": session, "free": 1, "wait": "2s", **more}
                    tasks = post("/worker/poll", asked)["tasks"]
                    if tasks:
                        return tasks[0]
                self.fail("no task")

            first = next_task()
            failure = {"code": "busy", "message": "later", "retry_after": "1ms"}
            second = next_task(done=[{"task": first["task"], "failed": failure}])
            post("/worker/complete", {"session": session, "done": [
                {"task": second["task"], "completed": {"output": {}}}]})
            post("/worker/close", {"session": session})
            self.assertEqual(server.stop(), 0)
        own = instance.replace("-", "")
        attempts = sorted((span for span in self.spans() if span["name"] == "attempt work"),
                          key=lambda span: span["startTimeUnixNano"])
        self.assertEqual([span["traceId"] for span in attempts], [own, own])
        self.assertEqual([first["traceparent"], second["traceparent"]],
                         [f"00-{own}-{span['spanId']}-01" for span in attempts])
        self.assertNotEqual(first["traceparent"], second["traceparent"])

    def test_a_collector_that_is_away_does_no_harm(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # and does not listen
            self.ebb("start", "order.yaml", "--input", "1", "--key", "k")
            worker = self.ebb("worker", "order.yaml", "--once", port=taken.getsockname()[1])
        self.assertEqual(worker.returncode, 0, worker.stderr)
        self.assertIn("spans_dropped", worker.stderr)

    def test_a_wrong_variable_is_named(self):
        worker = self.ebb("worker", "order.yaml", "--once", OTEL_TRACES_SAMPLER="sometimes")
        self.assertNotEqual(worker.returncode, 0)
        self.assertIn("OTEL_TRACES_SAMPLER is not always_on, always_off or traceidratio",
                      worker.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
