#!/usr/bin/env python3
"""The databases of `ebb serve`: databases_test.py ROOT EBB STORE

One for development, a copy to read from, tables of another version, and one that does not answer yet.

No case waits for a time: each waits for what the server logs, or for an answer.
"""

import contextlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import unittest
import urllib.parse

from contract import Contract
from world import Client, Folder, Server, database, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]


def workflow(output, version=None):
    line = f"version: {version}\n" if version else ""
    return (
        f"workflow: order\n{line}steps: [greet]\n"
        f"handlers:\n  greet: {{exec: [echo, '\"{output}\"']}}\n"
    )


class Databases(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)

    def serve(self, *arguments, store=STORE, **options):
        server = Server(EBB, store, self.path, arguments=arguments, **options)
        self.addCleanup(server.stop)
        return server

    def client(self, server):
        client = log_in(server, Contract(ROOT))
        self.addCleanup(client.close)
        return client

    def refusal(self, *arguments, code=2):
        url = database(STORE, self.path)
        done = subprocess.run(
            [EBB, "serve", "--db", url, "--listen", "127.0.0.1:0", *arguments], cwd=self.path,
            capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "EBB_DB": ""},
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def put(self, text, name="order.yaml"):
        """As an editor does: the new file takes the place of the old one at once."""
        fresh = self.path / f".{name}.new"
        fresh.write_text(text)
        fresh.rename(self.path / name)

    def output(self, client):
        answer = client.post("/instances", {"workflow": "order"}, wait="60s")
        self.assertEqual(answer.status, 201, answer.body)
        shown = client.get(f"/instances/{answer.json()['id']}").json()
        self.assertEqual(shown["status"], "completed", shown)
        return shown["version"], shown["output"]

    def test_while_developing_each_change_is_the_next_version(self):
        self.put(workflow("one"))
        self.put("not: a workflow\n", "other.yaml")
        server = self.serve("--dev")
        client = self.client(server)
        self.assertTrue(client.get("/").json()["is_dev"])
        self.assertEqual(self.output(client), (1, "one"))
        self.put(workflow("two"))
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.output(client), (2, "two"))
        # A version that the file names counts, if it is higher.
        self.put(workflow("seven", 7))
        server.wait_for("definition_registered", 3)
        self.assertEqual(self.output(client), (7, "seven"))
        files = client.get("/admin/definitions").json()["items"]
        self.assertEqual([(one["file"], one["version"]) for one in files], [("order.yaml", 7)])
        self.assertEqual(server.stop(), 0)
        # What the database has already changes nothing.
        again = self.serve("--dev")
        self.assertEqual(self.output(self.client(again)), (7, "seven"))

    def test_versions_come_by_themselves_only_in_a_database_for_development(self):
        self.put(workflow("one"))
        with Server(EBB, STORE, self.path, files=["order.yaml"]) as server:
            client = log_in(server, Contract(ROOT))
            self.assertFalse(client.get("/").json()["is_dev"])
            client.close()
        message = self.refusal("--dev")
        self.assertIn("--dev has made", message)
        self.assertIn("--dev", self.refusal("--dev", "--demo"))

    def test_the_tables_of_another_version_are_refused(self):
        self.assertIn("ebb migrate", self.refusal("--migrate", "check", code=5))
        self.assertFalse((self.path / "ebb.db").exists(), "nothing is made")
        self.assertIn("auto, check", self.refusal("--migrate", "never"))
        with Server(EBB, STORE, self.path):
            pass
        server = self.serve("--migrate", "check", "--no-auth")
        client = Client(server, Contract(ROOT))
        self.addCleanup(client.close)
        self.assertEqual(client.get("/instances").status, 200)

    def test_the_api_reads_from_the_copy_and_never_writes_to_it(self):
        url = database(STORE, self.path)
        copy = url
        if STORE == "postgres":
            # The server refuses each write of these sessions, as a replica does.
            copy += "&options=" + urllib.parse.quote("-c default_transaction_read_only=on")
        self.put(workflow("one"))
        server = self.serve("--db-read", copy, "--no-auth", files=["order.yaml"])
        client = Client(server, Contract(ROOT))
        self.addCleanup(client.close)
        self.assertEqual(self.output(client), (1, "one"))
        for name in ("instances", "workflows", "stats", "decisions", "failures/groups", "workers", "queues"):
            self.assertEqual(client.get(f"/{name}").status, 200, name)
        shown = {one["key"]: one["value"] for one in client.get("/admin/config").json()["settings"]}
        self.assertEqual(shown["db_read"], copy)
        self.assertIn("--db-read", self.refusal("--db-read", "memory:"))
        other = "postgresql://127.0.0.1:1/none" if STORE == "sqlite" else "sqlite:other.db"
        self.assertIn("--db-read", self.refusal("--db-read", other))


