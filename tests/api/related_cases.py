"""What else has to do with an instance: cases for api_test.py. webhooks_test.py has its deliveries."""

import time

from world import Client

YAML = {"Content-Type": "application/yaml"}
INVOICE = "workflow: invoice\nsteps:\n  - signal: go\n"
SAD = "workflow: sad\non_error: dead_letter\nsteps:\n  - fail: always\n"

MIXED = """
workflow: mixed
steps:
  - step: charge
    max_attempts: 2
    backoff: {initial: 1ms}
  - signal: go
handlers:
  charge:
    exec: [sh, -c, 'input=$(cat); case $input in *good*) echo "$input";; *) exit 1;; esac']
"""


class RelatedCases:
    """The resource /instances/{id}/related."""

    def related(self, instance, api=None):
        answer = (api or self.api).get(f"/instances/{instance}/related")
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(answer.json()["id"], instance)
        return answer.json()

    def register(self, text):
        self.assertIn(self.api("POST", "/workflows", text, YAML).status, (200, 201))

    def with_role(self, role):
        token = self.api("PUT", f"/tokens/related-{role}", {"role": role}).json()["token"]
        self.addCleanup(self.api, "DELETE", f"/tokens/related-{role}")
        client = Client(self.server, self.api.contract, token=token)
        self.addCleanup(client.close)
        return client

    def test_finds_instances_of_other_workflows_with_the_same_key(self):
        self.register(INVOICE)
        order = self.start(key="SO-77")
        self.start(key="SO-78")
        invoice = self.api.post("/instances", {"workflow": "invoice", "key": "SO-77"}).json()["id"]
        self.assertEqual([row["id"] for row in self.related(order)["same_key"]], [invoice])
        [row] = self.related(invoice)["same_key"]
        self.assertEqual((row["id"], row["workflow"], row["key"]), (order, "order", "SO-77"))
        self.assertEqual(self.related(self.start())["same_key"], [])

    def test_names_the_instance_that_it_reruns_and_the_reruns_of_it(self):
        old = self.start()
        self.assertEqual(self.api.post(f"/instances/{old}/abort").status, 200)
        first, second = (self.api.post(f"/instances/{old}/rerun").json()["id"] for _ in range(2))
        self.assertEqual(self.api.post(f"/instances/{second}/abort").status, 200)
        third = self.api.post(f"/instances/{second}/rerun").json()["id"]
        expected = {old: (None, [second, first]), first: (old, []),
                    second: (old, [third]), third: (second, [])}
        for each, (rerun_of, reruns) in expected.items():
            found = self.related(each)
            self.assertEqual((found["rerun_of"], [row["id"] for row in found["reruns"]]), (rerun_of, reruns))
        self.assertEqual(self.api.get(f"/instances/{first}").json()["labels"]["ebb.rerun_of"], old)
        listed = self.api.get("/instances", where=f'labels["ebb.rerun_of"] == "{old}"').json()["items"]
        self.assertEqual([row["id"] for row in listed], [second, first])

    def test_names_who_has_started_it_and_the_bulks_that_acted_on_it(self):
        instance, other = self.start(), self.start()
        client = self.with_role("developer")
        mine = client.post("/instances", {"workflow": "order", "input": {"amount": 1}}).json()["id"]
        self.assertEqual(self.related(mine)["started_by"], "token:related-developer")
        self.until_waiting(instance, "decision")
        bulk = self.api.post("/bulk", {"action": "pause", "ids": [instance]}).json()["id"]
        self.until_status(instance, "paused")
        # Only what says that it is a bulk is one.
        self.api.post(f"/instances/{instance}/resume")
        [act] = self.related(instance)["bulks"]
        self.assertEqual((act["id"], act["type"]), (bulk, "paused"))
        event = self.api.get(f"/instances/{instance}/history", after=act["event"] - 1).json()["items"][0]
        self.assertEqual((event["type"], event["at"]), ("paused", act["at"]))
        self.assertIn(bulk, act["by"])
        self.assertEqual(self.related(other)["bulks"], [])

    def until_status(self, instance, status):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            view = self.api.get(f"/instances/{instance}").json()
            if view["status"] == status:
                return view
            # Ask the server to wait, so that this loop does not spin.
            self.api.get(f"/instances/{instance}/result", wait="20ms")
        self.fail(f"{instance} does not become {status}: {view}")

    def test_the_group_of_a_failure_is_that_of_the_list(self):
        self.register(SAD)
        sad = self.api.post("/instances", {"workflow": "sad"}).json()["id"]
        self.until_status(sad, "dead_letter")
        group = self.related(sad)["failure_group"]
        listed = self.api.get(f"/failures/{group}").json()["items"]
        self.assertIn(sad, [item["instance"] for item in listed])
        self.assertIsNone(self.related(self.start())["failure_group"])

    def test_the_figures_of_the_steps_are_those_of_the_newest_instances(self):
        self.register(MIXED)
        for value in ("good", "good", "bad"):
            instance = self.api.post("/instances", {"workflow": "mixed", "input": value}).json()["id"]
            if value == "bad":
                self.until_status(instance, "failed")
            else:
                self.until_waiting(instance, "signal")
        stats = self.api.get("/workflows/mixed/versions/1/steps")
        self.assertEqual(stats.status, 200, stats.body)
        stats = stats.json()
        self.assertEqual((stats["instances"], stats["left_out"], stats["complete"]), (3, 0, True))
        charge, go = stats["items"]
        names = ("visits", "attempts", "retried", "failed", "compensated", "open")
        counts = lambda item: [item[name] for name in names]
        self.assertEqual((charge["node"], counts(charge)), ("charge", [3, 4, 1, 1, 0, 0]))
        self.assertLessEqual(charge["p50_seconds"], charge["p95_seconds"])
        self.assertGreaterEqual(charge["wait_p95_seconds"], 0)
        self.assertEqual((go["node"], go["kind"], counts(go)[0], go["open"]), ("go", "signal", 2, 2))
        self.assertEqual((go["p50_seconds"], go["wait_p95_seconds"]), (None, None))
        self.problem(self.api.get("/workflows/mixed/versions/9/steps"), 404, "workflow_not_found")

    def test_deliveries_are_for_those_who_may_see_webhooks(self):
        instance = self.start()
        self.assertEqual(self.related(instance)["deliveries"], {"items": [], "complete": True})
        self.assertIsNone(self.related(instance, self.with_role("viewer"))["deliveries"])
