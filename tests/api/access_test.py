#!/usr/bin/env python3
"""Who may do what on a real `ebb serve`: access_test.py REPOSITORY EBB STORE

The authorization matrix is made of the OpenAPI document and the table of docs/reference/roles.md: every
operation, for every role, everywhere and in a project, on what is in the project and on what is not.
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import urllib.parse

from contract import Contract
from hidden_cases import HiddenCases
from starter_cases import StarterCases
from world import Client, Folder, Server, database, get_with_headers, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONTRACT = Contract(ROOT)
ROLES = ("viewer", "approver", "operator", "developer", "admin", "worker", "starter")
FLOW = """
workflow: {name}
steps:
  - decision: approve
    roles: [boss, clerk]
"""
OURS, THEIRS = "billing.invoice", "payroll.run"
YAML = {"Content-Type": "application/yaml"}
LINES = {"Content-Type": "application/x-ndjson"}


def documented_roles():
    """The permissions of each role, as the page says."""
    page = (ROOT / "docs/reference/roles.md").read_text()
    table = {role: set() for role in ROLES}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != len(ROLES) + 1 or not re.fullmatch(r"`[a-z.]+`", cells[0]):
            continue
        for role, cell in zip(ROLES, cells[1:]):
            if cell:
                table[role].add(cells[0].strip("`"))
    return table


class AccessTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.path = cls.folder.__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.server = Server(EBB, STORE, cls.path, ["--requests-per-second", "0", "--no-worker"])
        cls.addClassCleanup(cls.server.stop)
        cls.api = log_in(cls.server, CONTRACT)
        cls.addClassCleanup(cls.api.close)
        for name in (OURS, THEIRS):
            answer = cls.api("POST", "/workflows", FLOW.format(name=name), YAML)
            assert answer.status in (200, 201), answer.body
        project = {"title": "Billing", "workflows": ["billing.*"], "queues": ["billing"]}
        assert cls.api("PUT", "/projects/billing", project).status == 201
        cls.ours, cls.theirs = cls.start(OURS), cls.start(THEIRS)

    @classmethod
    def start(cls, workflow, **more):
        answer = cls.api.post("/instances", {"workflow": workflow, "input": {"amount": 1}, **more})
        assert answer.status == 201, answer.body
        return answer.json()["id"]

    def client(self, name, role, **more):
        self.api("DELETE", f"/tokens/{name}")
        answer = self.api("PUT", f"/tokens/{name}", {"role": role, **more})
        self.assertEqual(answer.status, 201, answer.body)
        client = Client(self.server, CONTRACT, token=answer.json()["token"])
        self.addCleanup(client.close)
        return client

    def problem(self, answer, status, code):
        self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer.body)
        return answer.json()

    def ids(self, answer):
        self.assertEqual(answer.status, 200, answer.body)
        return [item.get("id", item.get("instance")) for item in answer.json()["items"]]

    def ebb(self, *arguments, code=0):
        command = [EBB, *arguments, "--db", database(STORE, self.path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr


# What a request needs besides its path to come as far as the question whether it is allowed.
BODIES = {
    "startInstance": lambda workflow: {"workflow": workflow, "version": 99},
    "importInstance": lambda workflow: {"workflow": {"name": workflow}},
    "registerWorkflow": lambda workflow: {"workflow": workflow, "steps": ["other"]},
    "purge": lambda workflow: {"workflow": workflow, "older_than": "1d", "dry_run": True},
}
# They answer without an end, end the caller's own login, or have a login of their own.
SKIPPED = {"streamInstance", "streamTopics", "login", "logout", "getCallback", "answerCallback"}
# They have neither an instance nor a workflow in their path or body, and show what is in the grants.
FILTERED = {"listWorkflows", "validateWorkflow", "rehearseWorkflow", "evaluateExpressions",
            "listRetention", "listInstances", "countInstances", "getStats", "getActivity",
            "listDelayed", "listQueues", "search", "listDecisions", "listFailureGroups",
            "listFailures", "listAudit", "startBulk", "listBulks", "getBulk", "pauseBulk",
            "resumeBulk", "cancelBulk", "continueBulk"}


class Matrix(AccessTest):
    def request(self, client, method, path, operation, instance, workflow):
        name = operation["operationId"]
        about_workflow = path.startswith("/workflows")
        concrete = path.replace("{id}", instance if path.startswith("/instances") else "none")
        concrete = concrete.replace("{name}", workflow if about_workflow else "none")
        concrete = concrete.replace("{seq}", "1").replace("{version}", "1")
        concrete = concrete.replace("{group}", "0123456789abcdef")
        if "/queues/" in path:
            concrete = f"/queues/{workflow.split('.')[0]}"
        query, headers = {}, {}
        body = {"~": 1} if "requestBody" in operation else None
        if name in BODIES:
            body = BODIES[name](workflow)
        elif name == "startInstances":
            query, headers, body = {"workflow": workflow, "version": 99}, LINES, "1"
        return client(method, concrete, body, headers, query)

    def expected(self, operation, path, role, is_everywhere, is_inside):
        """Whether it is refused: 403, 404, or 0 for neither."""
        permission = operation["x-ebb-permission"]
        if permission not in documented_roles()[role] | {"any", "none"}:
            return 403
        # The instances here were started by an administrator.
        if role == "starter" and path.startswith("/instances/{id}"):
            return 404
        if is_everywhere or permission in ("any", "none"):
            return 0
        if operation["x-ebb-reach"] == "server":
            return 403
        if is_inside or operation["operationId"] in FILTERED:
            return 0
        # A queue is not a secret: its name is in definitions.
        return 403 if operation["operationId"] in ("setQueue", "clearQueue") else 404

    def cells(self, role, client, is_everywhere):
        for method, _, _, path, operation in CONTRACT.operations:
            if operation["operationId"] in SKIPPED:
                continue
            for instance, workflow in ((self.ours, OURS), (self.theirs, THEIRS)):
                is_inside = workflow == OURS
                answer = self.request(client, method, path, operation, instance, workflow)
                expected = self.expected(operation, path, role, is_everywhere, is_inside)
                what = f"{role} {'everywhere' if is_everywhere else 'in billing'}: {method} {path} {workflow}"
                code = answer.json()["code"] if answer.status >= 400 else ""
                if expected == 403:
                    self.assertEqual((answer.status, code), (403, "not_allowed"), what)
                elif expected == 404:
                    self.assertEqual(answer.status, 404, f"{what}: {answer.body}")
                else:
                    self.assertNotIn(answer.status, (401, 403), f"{what}: {answer.body}")
                    is_missing = code in ("instance_not_found", "workflow_not_found")
                    is_else = operation["operationId"] in ("startInstance", "startInstances")
                    is_else = is_else or path.startswith("/bulk/")
                    self.assertFalse(is_missing and not is_else, f"{what}: {answer.body}")
                yield

    def test_every_operation_for_every_role(self):
        count = 0
        for role in ROLES:
            client = self.client(f"all-{role}", role)
            count += sum(1 for _ in self.cells(role, client, True))
            if role == "worker":
                continue
            # What this has changed must not change what comes next.
            client = self.client(f"some-{role}", role, project="billing")
            count += sum(1 for _ in self.cells(role, client, False))
        self.assertGreater(count, len(ROLES) * len(CONTRACT.operations))

    def test_roles_have_the_permissions_of_the_page(self):
        for role, permissions in documented_roles().items():
            me = self.client(f"me-{role}", role).get("/me").json()
            self.assertEqual(set(me["permissions"]), permissions, role)

    def test_every_permission_of_the_document_is_on_the_page(self):
        known = set().union(*documented_roles().values()) | {"any", "none"}
        used = {operation["x-ebb-permission"] for *_, operation in CONTRACT.operations}
        self.assertEqual(used - known, set())


class ThreatTable(unittest.TestCase):
    def test_every_row_names_tests_that_exist(self):
        page = (ROOT / "docs/security.md").read_text().split("## Threats to the server")[1].split("\n## ")[0]
        rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")][1:]
        self.assertGreater(len(rows), 15)
        for row in rows:
            found = 0
            for part in row[3].split(";"):
                [(folder, name)] = re.findall(r"`(api/|style/|unit_)(\w+)`", part)
                if folder == "unit_":
                    paths = sorted((ROOT / "tests/unit" / name).glob("*.cpp"))
                else:
                    places = [ROOT / "tests" / folder / f"{name}{end}.py" for end in ("_test", "")]
                    paths = [path for path in places if path.exists()]
                    self.assertEqual(len(paths), 1, row[1])
                text = "\n".join(path.read_text() for path in paths)
                for test in re.findall(r"`(test_\w+)`", part):
                    self.assertIn(f"def {test}(", text, row[1])
                    found += 1
                for suite, test in re.findall(r"`(\w+)\.(\w+)`", part):
                    self.assertRegex(text, rf"TEST(_F)?\({suite}, {test}\)", row[1])
                    found += 1
            self.assertGreater(found, 0, row[1])


class Starters(StarterCases, AccessTest):
    """See there."""


class Projects(AccessTest):
    def test_lists_have_only_what_is_in_the_project(self):
        client = self.client("reader", "operator", project="billing")
        self.assertEqual(self.ids(client.get("/instances", limit=1000)), self.ids(
            self.api.get("/instances", workflow=OURS, limit=1000)))
        self.assertEqual(client.get("/instances", workflow=THEIRS).json()["items"], [])
        both = client.get("/instances", workflow=f"{OURS},{THEIRS}", count="exact").json()
        alone = self.api.get("/instances", workflow=OURS, count="exact").json()
        self.assertEqual(both["total"], alone["total"])
        self.assertEqual([row["name"] for row in client.get("/workflows").json()["items"]], [OURS])
        self.assertEqual({row["workflow"] for row in client.get("/decisions").json()["items"]}, {OURS})
        self.assertEqual(client.get("/decisions", workflow=THEIRS).json()["items"], [])
        self.assertEqual(client.get("/search", q=self.theirs).json()["items"], [])
        self.assertEqual(client.get("/search", q="payroll").json()["items"], [])
        self.assertEqual(len(client.get("/search", q=self.ours).json()["items"]), 1)
        stats = client.get("/stats").json()
        self.assertEqual(stats["workflows"], 1)
        self.assertEqual(sum(stats["instances"].values()), alone["total"])
        end = time.monotonic() + 30
        while (activity := client.get("/stats/activity").json())["all"]["total"]["started"] < alone["total"]:
            self.assertLess(time.monotonic(), end, activity)
        self.assertEqual([one["workflow"] for one in activity["workflows"]], [OURS])
        self.assertEqual(activity["all"]["total"]["started"], alone["total"])
        self.problem(client.get("/stats/activity", workflow=THEIRS), 404, "workflow_not_found")

    def test_a_bulk_operation_has_only_what_is_in_the_project(self):
        client = self.client("bulk-some", "operator", project="billing")
        dry = client.post("/bulk", {"action": "pause", "where": "true", "dry_run": True}).json()
        alone = self.api.get("/instances", workflow=OURS, count="exact").json()
        self.assertEqual(dry["matched"], alone["total"])
        self.assertEqual({item["workflow"] for item in dry["samples"]}, {OURS})
        named = client.post("/bulk", {"action": "pause", "ids": [self.theirs], "dry_run": True}).json()
        self.assertEqual(named["matched"], 0)
        mine = client.post("/bulk", {"action": "pause", "ids": [self.theirs, self.ours]})
        self.assertEqual(mine.status, 202, mine.body)
        other = self.api.post("/bulk", {"action": "resume", "ids": [self.theirs]}).json()["id"]
        # Users whose grants are in projects see what they have started.
        self.assertEqual(self.ids(client.get("/bulk")), [mine.json()["id"]])
        self.problem(client.get(f"/bulk/{other}"), 404, "instance_not_found")
        self.problem(client.post(f"/bulk/{other}/cancel"), 404, "instance_not_found")
        self.assertTrue({other, mine.json()["id"]} <= set(self.ids(self.api.get("/bulk"))))
        # The audit says what was done, and has no row for a dry run.
        rows = [row for row in self.api.get("/audit", action="startBulk", limit=100).json()["items"]
                if row["principal"].endswith("bulk-some")]
        bulk = mine.json()["id"]
        self.assertEqual([row["detail"] for row in rows], [{"bulk": bulk, "action": "pause", "instances": 2}])
        self.assertEqual([row["bulk"] for row in rows], [bulk])
        view = client.get(f"/bulk/{mine.json()['id']}").json()
        for _ in range(600):
            if view["status"] == "completed":
                break
            self.api.get(f"/instances/{view['id']}/result", wait="50ms")
            view = client.get(f"/bulk/{view['id']}").json()
        self.assertEqual((view["done"], view["skipped"]), (1, 1), view)
        [skip] = view["skips"]
        self.assertEqual((skip["id"], skip["code"]), (self.theirs, "instance_not_found"))
        self.assertEqual(self.api.get(f"/instances/{self.theirs}").json()["status"], "running")
        self.assertEqual(client.post(f"/instances/{self.ours}/resume").status, 200)
        # Who may not do it to one instance may not do it to many.
        viewer = self.client("bulk-viewer", "viewer")
        self.problem(viewer.post("/bulk", {"action": "pause", "where": "true"}), 403, "not_allowed")

    def test_a_filter_names_several_workflows(self):
        ids = self.ids(self.api.get("/instances", workflow=f"{OURS},{THEIRS}", limit=1000))
        self.assertTrue({self.ours, self.theirs} <= set(ids))
        waiting = self.api.get("/decisions", workflow=f"{OURS},{THEIRS}").json()["items"]
        self.assertEqual({row["workflow"] for row in waiting}, {OURS, THEIRS})

    def test_pages_of_a_list_that_is_limited_fit_together(self):
        for _ in range(3):
            self.start(OURS), self.start(THEIRS)
        client = self.client("pager", "viewer", project="billing")
        seen, cursor = [], None
        while True:
            page = client.get("/instances", limit=2, **({"cursor": cursor} if cursor else {})).json()
            seen += [row["id"] for row in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        self.assertEqual(seen, self.ids(self.api.get("/instances", workflow=OURS, limit=1000)))

    def test_what_one_may_not_see_looks_like_what_does_not_exist(self):
        client = self.client("stranger", "operator", project="billing")
        unknown = "019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d"
        for path in ("", "/history", "/why", "/related", "/steps", "/result", "/events"):
            hidden = self.problem(client.get(f"/instances/{self.theirs}{path}"), 404, "instance_not_found")
            missing = self.problem(client.get(f"/instances/{unknown}{path}"), 404, "instance_not_found")
            for problem in (hidden, missing):
                del problem["request_id"], problem["instance"]
                problem["detail"] = problem["detail"].replace(self.theirs, "ID").replace(unknown, "ID")
            self.assertEqual(hidden, missing)
        key = urllib.parse.quote(f"key:{THEIRS}/k1", safe="")
        self.start(THEIRS, key="k1")
        self.problem(client.get(f"/instances/{key}"), 404, "instance_not_found")
        self.problem(client.get(f"/workflows/{THEIRS}"), 404, "workflow_not_found")

    def test_the_beginning_of_an_id_finds_only_what_one_may_see(self):
        client = self.client("prefix", "viewer", project="billing")
        self.assertEqual(client.get(f"/instances/{self.ours}").json()["id"], self.ours)
        # With random digits: ids of the same millisecond begin alike.
        beginning = self.theirs.replace("-", "")[:28]
        self.assertEqual(self.api.get(f"/instances/{beginning}").json()["id"], self.theirs)
        self.problem(client.get(f"/instances/{beginning}"), 404, "instance_not_found")

    def test_one_may_see_what_one_may_not_change(self):
        client = self.client("looker", "viewer", project="billing")
        self.problem(client.post(f"/instances/{self.ours}/cancel"), 403, "not_allowed")
        self.problem(client.post(f"/instances/{self.theirs}/cancel"), 403, "not_allowed")
        self.assertEqual(client.get(f"/instances/{self.ours}").status, 200)

    def test_a_role_in_another_project_does_not_help(self):
        self.assertIn(self.api("PUT", "/projects/payroll", {"workflows": ["payroll.*"]}).status, (200, 201))
        client = self.client("both", "viewer", project="billing")
        grant = {"subject": "token:both", "role": "operator", "project": "payroll"}
        self.assertIn(self.api("PUT", "/grants/both", grant).status, (200, 201))
        self.problem(client.post(f"/instances/{self.ours}/pause"), 403, "not_allowed")
        self.assertEqual(client.post(f"/instances/{self.theirs}/pause").status, 200)
        self.assertEqual(client.post(f"/instances/{self.theirs}/resume").status, 200)
        self.assertEqual(self.api("DELETE", "/grants/both").status, 204)
        self.problem(client.get(f"/instances/{self.theirs}"), 404, "instance_not_found")

    def test_live_streams_have_only_what_is_in_the_project(self):
        client = self.client("watcher", "viewer", project="billing")
        topics = [f"instance:{self.theirs}@0", "list:limit=100", "workers"]
        query = urllib.parse.urlencode({"topic": topics}, doseq=True)
        client.connection.request("GET", f"/api/v1/events?{query}",
            headers={"Authorization": f"Bearer {client.token}"})
        stream = client.connection.getresponse()
        hello, lists = None, None
        event = ""
        for raw in stream:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                event = line[7:]
            elif line.startswith("data: ") and event == "hello":
                hello = json.loads(line[6:])
            elif line.startswith("data: ") and event == "list":
                lists = json.loads(line[6:])
                break
        codes = [topic.get("problem", {}).get("code") for topic in hello["topics"]]
        self.assertEqual(codes, ["instance_not_found", None, "not_allowed"])
        # In the words of the request for the same.
        asking = Client(self.server, CONTRACT, token=client.token)
        self.addCleanup(asking.close)
        detail = self.problem(asking.get("/workers"), 403, "not_allowed")["detail"]
        self.assertEqual(hello["topics"][2]["problem"]["detail"], detail)
        self.assertEqual({row["workflow"] for row in lists["items"]}, {OURS})

    def test_a_stream_ends_when_its_token_is_revoked(self):
        client = self.client("short", "viewer")
        client.connection.request("GET", f"/api/v1/instances/{self.ours}/events",
            headers={"Authorization": f"Bearer {client.token}"})
        stream = client.connection.getresponse()
        self.assertEqual(stream.status, 200)
        self.assertEqual(self.api("DELETE", "/tokens/short").status, 204)
        # Ends the loop only when the server closes the stream; the socket's timeout guards it.
        self.assertNotIn("event: end", [line.decode().strip() for line in stream])

    def test_says_what_is_wrong_with_a_project_or_a_grant(self):
        put = lambda path, body: self.problem(self.api("PUT", path, body), 400, "invalid_argument")["detail"]
        self.assertIn("workflows", put("/projects/p", {"workflows": []}))
        self.assertIn("commas", put("/projects/p", {"workflows": ["a,b"]}))
        self.assertIn("letters", put("/projects/p%20q", {"workflows": ["a"]}))
        grant = {"subject": "user:ann", "role": "viewer"}
        self.assertIn("group:NAME", put("/grants/g", {**grant, "subject": "ann"}))
        self.assertIn('project "none"', put("/grants/g", {**grant, "project": "none"}))
        self.assertIn("role", put("/grants/g", {**grant, "role": "boss"}))
        self.assertIn("worker", put("/grants/g", {**grant, "handlers": ["a"]}))
        self.assertIn("handlers", put("/grants/g", {**grant, "role": "worker", "project": "billing"}))
        used = {**grant, "project": "billing"}
        self.assertEqual(self.api("PUT", "/grants/used", used).status, 201)
        self.assertEqual(self.api("PUT", "/grants/used", used).status, 200)
        self.assertEqual(self.ids(self.api.get("/grants", subject="user:ann")), ["used"])
        self.problem(self.api("DELETE", "/projects/billing"), 409, "conflict")
        self.assertEqual(self.api("DELETE", "/grants/used").status, 204)
        self.assertIn("billing", [row["name"] for row in self.api.get("/projects").json()["items"]])
        self.assertEqual(self.api("PUT", "/projects/brief", {"workflows": ["x"]}).status, 201)
        self.assertEqual(self.api("PUT", "/projects/brief", {"workflows": ["y"]}).status, 200)
        self.assertEqual(self.api("DELETE", "/projects/brief").status, 204)

    def test_the_command_changes_projects_and_grants(self):
        if STORE == "memory":
            return
        self.ebb("project", "set", "ops", "--workflows", "ops.*", "--queues", "slow")
        self.assertIn("ops.*", self.ebb("project"))
        self.ebb("grant", "set", "ann-ops", "--subject", "user:ann", "--role", "viewer", "--project", "ops")
        self.assertIn("user:ann", self.ebb("grant"))
        self.ebb("project", "remove", "ops", code=4)
        self.ebb("grant", "remove", "ann-ops")
        self.ebb("project", "remove", "ops")
        self.ebb("grant", "set", "x", "--subject", "ann", "--role", "viewer", code=2)
        created = self.ebb("token", "create", "cli", "--role", "viewer", "--project", "billing", "--json")
        token = json.loads(created)
        client = Client(self.server, CONTRACT, token=token["token"])
        self.addCleanup(client.close)
        self.assertEqual([row["name"] for row in client.get("/workflows").json()["items"]], [OURS])


class Decisions(AccessTest):
    def by(self, instance):
        events = self.api.get(f"/instances/{instance}/history", type="decision_made").json()["items"]
        return [(event["payload"]["by"], event["payload"]["role"]) for event in events]

    def test_a_decision_has_the_name_and_the_role_of_its_author(self):
        instance = self.start(OURS)
        clerk = self.client("clerk", "approver", project="billing", decision_roles=["clerk"])
        refused = clerk.post(f"/instances/{instance}/decide", {"verdict": "confirm", "role": "boss"})
        self.problem(refused, 403, "not_allowed")
        foreign = clerk.post(f"/instances/{self.theirs}/decide", {"verdict": "confirm"})
        self.problem(foreign, 404, "instance_not_found")
        done = clerk.post(f"/instances/{instance}/decide", {"verdict": "confirm"})
        self.assertEqual(done.status, 200, done.body)
        self.assertEqual(self.by(instance), [("token:clerk", "clerk")])

    def test_only_who_may_act_as_another_names_another(self):
        instance = self.start(OURS)
        body = {"verdict": "confirm", "role": "boss", "by": "user:carol"}
        self.problem(self.api.post(f"/instances/{instance}/decide", body), 403, "not_allowed")
        shop = self.client("shop", "approver", act_as=True)
        self.assertIn("act_as", shop.get("/me").json()["permissions"])
        done = shop.post(f"/instances/{instance}/decide", body)
        self.assertEqual(done.status, 200, done.body)
        self.assertEqual(self.by(instance), [("user:carol", "boss")])
        row = self.api.get("/audit", action="actAs", limit=1).json()["items"][0]
        self.assertEqual((row["principal"], row["detail"]), ("token:shop", {"by": "user:carol"}))


class AuditTest(AccessTest):
    def rows(self, **query):
        return self.api.get("/audit", **query).json()["items"]

    def test_has_every_act_with_its_author_and_outcome(self):
        instance = self.start(OURS)
        self.api.post(f"/instances/{instance}/pause", {"reason": "a secret reason"})
        path = f"/api/v1/instances/{instance}/pause"
        [row] = self.rows(target=path)
        self.assertEqual((row["action"], row["outcome"], row["workflow"]), ("pauseInstance", "allowed", OURS))
        self.assertTrue(row["principal"].startswith("user:"))
        self.assertEqual(row["credential"], "session")
        self.assertNotIn("secret", json.dumps(self.rows(limit=1000)))
        self.api.post(f"/instances/{instance}/signal", {"name": "none", "~": 1})
        failed, allowed = self.rows(target=f"/api/v1/instances/{instance}/signal")
        self.assertEqual((failed["outcome"], allowed["outcome"]), ("failed", "allowed"))
        self.assertEqual(failed["detail"], {"status": 400, "code": "unknown_field"})
        self.assertEqual(failed["request_id"], allowed["request_id"])
        viewer = self.client("peeper", "viewer")
        self.problem(viewer.post(f"/instances/{instance}/abort"), 403, "not_allowed")
        [row] = self.rows(target=f"/api/v1/instances/{instance}/abort")
        self.assertEqual((row["outcome"], row["principal"]), ("refused", "token:peeper"))
        self.assertEqual(self.api.get(f"/instances/{instance}/history/1/payload").status, 200)
        [row] = self.rows(action="getPayload", limit=1)
        self.assertEqual(row["outcome"], "allowed")
        self.assertTrue(self.rows(action="loggedIn"))
        token = self.api("PUT", "/tokens/secretly", {"role": "viewer"}).json()["token"]
        self.assertNotIn(token, json.dumps(self.rows(limit=1000)))

    def test_pages_by_a_cursor(self):
        for _ in range(5):
            self.start(OURS)
        everything = [row["id"] for row in self.rows(limit=1000)]
        seen, cursor = [], None
        while True:
            page = self.api.get("/audit", limit=2, **({"cursor": cursor} if cursor else {})).json()
            seen += [row["id"] for row in page["items"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        self.assertEqual(seen, everything)
        lines = self.api.get("/audit", limit=1000, format="ndjson").lines()
        self.assertEqual([row["id"] for row in lines], everything)
        self.problem(self.api.get("/audit", cursor="x"), 400, "invalid_argument")

    def test_an_operator_of_a_project_sees_its_rows_only(self):
        for instance in (self.ours, self.theirs):
            self.api.post(f"/instances/{instance}/signal", {"name": "x"})
        client = self.client("auditor", "operator", project="billing")
        rows = client.get("/audit", limit=1000).json()["items"]
        self.assertEqual({row["workflow"] for row in rows}, {OURS})
        self.assertEqual(client.get("/audit", workflow=THEIRS).json()["items"], [])

    def test_a_chain_that_was_tampered_with_is_found(self):
        if STORE != "sqlite":
            return
        import sqlite3

        def verify(code, *arguments):
            return json.loads(self.ebb("audit", "--verify", "--json", *arguments, code=code))

        for _ in range(4):
            self.start(OURS)
        rows = self.rows(limit=1000)
        good = verify(0, "--anchor", rows[0]["hash"])
        self.assertEqual((good["faults"], good["rows"]), ([], len(rows)))
        self.assertTrue(verify(1, "--anchor", "0" * 64)["faults"])
        database_file = sqlite3.connect(pathlib.Path(self.path, "ebb.db"), timeout=30)
        self.addCleanup(database_file.close)
        middle = rows[2]
        columns = "at, principal, credential, remote, request_id, action, target, workflow, outcome, " \
            "detail, chain, number, prev, hash"

        def tamper(statement, *values):
            with database_file:
                database_file.execute("CREATE TABLE kept AS SELECT * FROM audit")
                database_file.execute(statement, values)
            faults = verify(1)["faults"]
            with database_file:
                database_file.execute("DELETE FROM audit")
                database_file.execute("INSERT INTO audit SELECT * FROM kept")
                database_file.execute("DROP TABLE kept")
            return faults

        changed = tamper("UPDATE audit SET principal = 'user:other' WHERE id = ?", middle["id"])
        self.assertEqual([fault["row"] for fault in changed], [middle["id"]])
        removed = tamper("DELETE FROM audit WHERE id = ?", middle["id"])
        self.assertEqual([fault["row"] for fault in removed], [rows[1]["id"]])
        inserted = tamper(f"INSERT INTO audit SELECT ?, {columns} FROM audit WHERE id = ?",
            middle["id"][:-4] + ("0000" if middle["id"][-4:] != "0000" else "0001"), middle["id"])
        self.assertTrue(inserted)
        self.assertEqual(verify(0)["faults"], [])
        self.assertIn("as they were written", self.ebb("audit", "--verify"))
        self.assertIn("startInstance", self.ebb("audit", "--limit", "1000"))


class Redaction(HiddenCases, AccessTest):
    def begin(self):
        body = '{"workflow": "%s", "input": {"n":1.50, "pass\\u0077ord":"hunter2", ' \
            '"Card":{"number":"visa-4111"}, ' \
            '"items":[{"token":"hunter2","name":"x"}], "notes":"see token 7"}}' % OURS
        return self.api.post("/instances", body).json()["id"]

    def test_hides_sensitive_members_everywhere(self):
        instance = self.begin()
        paths = (f"/instances/{instance}", f"/instances/{instance}/history", f"/instances/{instance}/steps",
                 f"/instances/{instance}/history/1/payload")
        for path in paths:
            body = self.api.get(path).body
            self.assertNotIn("hunter2", body, path)
            self.assertNotIn("visa-4111", body, path)
        shown = self.api.get(f"/instances/{instance}")
        self.assertIn('"n":1.50', shown.body)
        self.assertEqual(shown.json()["input"], {"n": 1.5, "password": "•••", "Card": "•••",
            "items": [{"token": "•••", "name": "x"}], "notes": "see token 7"})
        found = self.api.get("/search", q=instance).body
        self.assertNotIn("hunter2", found)
        self.api.post(f"/instances/{instance}/abort")
        stream = Client(self.server, CONTRACT, cookie=self.api.cookie)
        self.addCleanup(stream.close)
        text = stream.raw("GET", f"/api/v1/instances/{instance}/events").body
        self.assertIn("event: end", text)
        self.assertNotIn("hunter2", text)

    def test_a_definition_names_what_is_sensitive(self):
        workflow = "billing.sensitive"
        flow = ("workflow: %s\nsensitive: [/number, /person/born, '/items/*/serial']\n"
                "steps:\n  - signal: more\n  - decision: approve\n") % workflow
        self.assertEqual(self.api("POST", "/workflows", flow, YAML).status, 201)
        secrets = {"number": "visa-4111", "person": {"born": "visa-4111", "name": "ann"},
                   "items": [{"serial": "visa-4111", "n": 1}], "copy": {"number": "visa-4111"}}
        instance = self.api.post("/instances", {"workflow": workflow, "input": secrets}).json()["id"]
        path = f"/instances/{instance}"
        pushed = self.api.post(f"{path}/signal", {"name": "more", "payload": {"number": "visa-4111", "n": 2}})
        self.assertIn(pushed.status, (200, 202), pushed.body)
        for place in (path, f"{path}/history", f"{path}/steps", f"{path}/history/1/payload", f"{path}/result",
                      f"/search?q={instance}", f"/instances?workflow={workflow}&outline=true",
                      f"{path}/history?order=backward"):
            where, _, query = place.partition("?")
            body = self.api.get(where, **dict(pair.split("=") for pair in query.split("&") if pair)).body
            self.assertNotIn("visa-4111", body, place)
        shown = self.api.get(path).json()["input"]
        self.assertEqual(shown, {"number": "•••", "person": {"born": "•••", "name": "ann"},
            "items": [{"serial": "•••", "n": 1}], "copy": {"number": "•••"}})
        revealed = self.api.get(path, reveal="true").json()["input"]
        self.assertEqual(revealed, secrets)
        page = self.api.get("/audit", action="revealPayloads", target=f"/api/v1{path}").json()
        self.assertEqual(len(page["items"]), 1)
        operator = self.client("no-definitions-secrets", "operator")
        self.problem(operator.get(path, reveal="true"), 403, "not_allowed")
        self.assertEqual(self.api.post(f"{path}/abort").status, 200)
        # Its work starts again with what the caller may not see.
        self.assertEqual(operator.post(f"{path}/rerun", {"key": "by-the-operator"}).status, 201)
        developer = self.client("no-definitions-secrets-either", "developer")
        again = developer.post(f"{path}/rerun").json()["id"]
        self.assertEqual(developer.get(f"/instances/{again}").json()["input"]["number"], "•••")
        self.assertEqual(self.api.get(f"/instances/{again}", reveal="true").json()["input"], secrets)
        self.api.post(f"{path}/abort")
        stream = Client(self.server, CONTRACT, cookie=self.api.cookie)
        self.addCleanup(stream.close)
        text = stream.raw("GET", f"/api/v1{path}/events").body
        self.assertIn("event: end", text)
        self.assertNotIn("visa-4111", text)

    def test_shows_them_to_whoever_may_and_asks_and_records_it(self):
        instance = self.begin()
        shown = self.api.get(f"/instances/{instance}", reveal="true").json()["input"]
        self.assertEqual(shown["items"][0]["token"], "hunter2")
        page = self.api.get("/audit", action="revealPayloads", target=f"/api/v1/instances/{instance}")
        [row] = page.json()["items"]
        self.assertEqual(row["workflow"], OURS)
        operator = self.client("no-secrets", "operator")
        self.problem(operator.get(f"/instances/{instance}", reveal="true"), 403, "not_allowed")

    def test_the_server_can_be_told_what_to_hide(self):
        arguments = ["--no-worker", "--redact-names", "n", "--redact-pointers",
            f"{OURS}:/items/*/name,other:/notes"]
        with Folder() as folder, Server(EBB, "memory", folder, arguments) as server:
            api = log_in(server, CONTRACT)
            self.addCleanup(api.close)
            api("POST", "/workflows", FLOW.format(name=OURS), YAML)
            body = {"workflow": OURS, "input": {"n": 1, "notes": 2, "items": [{"name": "x", "token": "y"}]}}
            instance = api.post("/instances", body).json()["id"]
            shown = api.get(f"/instances/{instance}").json()["input"]
            items = [{"name": "•••", "token": "y"}]
            self.assertEqual(shown, {"n": "•••", "notes": 2, "items": items})
        with Folder() as folder, Server(EBB, "memory", folder, ["--no-worker", "--hide-payloads"]) as server:
            api = log_in(server, CONTRACT)
            self.addCleanup(api.close)
            api("POST", "/workflows", FLOW.format(name=OURS), YAML)
            instance = api.post("/instances", {"workflow": OURS, "input": {"n": 1}}).json()["id"]
            self.assertEqual(api.get(f"/instances/{instance}").json()["input"], {"$hidden": True, "bytes": 8})


@unittest.skipIf(STORE == "memory", "The secrets of a database in memory end with its server.")
class Keys(unittest.TestCase):
    SECRET = "hunter2-hunter2-hunter2"

    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)

    def key(self, name):
        path = self.path / name
        path.write_text(base64.b64encode(os.urandom(32)).decode() + "\n")
        path.chmod(0o600)
        return str(path)

    def serve(self, *arguments):
        return Server(EBB, STORE, self.path, ["--no-worker", *arguments])

    def stored(self):
        """Everything that the database has."""
        if STORE == "sqlite":
            return b"".join(path.read_bytes() for path in self.path.glob("ebb.db*"))
        url, _, schema = database(STORE, self.path).partition("?schema=")
        return subprocess.run(["pg_dump", "-n", schema, url], capture_output=True, check=True).stdout

    def put_hook(self, server, name):
        api = log_in(server, CONTRACT)
        self.addCleanup(api.close)
        api("POST", "/workflows", FLOW.format(name=OURS), YAML)
        settings = {"scheme": "token", "header": "X-Shop", "secret": self.SECRET, "workflow": OURS}
        self.assertEqual(api("PUT", f"/hooks/{name}", settings).status, 200)
        return api

    def send(self, server, name, delivery):
        client = Client(server, CONTRACT)
        self.addCleanup(client.close)
        return client("POST", f"/hooks/{name}", {"n": delivery}, {"X-Shop": self.SECRET}).status

    def refusal(self, *arguments):
        command = [EBB, "serve", "--no-worker", "--listen", "127.0.0.1:0", *arguments]
        done = subprocess.run([*command, "--db", database(STORE, self.path)], capture_output=True, text=True,
            timeout=120, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        return done.stderr

    def test_secrets_are_encrypted_with_the_key(self):
        first, second = self.key("first"), self.key("second")
        with self.serve("--key", first) as server:
            api = self.put_hook(server, "shop")
            webhook = api("PUT", "/webhooks/ops", {"url": "https://example.com/hook"}).json()
            rotated = api("POST", "/webhooks/ops/rotate", {}).json()
            self.assertEqual(self.send(server, "shop", 1), 202)
        secrets = [self.SECRET, webhook["secret"], rotated["secret"]]
        self.assertEqual([text for text in secrets if text.encode() in self.stored()], [])
        self.assertIn(b"sealed:1:", self.stored())
        self.assertIn("are encrypted", self.refusal())
        self.assertIn("another key", self.refusal("--key", second))
        command = [EBB, "key", "rotate", "--json", "--db", database(STORE, self.path)]
        for expected in (2, 0):
            done = subprocess.run([*command, "--key", second, "--old-key", first], check=True,
                capture_output=True, text=True)
            self.assertEqual(json.loads(done.stdout), {"encrypted": expected})
        with self.serve("--key", second) as server:
            self.assertEqual(self.send(server, "shop", 2), 202)
        self.assertIn("another key", self.refusal("--key", first))

    def test_what_was_in_clear_text_is_encrypted_at_the_start(self):
        with self.serve() as server:
            self.put_hook(server, "shop")
        self.assertIn(self.SECRET.encode(), self.stored())
        with self.serve("--key", self.key("first")) as server:
            self.assertEqual(server.wait_for("secrets_encrypted")["rows"], "1")
            self.assertEqual(self.send(server, "shop", 1), 202)

    def test_keys_that_are_none_are_refused(self):
        short = self.path / "short"
        short.write_text("hunter2")
        short.chmod(0o600)
        self.assertIn("32 random bytes", self.refusal("--key", str(short)))
        self.assertNotIn("hunter2", self.refusal("--key", str(short)))
        short.chmod(0o644)
        self.assertIn("chmod 600", self.refusal("--key", str(short)))


@unittest.skipIf(STORE == "memory", "A database in memory belongs to its server.")
class SessionsOfTheDatabase(AccessTest):
    def test_are_listed_and_ended(self):
        [session] = json.loads(self.ebb("session", "--json"))
        self.assertEqual((session["method"], session["address"]), ("link", "127.0.0.1"))
        self.assertIn(session["id"], self.ebb("session", "--user", session["principal"]))
        self.assertEqual(json.loads(self.ebb("session", "--json", "--user", "user:absent")), [])
        self.ebb("session", "end", code=2)
        self.assertEqual(json.loads(self.ebb("session", "end", session["id"], "--json")), {"ended": 1})
        self.assertEqual(json.loads(self.ebb("session", "--json")), [])
        self.ebb("session", "end", session["id"], code=2)


class ProxyLogin(unittest.TestCase):
    SECRET = "0123456789abcdef-of-the-proxy"

    def server(self, folder, proxies):
        secret = pathlib.Path(folder, "secret")
        secret.write_text(self.SECRET + "\n")
        secret.chmod(0o600)
        return Server(EBB, "memory", folder,
            ["--no-worker", "--behind-proxy", proxies, "--proxy-secret-file", str(secret)])

    def test_believes_only_the_proxy(self):
        with Folder() as folder, self.server(folder, "127.0.0.1") as server:
            admin = log_in(server, CONTRACT)
            self.addCleanup(admin.close)
            grant = {"subject": "group:finance", "role": "approver", "decision_roles": ["clerk"]}
            self.assertEqual(admin("PUT", "/grants/finance", grant).status, 201)
            client = Client(server, CONTRACT)
            self.addCleanup(client.close)
            headers = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "staff, finance",
                "X-Forwarded-Email": "ann@example.com", "X-Ebb-Proxy-Secret": self.SECRET}
            me = client("GET", "/me", headers=headers).json()
            about = me["principal"], me["kind"], me["groups"], me["display_name"], me["role"]
            groups = ["staff", "finance"]
            self.assertEqual(about, ("user:ann", "proxy", groups, "ann@example.com", "approver"))
            self.assertEqual(me["decision_roles"], ["clerk"])
            forged = client("GET", "/me", headers={**headers, "X-Ebb-Proxy-Secret": "wrong"})
            self.assertEqual((forged.status, forged.json()["code"]), (401, "unauthenticated"))
            without = {name: value for name, value in headers.items() if "Secret" not in name}
            self.assertEqual(client("GET", "/me", headers=without).status, 401)
            stranger = client("GET", "/instances", headers={**headers, "X-Forwarded-Groups": ""})
            self.assertEqual((stranger.status, stranger.json()["code"]), (403, "not_allowed"))
            for twice in headers:
                said = get_with_headers(server, "/api/v1/me", [*headers.items(), (twice, "admin")])
                self.assertEqual(said, (400, f"There is more than one header {twice}."))
            elsewhere = {**headers, "Sec-Fetch-Site": "cross-site"}
            crossed = client("POST", "/purge", {"older_than": "1d"}, elsewhere)
            self.assertEqual(crossed.json()["code"], "csrf_refused")

    def test_does_not_start_without_a_proxy_or_a_secret(self):
        with Folder() as folder:
            secret = pathlib.Path(folder, "secret")
            for text, mode, arguments, word in (
                (self.SECRET, 0o600, [], "--behind-proxy"),
                ("short", 0o600, ["--behind-proxy", "127.0.0.1"], "less than 16"),
                (self.SECRET, 0o644, ["--behind-proxy", "127.0.0.1"], "chmod 600"),
            ):
                secret.write_text(text)
                secret.chmod(mode)
                command = [EBB, "serve", "--db", "memory:", "--check", "--proxy-secret-file", str(secret)]
                command += arguments
                done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=60)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