class Forwarder:
    """Leads connections on a port of its own to a server, from the moment when it is opened."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.listener = socket.socket()
        self.sockets = [self.listener]
        self.listener.bind(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]

    def open(self):
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(self.target)
            self.sockets += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def copy(source, sink):
        try:
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        for each in self.sockets:
            with contextlib.suppress(OSError):
                # Also ends what waits for data.
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@unittest.skipUnless(STORE == "postgres", "only a server of a database may be away")
class Away(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        url = urllib.parse.urlsplit(database(STORE, self.path))
        self.forwarder = Forwarder(url.hostname, url.port)
        self.addCleanup(self.forwarder.close)
        near = url._replace(netloc=f"{url.username}@127.0.0.1:{self.forwarder.port}")
        self.url = urllib.parse.urlunsplit(near)

    def command(self, *arguments):
        return [EBB, "serve", "--json", "--db", self.url, *arguments]

    def test_waits_and_says_why_it_is_not_ready(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.path / "notify"))
        manager.settimeout(120)
        process = subprocess.Popen(
            self.command("--listen", f"127.0.0.1:{port}"), stdout=subprocess.PIPE, text=True, cwd=self.path,
            env={**os.environ, "EBB_DB": "", "NOTIFY_SOCKET": str(self.path / "notify")},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.terminate)
        first = manager.recv(4096).decode()
        self.assertIn("EXTEND_TIMEOUT_USEC=", first)
        self.assertIn("cannot be reached", first)

        def ask(path):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read().decode()
            connection.close()
            return answer, body

        answer, body = ask("/livez")
        self.assertEqual((answer.status, body), (200, "ok\n"))
        answer, body = ask("/readyz")
        self.assertEqual(answer.status, 503)
        self.assertEqual(body, "The server waits for its database, which does not answer.\n")
        answer, body = ask("/api/v1/instances")
        self.assertEqual(answer.status, 503)
        self.assertIn('"code":"store_unavailable"', body)
        self.assertTrue(answer.getheader("Retry-After"))
        self.assertNotIn("127.0.0.1", body, "clients do not learn where the database is")

        self.forwarder.open()
        events = []
        for line in process.stdout:
            events.append(line)
            if '"serving"' in line:
                break
        self.assertTrue(any('"store_unreachable"' in line for line in events), events)
        self.assertTrue(any('"store_reached"' in line for line in events), events)
        answer, body = ask("/readyz")
        self.assertEqual((answer.status, body), (200, "ok\n"))
        self.forwarder.close()
        while answer.status == 200:
            answer, body = ask("/readyz?verbose")
        checks = {check["name"]: check for check in json.loads(body)["checks"]}
        self.assertEqual((answer.status, json.loads(body)["ready"]), (503, False))
        self.assertEqual((checks["serving"]["ok"], checks["database"]["ok"]), (True, False))
        self.assertTrue(checks["database"]["reason"])
        self.assertNotIn("127.0.0.1", body, "without a login one does not learn where the database is")

    def test_a_signal_ends_the_wait(self):
        process = subprocess.Popen(
            self.command("--listen", "127.0.0.1:0"), stdout=subprocess.PIPE, text=True, cwd=self.path,
            env={**os.environ, "EBB_DB": ""},
        )
        self.addCleanup(process.stdout.close)
        self.assertIn('"store_unreachable"', process.stdout.readline())
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_without_waiting_it_ends(self):
        done = subprocess.run(
            self.command("--listen", "127.0.0.1:0", "--no-wait"), capture_output=True, text=True, timeout=120,
            check=False, cwd=self.path, env={**os.environ, "EBB_DB": ""},
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot be reached", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
