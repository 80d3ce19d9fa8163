"""The permissions to start work and to repeat it. A starter (a program) sees only what it has started.
These are cases for access_test.py."""

import json
import urllib.parse

OURS, THEIRS = "billing.invoice", "payroll.run"
LINES = {"Content-Type": "application/x-ndjson"}


class StarterCases:
    """`ours` and `theirs` name workflows of AccessTest, of which an administrator has started instances."""

    def begin(self, client, workflow=OURS, **more):
        answer = client.post("/instances", {"workflow": workflow, "input": {"amount": 7}, **more})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()["id"]

    def test_a_starter_sees_its_own_instances_only(self):
        client, other = self.client("app", "starter"), self.client("app2", "starter")
        mine, not_mine = self.begin(client, key="own-1"), self.begin(other)
        view = client.get(f"/instances/{mine}").json()
        self.assertEqual(view["input"], {"amount": 7})
        self.assertEqual(view["labels"], {"ebb.started_by": "token:app"})
        for path in ("", "/history", "/why", "/related", "/steps", "/graph", "/result"):
            self.assertIn(client.get(f"/instances/{mine}{path}").status, (200, 202), path)
            for id in (not_mine, self.ours, self.theirs):
                self.problem(client.get(f"/instances/{id}{path}"), 404, "instance_not_found")
        self.problem(client.post(f"/instances/{not_mine}/signal", {"name": "go"}), 404, "instance_not_found")
        # It is asked whether the instance waits for the signal, so it may send one.
        self.problem(client.post(f"/instances/{mine}/signal", {"name": "go"}), 409, "not_waiting")
        self.problem(client.post(f"/instances/{mine}/cancel"), 403, "not_allowed")
        key = urllib.parse.quote(f"key:{OURS}/own-1", safe="")
        self.assertEqual(client.get(f"/instances/{key}").json()["id"], mine)
        # Word for word what is said of a key that no instance has.
        unused = urllib.parse.quote(f"key:{OURS}/own-2", safe="")
        for path in ("", "/history", "/result"):
            said = [other.get(f"/instances/{one}{path}").json()["detail"] for one in (key, unused)]
            self.assertEqual(said[0], said[1], path)
        sent = [other.post(f"/instances/{one}/signal", {"name": "go"}).json() for one in (key, unused)]
        self.assertEqual(sent[0]["detail"], sent[1]["detail"])
        self.problem(other.get(f"/instances/{key}"), 404, "instance_not_found")
        beginning = not_mine.replace("-", "")[:28]
        self.problem(client.get(f"/instances/{beginning}"), 404, "instance_not_found")
        self.assertEqual(client.get(f"/instances/{mine.replace('-', '')[:28]}").json()["id"], mine)

    def test_lists_of_a_starter_have_its_own_instances_only(self):
        client = self.client("lister", "starter")
        self.assertEqual(client.get("/instances").json()["items"], [])
        mine = [self.begin(client), self.begin(client, THEIRS)]
        lines = client("POST", "/instances/batch", "1\n2", LINES, {"workflow": OURS})
        mine += [json.loads(line)["id"] for line in lines.body.splitlines()]
        self.assertEqual(set(self.ids(client.get("/instances", limit=1000))), set(mine))
        self.assertEqual(self.ids(client.get("/instances", workflow=THEIRS)), [mine[1]])
        self.assertEqual(len(self.ids(client.get("/instances", where="status == 'running'"))), 4)
        self.assertEqual(client.get("/instances/count").json()["total"], 4)
        self.problem(client.get("/instances", count="exact"), 400, "invalid_argument")
        self.assertEqual(client.get("/search", q=self.ours).json()["items"], [])
        self.assertEqual(len(client.get("/search", q=mine[0]).json()["items"]), 1)
        self.assertEqual(client.get("/failures/groups").json()["items"], [])

    def test_a_starter_of_one_project_may_be_the_viewer_of_another(self):
        client = self.client("mixed", "starter", project="billing")
        mine = self.begin(client)
        self.problem(client.post("/instances", {"workflow": THEIRS}), 404, "workflow_not_found")
        self.assertIn(self.api("PUT", "/projects/payroll", {"workflows": ["payroll.*"]}).status, (200, 201))
        grant = {"subject": "token:mixed", "role": "viewer", "project": "payroll"}
        self.assertIn(self.api("PUT", "/grants/mixed", grant).status, (200, 201))
        self.addCleanup(self.api, "DELETE", "/grants/mixed")
        seen = set(self.ids(client.get("/instances", limit=1000)))
        payroll = self.ids(self.api.get("/instances", workflow=THEIRS, limit=1000))
        self.assertEqual(seen, {mine, *payroll})
        self.assertEqual(client.get(f"/instances/{self.theirs}").status, 200)
        self.assertIn("$hidden", client.get(f"/instances/{self.theirs}").json()["input"])
        self.problem(client.get(f"/instances/{self.ours}"), 404, "instance_not_found")

    def test_a_key_of_another_instance_yields_no_result_and_the_label_is_not_given_away(self):
        client, other = self.client("keys", "starter"), self.client("keys2", "starter")
        first = self.begin(client, key="shared")
        start = {"workflow": OURS, "key": "shared", "input": {"amount": 7}}
        # Neither the id nor whether the input was guessed.
        for input in ({"amount": 7}, {"amount": 8}):
            for query in ({}, {"wait": "1ms"}):
                again = other("POST", "/instances", {**start, "input": input}, query=query)
                self.problem(again, 403, "not_allowed")
                self.assertNotIn(first, again.body)
        mine = client.post("/instances", start)
        self.assertEqual((mine.status, mine.json()["id"], mine.json()["is_new"]), (200, first, False))
        labels = {"ebb.started_by": "token:keys"}
        labelled = other.post("/instances", {"workflow": OURS, "labels": labels})
        self.problem(labelled, 400, "invalid_argument")

    def test_an_operator_repeats_work_and_starts_none_of_its_own(self):
        client = self.client("rerunner", "operator", project="billing")
        old = self.start(OURS)
        self.assertEqual(self.api.post(f"/instances/{old}/cancel").status, 200)
        again = client.post(f"/instances/{old}/rerun")
        self.assertEqual(again.status, 201, again.body)
        for body in ({"input": {"amount": 9}}, {"version": 1}):
            [name] = body
            problem = self.problem(client.post(f"/instances/{old}/rerun", body), 403, "not_allowed")
            self.assertIn(f"another {name}", problem["detail"])
            self.assertIn("instances.start", problem["detail"])
        self.problem(client.post("/instances", {"workflow": OURS, "input": {}}), 403, "not_allowed")
        dry = client.post("/bulk", {"action": "rerun", "where": "true", "dry_run": True})
        self.assertEqual(dry.status, 200, dry.body)
        developer = self.client("rerun-developer", "developer")
        self.assertEqual(developer.post(f"/instances/{old}/rerun", {"input": {"amount": 9}}).status, 201)
        viewer = self.client("rerun-viewer", "viewer")
        self.problem(viewer.post(f"/instances/{old}/rerun"), 403, "not_allowed")
