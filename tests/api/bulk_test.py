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
FAILS = """
workflow: fails
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

    def begin(self, workflow, text):
        """Instances of the workflow, which have failed."""
        registered = self.api("POST", "/workflows", text, {"Content-Type": "application/yaml"})
        self.assertEqual(registered.status, 201)
        lines = "\n".join(["{}"] * COUNT)
        answer = self.api("POST", "/instances/batch", lines, {"Content-Type": "application/x-ndjson"},
                          {"workflow": workflow})
        ids = [line["id"] for line in answer.lines()]
        self.assertEqual(len(ids), COUNT)
        return ids

    def until(self, bulk, is_reached):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            view = self.api.get(f"/bulk/{bulk}").json()
            if is_reached(view):
                return view
            self.api.get(f"/instances/{bulk}/result", wait="10ms")
        self.fail(f"The operation does not come so far: {view}")

    def kill_during(self, bulk):
        """The operation, once it has completed: the server was killed in the middle of it."""
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

    def test_each_instance_is_requeued_once(self):
        ids = self.begin("sad", SAD)
        bulk = self.api.post("/bulk", {"action": "requeue", "where": 'workflow == "sad"'}).json()["id"]
        self.kill_during(bulk)
        for each in ids:
            path = f"/instances/{each}/history"
            events = self.api.get(path, type="requeued", payloads="full").json()["items"]
            self.assertEqual(len(events), 1, each)
            self.assertIn(bulk, events[0]["payload"]["by"])

    def test_the_work_of_each_instance_starts_again_once(self):
        ids = self.begin("fails", FAILS)
        bulk = self.api.post("/bulk", {"action": "rerun", "where": 'workflow == "fails"'}).json()["id"]
        self.kill_during(bulk)
        keys, cursor = [], None
        while cursor or not keys:
            query = {"workflow": "fails", "limit": 1000, **({"cursor": cursor} if cursor else {})}
            page = self.api.get("/instances", **query).json()
            keys += [item["key"] for item in page["items"]]
            cursor = page["next_cursor"]
        self.assertEqual(sorted(key for key in keys if key), sorted(f"rerun:{each}" for each in ids))
        self.assertEqual(len(keys), 2 * COUNT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
