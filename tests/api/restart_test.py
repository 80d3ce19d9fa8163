#!/usr/bin/env python3
"""A server that stops loses no request: restart_test.py REPOSITORY EBB

This process plays the service manager: it keeps the listening socket open and passes it to one server
after another as descriptor 3 (`--listen fd:3`), as systemd does with a socket unit.
"""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import unittest
from types import SimpleNamespace

from world import WORKFLOW, Folder, Server

EBB = sys.argv[2]


class Activated:
    """`ebb serve` on an inherited socket."""

    def __init__(self, listening, folder, *arguments):
        # Descriptor 3 of the child. pass_fds keeps the number, so it is made 3 in the child itself.
        fd = listening.fileno()
        script = f'exec 3<&{fd} {fd}<&-; exec "$0" "$@"' if fd != 3 else 'exec "$0" "$@"'
        command = ["sh", "-c", script, os.path.abspath(EBB), "serve", "--json", "--listen", "fd:3"]
        command += ["--db", f"sqlite:{folder}/ebb.db", "--requests-per-second", "0", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, pass_fds=[fd],
            env={**os.environ, "EBB_DB": ""},
        )
        self.greeting = None
        for line in self.process.stdout:
            if json.loads(line).get("event") == "serving":
                self.greeting = json.loads(line)
                break
        self.reader = threading.Thread(target=self._drain, daemon=True)
        self.reader.start()

    def _drain(self):
        for _ in self.process.stdout:
            pass

    def end(self):
        """Its exit code, and what it said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=120)
        self.reader.join(timeout=10)
        self.process.stdout.close()
        with self.process.stderr:
            return code, self.process.stderr.read()


class Restart(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)

    def listen(self, address="127.0.0.1", family=socket.AF_INET):
        listening = socket.socket(family)
        self.addCleanup(listening.close)
        listening.bind((address, 0) if family == socket.AF_INET else address)
        listening.listen(1024)
        return listening

    def test_says_draining_and_still_serves_until_the_delay_is_over(self):
        # An hour: only the second signal ends it.
        server = Server(EBB, "sqlite", self.path, ["--drain-delay", "1h"])
        self.assertEqual(self.ready(server).status, 200)
        server.process.send_signal(signal.SIGTERM)
        while (ready := self.ready(server)).status == 200:
            pass
        self.assertEqual(ready.status, 503)
        self.assertIn("draining", ready.body)
        # New connections still get answers.
        for _ in range(3):
            self.assertEqual(self.ready(server).status, 503)
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(timeout=60), 0)
        server.stop()

    @staticmethod
    def ready(server):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        answer = SimpleNamespace(status=response.status, body=response.read().decode())
        connection.close()
        return answer

    def test_an_address_that_is_in_use_is_found_before_anything_is_written(self):
        (self.path / "order.yaml").write_text(WORKFLOW)
        taken = self.listen().getsockname()[1]
        done = subprocess.run(
            [EBB, "serve", "order.yaml", "--db", "sqlite:new.db", "--listen", f"127.0.0.1:{taken}"],
            cwd=self.path, capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "EBB_DB": ""},
        )
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"127.0.0.1:{taken}", done.stderr)
        self.assertFalse((self.path / "new.db").exists())

    def test_a_login_link_is_not_written_into_a_log(self):
        for arguments, has_link in (([], False), (["--login-link"], True)):
            process = subprocess.Popen(
                [EBB, "serve", "--db", "memory:", "--listen", "127.0.0.1:0", *arguments], cwd=self.path,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )
            lines = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("Log in"):
                    break
            self.assertEqual("#login=" in "".join(lines), has_link, lines)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(timeout=60), 0)
            process.stdout.close()

    @staticmethod
    def ask(connection):
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
        return answer

    def test_many_clients_see_no_failure_while_the_server_restarts(self):
        listening = self.listen()
        port = listening.getsockname()[1]
        server = Activated(listening, self.path, "--no-auth")
        clients, restarts = 16, 3
        done, failures, counts = threading.Event(), [], [0] * clients

        def ask(number):
            connection, is_reused = None, False
            while not done.is_set():
                try:
                    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=120)
                    connection.request("GET", "/api/v1/me")
                    response = connection.getresponse()
                    response.read()
                    if response.status != 200:
                        failures.append(response.status)
                    counts[number] += 1
                    # Every other client keeps its connection as long as the server lets it.
                    is_reused = not response.will_close and number % 2 == 0
                except (OSError, http.client.HTTPException) as error:
                    # A server may close a kept connection while a request is on its way: then every
                    # client sends it again (RFC 9112, 9.3.1). A new connection must be answered.
                    if not is_reused:
                        failures.append(repr(error))
                    is_reused = False
                if not is_reused:
                    connection.close()
                    connection = None
            if connection:
                connection.close()

        threads = [threading.Thread(target=ask, args=[number]) for number in range(clients)]
        for thread in threads:
            thread.start()
        codes = []
        for _ in range(restarts):
            # Every client has been answered by this server before the next one replaces it.
            seen = list(counts)
            while any(now < before + 3 for now, before in zip(counts, seen)) and not failures:
                done.wait(0.01)
            codes.append(server.end())
            server = Activated(listening, self.path, "--no-auth")
        seen = list(counts)
        while any(now < before + 3 for now, before in zip(counts, seen)) and not failures:
            done.wait(0.01)
        done.set()
        for thread in threads:
            thread.join()
        codes.append(server.end())
        self.assertEqual(failures, [])
        self.assertEqual([code for code, _ in codes], [0] * (restarts + 1), codes)

    def test_a_connection_that_has_brought_no_request_yet_is_answered(self):
        listening = self.listen()
        server = Activated(listening, self.path, "--no-auth")
        early = socket.create_connection(listening.getsockname(), timeout=60)
        self.addCleanup(early.close)
        # Accepted after the first one, and answered, so both are accepted.
        used = socket.create_connection(listening.getsockname(), timeout=60)
        self.addCleanup(used.close)
        self.ask(used)
        server.process.send_signal(signal.SIGTERM)
        # The drain closes this one, so it has begun.
        self.assertEqual(used.recv(1), b"")
        answer = self.ask(early)
        self.assertEqual((answer.status, answer.getheader("Connection")), (200, "close"))
        self.assertEqual(server.end()[0], 0)

    def test_an_inherited_socket_counts_as_local_by_its_address(self):
        # Loopback and a Unix socket need neither TLS nor a login.
        server = Activated(self.listen(), self.path, "--no-auth")
        self.assertEqual(server.end()[0], 0)
        server = Activated(self.listen(str(self.path / "s"), socket.AF_UNIX), self.path, "--no-auth")
        self.assertEqual(server.end()[0], 0)
        # All addresses of the machine do.
        for arguments in (["--no-auth"], []):
            code, said = Activated(self.listen("0.0.0.0"), self.path, *arguments).end()
            self.assertEqual(code, 2, said)
            self.assertIn("can be reached from other machines", said)

    def test_says_what_is_wrong_with_a_descriptor(self):
        deaf = socket.socket()
        self.addCleanup(deaf.close)
        deaf.bind(("127.0.0.1", 0))
        code, said = Activated(deaf, self.path).end()
        self.assertEqual(code, 2, said)
        self.assertIn("fd:3: the socket does not listen", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
