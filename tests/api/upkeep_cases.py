"""What an operator looks after: one worker, and what is deleted."""

import time
import urllib.parse


class UpkeepCases:
    def test_shows_one_worker(self):
        worker = self.api.get("/").json()["worker"]["id"]
        path = f"/workers/{urllib.parse.quote(worker, safe='')}"
        end = time.monotonic() + 20
        while (answer := self.api.get(path)).status == 404:
            self.assertLess(time.monotonic(), end, "the worker never appeared")
        [listed] = [row for row in self.api.get("/workers").json()["items"] if row["id"] == worker]
        # Its heartbeat comes between the two answers.
        moving = ("expires_at", "tasks")
        for row in (found := answer.json(), listed):
            for name in moving:
                row.pop(name)
        self.assertEqual(found, listed)
        self.problem(self.api.get("/workers/none"), 404, "not_found")

    def test_deletes_only_as_many_instances_as_were_seen(self):
        definition = {"workflow": "gone", "steps": [{"savepoint": "here"}]}
        self.assertEqual(self.api.post("/workflows", definition).status, 201)
        ids = [self.api.post("/instances", {"workflow": "gone"}).json()["id"] for _ in range(2)]
        for instance in ids:
            self.assertEqual(self.api.get(f"/instances/{instance}/result", wait="30s").status, 200)
        which = {"workflow": "gone", "older_than": "0s"}
        seen = self.api.post("/purge", {**which, "dry_run": True}).json()
        self.assertEqual((seen["dry_run"], seen["instances"]), (True, 2))
        for wrong in (0, 1, 3):
            answer = self.api.post("/purge", {**which, "confirm": wrong})
            problem = self.problem(answer, 412, "precondition_failed")
            self.assertEqual(problem["matched"], 2)
        self.problem(self.api.post("/purge", {**which, "confirm": "2"}), 400, "invalid_argument")
        self.assertEqual([self.api.get(f"/instances/{each}").status for each in ids], [200, 200])
        done = self.api.post("/purge", {**which, "confirm": 2}).json()
        self.assertEqual((done["dry_run"], done["instances"]), (False, 2))
        self.assertEqual([self.api.get(f"/instances/{each}").status for each in ids], [404, 404])
        # As before this member existed.
        self.assertEqual(self.api.post("/purge", which).json()["instances"], 0)
