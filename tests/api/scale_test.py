#!/usr/bin/env python3
"""Lists among more instances than one request may read: scale_test.py REPOSITORY EBB STORE

A server without handlers gets one instance of a rare workflow, and then 20,500 of another one. No index
finds the rare one, so each request ends early and says so, and clients read on. Last, connections that
have had an answer stay open, and the server's memory is read from the system.
"""

import os
import pathlib
import socket
import subprocess
import sys
import unittest

from contract import Contract
from world import Client, Folder, Server

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
LINES = {"Content-Type": "application/x-ndjson"}
MANY, BATCH = 20_500, 5_125
# A server takes 256 connections of one address.
PER_ADDRESS, ADDRESSES = 250, 4
# A buffer of 4 KiB for the next request would make it 8 KiB.
CONNECTION_BYTES = 7 * 1024


class Scale(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.path = pathlib.Path(folder.__enter__())
        cls.addClassCleanup(folder.__exit__)
        files = []
        for name in ("rare", "common"):
            files.append(str(cls.path / f"{name}.yaml"))
            pathlib.Path(files[-1]).write_text(f"workflow: {name}\nsteps:\n  - signal: go\n")
        flags = ["--no-auth", "--no-worker", "--requests-per-second", "0"]
        cls.server = Server(EBB, STORE, cls.path, flags, files)
        cls.addClassCleanup(cls.server.stop)
        cls.api = Client(cls.server, Contract(ROOT))
        cls.addClassCleanup(cls.api.close)
        cls.rare = cls.api.post("/instances", {"workflow": "rare", "input": {}}).json()["id"]
        for _ in range(MANY // BATCH):
            answer = cls.api.post("/instances/batch", "{}\n" * BATCH, LINES, workflow="common")
            assert answer.status == 201, answer.body

    def pages(self, **query):
        """All pages, until there is no next one."""
        pages, cursor = [], {}
        while not pages or cursor["cursor"]:
            pages.append(self.api.get("/instances", limit=50, **query, **cursor).json())
            cursor = {"cursor": pages[-1]["next_cursor"]}
        return pages

    def test_a_rare_workflow_takes_several_requests_that_say_how_far_they_are(self):
        pages = self.pages(workflow="rare")
        self.assertGreaterEqual(len(pages), 2)
        self.assertEqual([page["complete"] for page in pages], [False] * (len(pages) - 1) + [True])
        self.assertEqual([item["id"] for page in pages for item in page["items"]], [self.rare])
        reached = [page["scanned_to"] for page in pages[:-1]]
        self.assertEqual(reached, sorted(reached, reverse=True))

    def test_the_same_holds_for_a_version_and_for_what_does_not_exist(self):
        for query in ({"version": 7}, {"workflow": "none"}, {"workflow": "rare", "status": "completed"}):
            pages = self.pages(**query)
            self.assertGreaterEqual(len(pages), 2, query)
            self.assertFalse(pages[0]["complete"], query)
            self.assertEqual([page["items"] for page in pages], [[]] * len(pages), query)

    def test_what_an_index_finds_takes_one_request(self):
        for query in ({}, {"workflow": "common"}, {"status": "running"}, {"status": "failed"}):
            page = self.api.get("/instances", limit=50, **query).json()
            self.assertTrue(page["complete"], query)
            self.assertEqual(len(page["items"]), 0 if query.get("status") == "failed" else 50, query)

    def resident(self):
        """Bytes of the server."""
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) * 1024

    def connect(self, count, host):
        """Connections from one address of this machine that wait for their second request."""
        opened = []
        for _ in range(count):
            each = socket.create_connection(("127.0.0.1", self.server.port), 60, (host, 0))
            self.addCleanup(each.close)
            each.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            opened.append(each)
        for each in opened:
            self.assertTrue(each.recv(4096).startswith(b"HTTP/1.1 200"))

    def test_an_idle_connection_takes_little_memory(self):
        maps = pathlib.Path(f"/proc/{self.server.process.pid}/maps").read_text()
        if "libasan" in maps or "libtsan" in maps:
            self.skipTest("a sanitizer keeps what was freed")
        self.connect(PER_ADDRESS, "127.0.0.2")
        before = self.resident()
        for address in range(3, 3 + ADDRESSES):
            self.connect(PER_ADDRESS, f"127.0.0.{address}")
        each = (self.resident() - before) / (PER_ADDRESS * ADDRESSES)
        self.assertLess(each, CONNECTION_BYTES)

    def test_the_command_reads_on(self):
        url = f"http://127.0.0.1:{self.server.port}"
        for arguments in (["-w", "rare", "-o", "name"], ["-w", "rare", "--json"]):
            done = subprocess.run(
                [EBB, "--server", url, "list", *arguments], capture_output=True, text=True, timeout=120,
                check=False, cwd=self.path, env={"PATH": os.environ["PATH"]},
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(self.rare, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
