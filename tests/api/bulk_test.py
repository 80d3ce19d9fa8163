#!/usr/bin/env python3
"""A bulk operation of a real `ebb serve` that is killed in the middle: bulk_test.py REPOSITORY EBB STORE

The instances fail again as soon as they are requeued, so a second requeue of one would be possible, and
would be in its history. No case waits for a time; limits in minutes only guard against hanging.
"""

import pathlib
import sys
import time
import unittest

from contract import Contract
from world import Client, Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONTRACT = Contract(ROOT)
PATIENCE = 120
COUNT = 3_000
SAD = """
workflow: sad
on_error: dead_letter
steps:
  - fail: always
"""


class Killed(unittest.TestCase):
    def serve(self):
        server = Server(EBB, STORE, self.path, ["--requests-per-second", "0"])
        self.addCleanup(server.stop)
        return server

    def setUp(self):
        folder = Folder()
        self.path = folder.__enter__()
        self.addCleanup(folder.__exit__)
        self.server = self.serve()
        admin = log_in(self.server, CONTRACT)
        self.token = admin("PUT", "/tokens/ops", {"role": "admin"}).json()["token"]
        admin.close()
        self.api = Client(self.server, CONTRACT, token=self.token)
        registered = self.api("POST", "/workflows", SAD, {"Content-Type": "application/yaml"})
        self.assertEqual(registered.status, 201)
        lines = "\n".join(["{}"] * COUNT)
        answer = self.api("POST", "/instances/batch", lines, {"Content-Type": "application/x-ndjson"},
                          {"workflow": "sad"})
        self.ids = [line["id"] for line in answer.lines()]
        self.assertEqual(len(self.ids), COUNT)

    def until(self, bulk, is_reached):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            view = self.api.get(f"/bulk/{bulk}").json()
            if is_reached(view):
                return view
            self.api.get(f"/instances/{bulk}/result", wait="10ms")
        self.fail(f"The operation does not come so far: {view}")

    def test_each_instance_is_requeued_once(self):
        bulk = self.api.post("/bulk", {"action": "requeue", "where": 'workflow == "sad"'}).json()["id"]
        kills = 0
        for goal in (1, COUNT // 3, COUNT // 2):
            view = self.until(bulk, lambda view: view["done"] >= goal or view["status"] == "completed")
            if view["status"] == "completed":
                break
            self.server.process.kill()
            self.server.stop()
            self.api.close()
            kills += 1
            self.server = self.serve()
            self.api = Client(self.server, CONTRACT, token=self.token)
        self.assertGreater(kills, 0, "the operation was over before the server could be killed")
        view = self.until(bulk, lambda view: view["status"] == "completed")
        self.assertEqual((view["matched"], view["done"]), (COUNT, COUNT))
        self.assertEqual((view["skipped"], view["failed"]), (0, 0))
        for each in self.ids:
            path = f"/instances/{each}/history"
            events = self.api.get(path, type="requeued", payloads="full").json()["items"]
            self.assertEqual(len(events), 1, each)
            self.assertIn(bulk, events[0]["payload"]["by"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
