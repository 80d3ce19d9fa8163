#!/usr/bin/env python3
"""nginx and Caddy in front of a real `ebb serve`, and programs that attack it: fronts_test.py ROOT EBB

The proxies run with the configurations of docs/how-to/proxy.md. slowhttptest holds connections open, and
testssl.sh judges TLS. All four are Debian's; `./dev test fronts` unpacks them to build/tools.
"""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import unittest

import malformed_test
from contract import Contract
from world import WORKFLOW, Client, Folder, Server, log_in

ROOT, EBB = pathlib.Path(sys.argv[1]).resolve(), os.path.abspath(sys.argv[2])
TOOLS = ROOT / "build" / "tools"
PAGE = ROOT / "docs" / "how-to" / "proxy.md"
PATIENCE = 120
MEMORY_MAX_KIB = 200 * 1024


def tool(name):
    return shutil.which(name, path=str(TOOLS)) or shutil.which(name)


def needs(name):
    return unittest.skipUnless(tool(name), f"there is no {name}; ./dev test fronts fetches it")


def block(language):
    """The configuration that the page shows."""
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)[1]


def replaced(text, *pairs):
    for old, new in pairs:
        assert old in text, f"the page has no {old}"
        text = text.replace(old, new)
    return text


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def make_certificate(folder):
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
         "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        check=True, capture_output=True)
    return certificate, key


class Front:
    """What a proxy is to a client: see world.Client."""

    def __init__(self, port, login):
        self.port, self.login = port, login


class WithServer(unittest.TestCase):
    arguments = ()

    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        (self.path / "order.yaml").write_text(WORKFLOW.replace("    roles: [boss]\n", ""))
        self.certificate, self.key = make_certificate(self.path)
        arguments = ["--allow-exec", "--requests-per-second", "0", *self.arguments, *self.more_arguments()]
        self.server = Server(EBB, "sqlite", self.path, arguments, ["order.yaml"])
        self.addCleanup(self.server.stop)

    def more_arguments(self):
        return []

    def run_program(self, command, port):
        """Until the end of the test; it listens when this returns."""
        with open(self.path / "front.log", "wb") as log:
            home = {"HOME": str(self.path), "XDG_DATA_HOME": str(self.path)}
            process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=self.path, env={**os.environ, **home})

        def stop():
            process.terminate()
            process.wait(timeout=60)

        self.addCleanup(stop)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if process.poll() is not None:
                break
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                return process
        self.fail((self.path / "front.log").read_text())


class FrontCases:
    """The same for each proxy."""

    arguments = ("--behind-proxy", "127.0.0.1")

    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.start_front()
        self.context = ssl.create_default_context(cafile=self.certificate)
        front = Front(self.port, self.server.login)
        self.contract = Contract(ROOT)
        self.api = self.client(front)
        answer = self.api.post("/session", {"login": self.server.login})
        self.assertEqual(answer.status, 200, answer.body)
        self.cookie = answer.headers["set-cookie"]
        self.api.cookie = self.cookie.split(";")[0]

    def client(self, front):
        client = Client(front, self.contract)
        client.connection = self.connection()
        self.addCleanup(client.close)
        return client

    def connection(self):
        connection = http.client.HTTPSConnection("localhost", self.port, timeout=60, context=self.context)
        self.addCleanup(connection.close)
        return connection

    def test_a_login_is_secure_and_the_audit_names_the_client(self):
        self.assertTrue(self.cookie.startswith("__Host-ebb="), self.cookie)
        self.assertIn("Secure", self.cookie)
        spoofed = self.api("PUT", "/tokens/one", {"role": "viewer"}, {"X-Forwarded-For": "203.0.113.9"})
        self.assertEqual(spoofed.status, 201, spoofed.body)
        rows = self.api.get("/audit", limit=5).json()["items"]
        self.assertEqual({row["remote"] for row in rows}, {"127.0.0.1"})

    def test_only_pages_of_the_same_origin_may_write(self):
        body = {"workflow": "order", "input": 1}
        ours = self.api.post("/instances", body, {"Origin": f"https://localhost:{self.port}"})
        self.assertEqual(ours.status, 201, ours.body)
        theirs = self.api.post("/instances", body, {"Origin": "https://evil.example"})
        self.assertEqual((theirs.status, theirs.json()["code"]), (403, "csrf_refused"))

    def test_large_bodies_conditions_and_long_polls_pass(self):
        lines = "\n".join([json.dumps({"text": "x" * 1000})] * 3000)
        answer = self.api("POST", "/instances/batch", lines, {"Content-Type": "application/x-ndjson"},
                          {"workflow": "order"})
        self.assertEqual((answer.status, len(answer.lines())), (201, 3000))
        instance = self.api.post("/instances", {"workflow": "order", "input": 1}).json()["id"]
        waiting = self.api.get(f"/instances/{instance}/result", wait="1s")
        self.assertEqual(waiting.status, 202)
        stale = self.api.post(f"/instances/{instance}/cancel", {}, {"If-Match": '"999"'})
        self.assertEqual(stale.status, 412)
        shown = self.api.get(f"/instances/{instance}")
        again = self.api("GET", f"/instances/{instance}", None, {"If-None-Match": shown.headers["etag"]})
        self.assertIn(again.status, (200, 304))

    def test_a_stream_comes_event_by_event(self):
        instance = self.api.post("/instances", {"workflow": "order", "input": 1}).json()["id"]
        connection = self.connection()
        connection.request("GET", f"/api/v1/instances/{instance}/events", headers={"Cookie": self.api.cookie})
        stream = connection.getresponse()
        self.assertEqual((stream.status, stream.getheader("content-type")), (200, "text/event-stream"))

        def until(text):
            for line in stream:
                if text in line.decode():
                    return
            self.fail(f"the stream ended without {text}")

        until("decision_awaited")
        # The answer is not over: only a proxy that does not buffer shows this.
        self.assertEqual(self.api.post(f"/instances/{instance}/abort").status, 200)
        until("event: end")

    def test_speaks_http_2(self):
        version = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True)
        if "HTTP2" not in version.stdout:
            self.skipTest("curl has no HTTP/2")
        done = subprocess.run(
            ["curl", "--silent", "--http2", "--cacert", self.certificate, "--output", os.devnull,
             "--write-out", "%{http_version} %{http_code}", f"https://localhost:{self.port}/livez"],
            capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stdout, "2 200")


NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr;
events {{}}
http {{
    log_format front '$status|$upstream_status';
    access_log {folder}/access.log front;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{servers}
}}
"""


class WithNginx(WithServer):
    def start_nginx(self, servers, port):
        (self.path / "nginx.conf").write_text(NGINX.format(folder=self.path, servers=servers))
        return self.run_program([tool("nginx"), "-p", self.path, "-c", self.path / "nginx.conf"], port)


@needs("nginx")
class Nginx(FrontCases, WithNginx):
    def start_front(self):
        servers = replaced(
            block("nginx"), ("127.0.0.1:8322", f"127.0.0.1:{self.server.port}"),
            ("listen 443", f"listen 127.0.0.1:{self.port}"), ("/etc/ssl/ebb.pem", str(self.certificate)),
            ("/etc/ssl/ebb.key", str(self.key)))
        self.start_nginx(servers, self.port)


@needs("caddy")
class Caddy(FrontCases, WithServer):
    def start_front(self):
        site = replaced(
            block("caddyfile"), ("127.0.0.1:8322", f"127.0.0.1:{self.server.port}"),
            ("ebb.example.com {", f"https://localhost:{self.port} {{\n"
             f"    tls {self.certificate} {self.key}\n    bind 127.0.0.1"))
        options = "{\n    admin off\n    auto_https off\n    skip_install_trust\n}\n"
        (self.path / "Caddyfile").write_text(options + site)
        config = ["--config", self.path / "Caddyfile", "--adapter", "caddyfile"]
        self.run_program([tool("caddy"), "run", *config], self.port)


@needs("nginx")
class Smuggling(WithNginx):
    """Whatever comes through nginx, both see the same requests."""

    arguments = ("--no-auth",)

    def counted(self):
        """Requests that the server has answered or refused, from its own metrics."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        pattern = r"^(?:http_server_request_duration_seconds_count|ebb_http_refused_total)(?:\{.*\})? (\d+)$"
        return sum(int(count) for count in re.findall(pattern, text, re.M))

    def test_nginx_and_the_server_count_the_same_requests(self):
        port = free_port()
        servers = (
            f"upstream ebb {{ server 127.0.0.1:{self.server.port}; keepalive 1; }}\n"
            f"server {{ listen 127.0.0.1:{port}; client_max_body_size 64m;\n"
            "location / { proxy_pass http://ebb; proxy_http_version 1.1;\n"
            "proxy_set_header Connection \"\"; proxy_set_header Host $http_host;\n"
            "proxy_next_upstream off; proxy_ignore_client_abort on; proxy_request_buffering off; } }")
        nginx = self.start_nginx(servers, port)
        before = self.counted()
        self.assertGreaterEqual(len(malformed_test.CASES), 250)
        for _, sent, _ in malformed_test.CASES:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection, \
                    contextlib.suppress(ConnectionResetError, BrokenPipeError):
                connection.sendall(sent + malformed_test.NEXT)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
        nginx.terminate()
        nginx.wait(timeout=60)
        lines = (self.path / "access.log").read_text().splitlines()
        passed_on = [line for line in lines if line.split("|")[1] not in ("-", "")]
        self.assertGreater(len(passed_on), 20)
        # The question itself is counted once it has been answered.
        self.assertEqual(self.counted() - before - 1, len(passed_on))


@needs("slowhttptest")
class Slow(WithServer):
    """Thousands of connections that hardly move do not keep others from being answered."""

    arguments = ("--no-auth", "--allow-exec")

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def probe(self, is_over, seen):
        """From another address than the attack's, whose connections are limited."""
        while not is_over.is_set():
            connection = http.client.HTTPConnection(
                "127.0.0.1", self.server.port, timeout=30, source_address=("127.0.0.2", 0))
            try:
                connection.request("GET", "/livez")
                seen.append(connection.getresponse().status)
            except OSError as error:
                seen.append(str(error))
            finally:
                connection.close()
            is_over.wait(0.02)

    def attack(self, *arguments):
        is_over, seen = threading.Event(), []
        prober = threading.Thread(target=self.probe, args=(is_over, seen))
        prober.start()
        try:
            done = subprocess.run(
                [tool("slowhttptest"), "-c", "3000", "-r", "1000", "-l", "8", "-p", "5", *arguments],
                cwd=self.path, capture_output=True, text=True, timeout=PATIENCE, check=False)
        finally:
            is_over.set()
            prober.join()
        self.assertIn("connections", done.stdout, done.stderr)
        self.assertGreater(len(seen), 20)
        self.assertEqual(set(seen), {200})
        self.assertLess(self.resident_kib(), MEMORY_MAX_KIB)

    def url(self, path):
        return f"http://127.0.0.1:{self.server.port}{path}"

    def test_slow_headers(self):
        self.attack("-H", "-i", "2", "-u", self.url("/livez"))

    def test_slow_bodies(self):
        self.attack("-B", "-i", "2", "-s", "65536", "-t", "POST", "-f", "application/json",
                    "-u", self.url("/api/v1/instances"))

    def test_slow_readers(self):
        self.attack("-X", "-w", "1", "-y", "16", "-n", "2", "-z", "4", "-k", "3", "-u", self.url("/metrics"))

    def test_many_ranges(self):
        self.attack("-R", "-a", "1", "-b", "3000", "-u", self.url("/livez"))


@needs("testssl")
class Tls(WithServer):
    def more_arguments(self):
        return ["--listen", "0.0.0.0:0", "--tls-cert", str(self.certificate), "--tls-key", str(self.key)]

    def test_testssl_finds_nothing_of_medium_severity(self):
        report = self.path / "testssl.json"
        # It insists on a program that resolves names, and is given an address.
        resolver = self.path / "dig"
        resolver.write_text("#!/bin/sh\n")
        resolver.chmod(0o755)
        # A program that was fetched does not find its data by itself, one that is installed does.
        data = TOOLS / "testssl-data"
        fetched = {"TESTSSL_INSTALL_DIR": str(data)} if data.exists() else {}
        # Not the certificate, which is made by this test and signed by itself.
        done = subprocess.run(
            [tool("testssl"), "--quiet", "--color", "0", "--warnings", "off", "--protocols", "--std", "--fs",
             "--server-preference", "--vulnerable", "--jsonfile", report, f"127.0.0.1:{self.server.port}"],
            cwd=self.path, capture_output=True, timeout=540, check=False, text=True,
            env={**os.environ, **fetched, "PATH": f"{os.environ['PATH']}:{self.path}"})
        self.assertTrue(report.exists(), done.stdout + done.stderr)
        findings = json.loads(report.read_text())
        self.assertGreater(len(findings), 30)
        self.assertIn("TLS1_3", {finding["id"] for finding in findings})
        bad = [finding for finding in findings
               if finding["severity"] in ("MEDIUM", "HIGH", "CRITICAL", "FATAL")]
        self.assertEqual(bad, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
