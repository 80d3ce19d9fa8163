#!/usr/bin/env python3
"""The API of a real `ebb serve` over each store: api_test.py REPOSITORY EBB STORE

Every exchange is held against the OpenAPI document, and in the end every documented answer must be seen.
"""

import json
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

from bulk_cases import BulkCases
from contract import CALLBACKS, Contract
from hook_cases import HookCases
from list_cases import ListCases
from live_cases import LiveCases
from oidc_cases import OidcCases
from rehearsal_cases import RehearsalCases
from related_cases import RelatedCases
from remote_workers import RemoteWorkerCases
from request_cases import RequestCases
from upkeep_cases import UpkeepCases
from view_cases import ViewCases
from webhook_cases import WebhookCases
from workflow_cases import WorkflowCases
from world import RULES, WORKFLOW, Client, Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONTRACT = Contract(ROOT)
UNKNOWN = "019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d"


def tearDownModule():
    missing = sorted(CONTRACT.documented() - CONTRACT.documented_of(CALLBACKS) - CONTRACT.seen)
    assert not missing, f"documented, but never seen: {missing}"


class ApiTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        path = cls.folder.__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        file = pathlib.Path(path, "order.yaml")
        file.write_text(WORKFLOW)
        # A separate test covers the request limit (config_test.py).
        arguments = ["--requests-per-second", "0", "--allow-exec", "--hook-secrets", "secrets"]
        cls.settings = pathlib.Path(path, "serve.yaml")
        cls.settings.write_text("title: Orders\n")
        arguments += ["--config", "serve.yaml"]
        cls.server = Server(EBB, STORE, path, arguments, [str(file)])
        cls.addClassCleanup(cls.server.stop)
        cls.api = log_in(cls.server, CONTRACT)
        cls.addClassCleanup(cls.api.close)

    def start(self, **options):
        answer = self.api.post("/instances", {"workflow": "order", "input": {"amount": 1}, **options})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json()["id"]

    def until_waiting(self, instance, kind):
        """The instance, once it waits for something of this kind."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            view = self.api.get(f"/instances/{instance}").json()
            if any(wait["kind"] == kind for wait in view["waiting_for"]):
                return view
            # Ask the server to wait for something, so that this loop does not spin.
            self.api.get(f"/instances/{instance}/result", wait="20ms")
        self.fail(f"{instance} does not wait for a {kind}: {view}")

    def problem(self, answer, status, code):
        self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer.body)
        return answer.json()

    def finish(self, instance):
        self.until_waiting(instance, "decision")
        self.api.post(f"/instances/{instance}/decide", {"verdict": "confirm", "role": "boss"})
        self.api.post(f"/instances/{instance}/signal", {"name": "paid", "payload": {"ok": True}})
        answer = self.api.get(f"/instances/{instance}/result", wait="30s")
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()


class Reading(ListCases, RelatedCases, ApiTest):
    contract = CONTRACT

    def test_says_what_the_server_is(self):
        self.assertEqual(self.api.get("/").json()["name"], "ebb")
        self.assertIn("admin", self.api.get("/me").json()["permissions"])
        document = self.api.get("/openapi.json")
        self.assertEqual(document.json(), CONTRACT.document)
        tag = document.headers["etag"]
        self.assertEqual(self.api("GET", "/openapi.json", headers={"If-None-Match": tag}).status, 304)
        for options in ([], ["--json"]):
            printed = subprocess.run([EBB, "openapi", *options], check=True, capture_output=True, timeout=60)
            self.assertEqual(printed.stdout.decode(), document.body)

    def test_routes_are_those_of_the_document(self):
        for method, _, _, path, operation in CONTRACT.operations:
            if operation["operationId"] in ("streamInstance", "streamTopics"):
                continue
            concrete = path.replace("{id}", UNKNOWN).replace("{name}", "none").replace("{seq}", "1")
            concrete = concrete.replace("{version}", "1")
            # There is no provider, and no such session.
            if operation["operationId"] in ("logout", "purge", "login", "beginLogin", "finishLogin",
                "endSession"):
                continue
            answer = self.api(method, concrete, body={} if "requestBody" in operation else None)
            self.assertNotIn(answer.json()["code"] if answer.status >= 400 else "",
                             ("not_found", "method_not_allowed") if "{name}" not in path
                             and "{seq}" not in path else (), f"{method} {path}")

    def test_shows_an_instance_from_its_start_to_its_end(self):
        instance = self.start(key="first")
        view = self.until_waiting(instance, "decision")
        self.assertEqual(view["input"], {"amount": 1})
        self.assertEqual(view["steps"], {"completed": 1, "waiting": 1})
        steps = self.api.get(f"/instances/{instance}/steps", limit=1).json()
        self.assertEqual(steps["items"][0]["node"], "charge")
        rest = self.api.get(f"/instances/{instance}/steps", cursor=steps["next_cursor"]).json()
        self.assertEqual([step["node"] for step in rest["items"]], ["approve"])
        why = self.api.get(f"/instances/{instance}/why").json()
        self.assertEqual([entry["operation"] for entry in why["unblock"]], ["decideInstance"] * 2)
        self.assertIn("approve", why["why"])
        marks = self.api.get(f"/instances/{instance}/graph").json()["marks"]
        self.assertEqual(marks["charge"]["status"], "completed")
        waiting = self.api.get("/decisions", workflow="order").json()["items"]
        self.assertIn(instance, [item["instance"] for item in waiting])
        self.assertEqual(
            self.api.get("/decisions", deadline_before="2020-01-01T00:00:00Z").json()["items"], []
        )
        self.assertEqual(self.api.get(f"/instances/{instance}/result").status, 202)
        result = self.finish(instance)
        self.assertEqual((result["status"], result["output"]), ("completed", {"ok": True}))
        spans = self.api.get(f"/instances/{instance}/timeline").json()["items"]
        done = {(row["node"], row["kind"]) for row in spans if row["kind"] != "queue"}
        self.assertEqual(done, {("charge", "attempt"), ("approve", "wait"), ("paid", "wait")})
        by_key = self.api.get(f"/instances/{urllib.parse.quote('key:order/first', safe='')}").json()
        self.assertEqual(by_key["id"], instance)
        tag = self.api.get(f"/instances/{instance}").headers["etag"]
        same = self.api("GET", f"/instances/{instance}", headers={"If-None-Match": tag})
        self.assertEqual(same.status, 304)

    def test_pages_through_the_history_in_both_directions(self):
        instance = self.start()
        self.finish(instance)
        path = f"/instances/{instance}/history"
        events = self.api.get(path).json()["items"]
        seqs = [event["seq"] for event in events]
        self.assertEqual(seqs, list(range(1, len(seqs) + 1)))
        page = self.api.get(path, limit=2, after=1).json()
        self.assertEqual([event["seq"] for event in page["items"]], [2, 3])
        self.assertFalse(page["complete"])
        backward = self.api.get(path, order="backward", limit=1).json()
        self.assertEqual(backward["items"][0]["seq"], seqs[-1])
        started = self.api.get(path, type="started").json()["items"]
        self.assertEqual(len(started), 1)
        payload = self.api.get(f"{path}/1/payload")
        self.assertEqual(payload.json(), {"amount": 1})
        self.problem(self.api.get(f"{path}/9999/payload"), 404, "not_found")

    def test_keeps_all_digits_of_a_number(self):
        digits = '{"n":12345678901234567890.123456789}'
        answer = self.api.post("/instances", '{"workflow":"order","input":' + digits + "}")
        instance = answer.json()["id"]
        self.assertIn(digits, self.api.get(f"/instances/{instance}").body)

    def test_cuts_long_payloads_unless_all_of_them_is_asked_for(self):
        instance = self.start(input={"text": "x" * 5000})
        short = self.api.get(f"/instances/{instance}").json()["input"]
        self.assertTrue(short["$truncated"])
        self.assertEqual(self.api.raw("GET", short["href"]).json()["text"], "x" * 5000)
        full = self.api.get(f"/instances/{instance}", payloads="full").json()["input"]
        self.assertEqual(len(full["text"]), 5000)
        self.assertIsNone(self.api.get(f"/instances/{instance}", payloads="none").json()["input"])

    def test_lists_by_pages_that_fit_together(self):
        started = [self.start() for _ in range(5)]
        seen, cursor = [], None
        while True:
            page = self.api.get("/instances", limit=2, workflow="order",
                **({"cursor": cursor} if cursor else {}))
            seen += [row["id"] for row in page.json()["items"]]
            cursor = page.json()["next_cursor"]
            if cursor is None:
                break
            self.assertIn('rel="next"', page.headers["link"])
        self.assertEqual(seen, sorted(seen, reverse=True))
        self.assertTrue(set(started) <= set(seen))
        first = self.api.get("/instances", limit=2).json()["next_cursor"]
        self.problem(self.api.get("/instances", limit=2, status="running", cursor=first), 400,
            "cursor_mismatch")
        self.problem(self.api.get("/instances", cursor="x"), 400, "invalid_argument")
        self.problem(self.api.get("/instances", state="running"), 400, "invalid_argument")
        self.problem(self.api.get("/instances", status="runing"), 400, "invalid_argument")
        total = self.api.get("/instances", count="exact", workflow="order").json()["total"]
        self.assertEqual(total, len(seen))

    def test_finds_and_counts_labeled_instances(self):
        labels = {"customer": "acme", "total": 99.5, "vip": True, "due": {"time": "2026-01-31T08:00:00Z"}}
        started = [self.start(labels={**labels, "total": n}) for n in (1, 2, 3)]
        self.start(labels={"customer": "bolt"})
        shown = self.api.get(f"/instances/{started[0]}").json()
        self.assertEqual(shown["labels"], {**labels, "total": 1})
        where = 'labels.customer == "acme" && labels.total > 1 && "vip" in tags'
        page = self.api.get("/instances", where=where, limit=1).json()
        self.assertEqual([row["id"] for row in page["items"]], [started[2]])
        rest = self.api.get("/instances", where=where, limit=1, cursor=page["next_cursor"]).json()
        self.assertEqual([row["id"] for row in rest["items"]], [started[1]])
        self.assertIsNone(rest["next_cursor"])
        again = self.api.get("/instances", where=where, limit=1, before=page["next_before"]).json()
        # The instance may have gone on in between.
        self.assertEqual([row["id"] for row in again["items"]], [row["id"] for row in rest["items"]])
        self.problem(self.api.get("/instances", where="true", cursor=page["next_cursor"]), 400,
            "cursor_mismatch")
        rows = self.api.get("/instances", label="customer:acme", workflow="order").json()["items"]
        self.assertEqual([row["id"] for row in rows], started[::-1])
        counts = self.api.get("/instances/count", where='labels.customer == "acme"').json()
        self.assertEqual((counts["total"], counts["complete"]), (3, True))
        for path in ("/instances", "/instances/count"):
            refused = self.problem(self.api.get(path, where="labels.a == labels.b"), 400,
                "invalid_expression")
            self.assertEqual((refused["line"], refused["column"]), (1, 10))
            self.problem(self.api.get(path, label="customer"), 400, "invalid_argument")
        for wrong in ({"a b": 1}, {"a": None}, {"a": {"time": "today"}}, [], {"a": "x" * 257}):
            answer = self.api.post("/instances", {"workflow": "order", "labels": wrong})
            self.assertIn(answer.status, (400, 422), answer.body)

    def test_finds_instances_by_what_a_person_types(self):
        instance = self.start(key="typed-key")
        for text in (instance, "typed-key"):
            hits = self.api.get("/search", q=text).json()["items"]
            self.assertEqual(hits[0]["instance"]["id"], instance)
        self.assertEqual(self.api.get("/search", q="rde").json()["items"][0]["workflow"], "order")

    def test_names_the_thing_that_does_not_exist(self):
        for path in ("", "/steps", "/history", "/graph", "/why", "/related", "/result", "/events"):
            answer = self.api.get(f"/instances/{UNKNOWN}{path}")
            self.problem(answer, 404, "instance_not_found")
        self.problem(self.api.get("/instances/xyz!"), 400, "invalid_argument")
        self.problem(self.api.get("/nothing"), 404, "not_found")
        answer = self.api("DELETE", "/instances")
        self.problem(answer, 405, "method_not_allowed")
        self.assertEqual(answer.headers["allow"], "GET, POST")
        self.start(), self.start()
        answer = self.api.get(f"/instances/{self.start()[:4]}")
        self.assertGreaterEqual(len(self.problem(answer, 409, "ambiguous")["candidates"]), 2)


class Starting(ApiTest):
    def test_starts_once_for_each_key(self):
        body = {"workflow": "order", "key": "once"}
        first, second = self.api.post("/instances", body), self.api.post("/instances", body)
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(first.json()["id"], second.json()["id"])

    def test_starts_a_batch_or_nothing(self):
        header = {"Content-Type": "application/x-ndjson"}
        lines = "\n".join(json.dumps({"amount": n}) for n in range(100))
        answer = self.api.post("/instances/batch", lines, header, workflow="order")
        self.assertEqual(answer.status, 201)
        self.assertEqual(len({line["id"] for line in answer.lines()}), 100)
        before = self.api.get("/instances", count="exact").json()["total"]
        broken = self.api.post("/instances/batch", "1\n{", header, workflow="order")
        self.assertEqual(self.problem(broken, 422, "invalid_payload")["line"], 2)
        missing = self.api.post("/instances/batch", "1", header, workflow="none")
        self.problem(missing, 404, "workflow_not_found")
        self.assertEqual(self.api.get("/instances", count="exact").json()["total"], before)

    def test_refuses_what_it_does_not_understand(self):
        post = self.api.post
        self.problem(post("/instances", {"workflow": "none"}), 404, "workflow_not_found")
        answer = self.problem(post("/instances", {"workfow": "order"}), 400, "invalid_argument")
        self.assertIn("workflow", answer["detail"])
        unknown = self.problem(post("/instances", {"workflow": "order", "inptu": 1}), 400, "unknown_field")
        self.assertIn('"input"', unknown["detail"])
        self.problem(post("/instances", '{"workflow":"a","workflow":"b"}'), 400, "invalid_json")
        for text, said in (("[]", "not a JSON object"), ('{workflow: "a"}', "Keys stand in double quotes.")):
            self.assertIn(said, self.problem(post("/instances", text), 400, "invalid_json")["detail"])
        self.problem(post("/instances", {"workflow": "order", "key": "~x"}), 400, "invalid_argument")
        text = self.api("POST", "/instances", "{}", {"Content-Type": "text/plain"})
        self.problem(text, 415, "unsupported_media_type")
        deep = '{"workflow":"order","input":' + "[" * 100 + "]" * 100 + "}"
        self.assertIn(post("/instances", deep).status, (400, 413, 422))

    def test_moves_an_instance_out_and_in_again(self):
        instance = self.start()
        self.until_waiting(instance, "decision")
        snapshot = self.api.post(f"/instances/{instance}/export")
        self.assertEqual(snapshot.status, 200, snapshot.body)
        self.assertEqual(self.api.get(f"/instances/{instance}").json()["status"], "moved")
        first = self.api.post("/instances/import", snapshot.body)
        second = self.api.post("/instances/import", snapshot.body)
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(self.finish(instance)["status"], "completed")
        self.problem(self.api.post(f"/instances/{instance}/export"), 409, "invalid_state")
        self.problem(self.api.post(f"/instances/{UNKNOWN}/export"), 404, "instance_not_found")


class Writing(ApiTest):
    RULES = {
        "workflow": "hotel",
        "rules": {
            "attributes": {"phase": {"default": "asked", "external": True}, "room": "text"},
            "triggers": {"reserve": {"when": "phase = 'reserve'"}},
            "final": {"cancelled": "phase = 'cancelled'"},
            "on_idle": "wait",
        },
    }

    def write(self, instance, body, headers=None):
        return self.api.post(f"/instances/{instance}/write", body, headers or {})

    def test_changes_attributes_and_may_end_the_instance(self):
        self.assertIn(self.api.post("/workflows", self.RULES).status, (200, 201))
        instance = self.api.post("/instances", {"workflow": "hotel", "input": {}}).json()["id"]
        view = self.until_waiting(instance, "write")
        stale = self.write(instance, {"values": {"phase": "late"}}, {"If-Match": '"999"'})
        self.problem(stale, 412, "precondition_failed")
        tag = {"If-Match": f'"{view["revision"]}"'}
        self.assertEqual(self.write(instance, {"values": {"phase": "late"}}, tag).status, 200)
        refused = self.write(instance, {"values": {"room": "12"}})
        self.assertEqual(refused.json()["code"], "not_allowed", refused.body)
        repaired = self.write(instance, {"values": {"room": "12"}, "repair": True})
        self.assertEqual(repaired.status, 200, repaired.body)
        once = {"values": {"phase": "cancelled"}, "request_id": "r1"}
        self.assertEqual(self.write(instance, once).json()["status"], "completed")
        result = self.api.get(f"/instances/{instance}/result").json()
        self.assertEqual(result["output"], {"phase": "cancelled", "room": "12"})
        self.problem(self.write(instance, {"values": {"phase": "again"}}), 409, "invalid_state")
        self.problem(self.write(UNKNOWN, {"values": {}}), 404, "instance_not_found")

    def test_takes_an_instance_back_to_a_write(self):
        self.assertIn(self.api.post("/workflows", self.RULES).status, (200, 201))
        instance = self.api.post("/instances", {"workflow": "hotel", "input": {}}).json()["id"]
        self.until_waiting(instance, "write")
        for phase in ("early", "late"):
            self.write(instance, {"values": {"phase": phase}})
        events = self.api.get(f"/instances/{instance}/history").json()["items"]
        writes = [event["seq"] for event in events if event["type"] == "attributes_written"]
        path = f"/instances/{instance}/recover"
        stale = self.api.post(path, {"to": writes[0]}, {"If-Match": '"999"'})
        self.problem(stale, 412, "precondition_failed")
        once = {"to": writes[0], "request_id": "r1"}
        for _ in range(2):
            done = self.api.post(path, once)
            self.assertEqual(done.status, 200, done.body)
        view = self.until_waiting(instance, "write")
        self.assertEqual(view["attributes"]["phase"], "late", "what an application wrote stays")
        events = self.api.get(f"/instances/{instance}/history").json()["items"]
        taken_back = [event["payload"]["to"] for event in events if event["type"] == "recover_requested"]
        self.assertEqual(taken_back, [writes[0]])
        self.problem(self.api.post(path, {"to": writes[0] + 99}), 400, "invalid_argument")
        self.problem(self.api.post(f"/instances/{UNKNOWN}/recover", {"to": 1}), 404, "instance_not_found")
        self.write(instance, {"values": {"phase": "cancelled"}})
        self.problem(self.api.post(path, {"to": writes[0]}), 409, "invalid_state")

    def test_needs_rules(self):
        refused = self.write(self.start(), {"values": {"phase": "x"}})
        self.assertEqual(refused.json()["code"], "invalid_argument", refused.body)


class Steering(ApiTest):
    VERBS = {
        "cancel": {}, "abort": {}, "pause": {}, "resume": {}, "requeue": {},
        "decide": {"verdict": "confirm", "role": "boss"}, "signal": {"name": "paid"},
    }

    def test_acts_only_on_the_revision_that_the_client_has_seen(self):
        for verb, body in self.VERBS.items():
            with self.subTest(verb):
                instance = self.start()
                view = self.until_waiting(instance, "decision")
                stale = self.api.post(f"/instances/{instance}/{verb}", body, {"If-Match": '"1"'})
                problem = self.problem(stale, 412, "precondition_failed")
                self.assertEqual(problem["revision"], view["revision"])
                self.assertEqual(self.api.get(f"/instances/{instance}").json()["revision"],
                    view["revision"])
                tag = {"If-Match": f'"{view["revision"]}"'}
                done = self.api.post(f"/instances/{instance}/{verb}", body, tag)
                self.assertEqual(done.status, 200, done.body)

    def test_a_refusal_names_who_has_acted_meanwhile(self):
        instance = self.start()
        revision = self.until_waiting(instance, "decision")["revision"]
        self.assertEqual(self.api.post(f"/instances/{instance}/pause", {"reason": "by hand"}).status, 200)
        stale = self.api.post(f"/instances/{instance}/cancel", {}, {"If-Match": f'"{revision}"'})
        events = self.problem(stale, 412, "precondition_failed")["newest_events"]
        principal = self.api.get("/me").json()["principal"]
        self.assertEqual((events[0]["type"], events[0]["by"]), ("paused", principal))
        self.assertEqual({event["by"] for event in events[1:]}, {None})

    def test_says_whether_a_write_has_changed_anything(self):
        self.api("POST", "/workflows", RULES, {"Content-Type": "application/yaml"})
        instance = self.start(workflow="loan", input={"amount": 5})
        path = f"/instances/{instance}/write"
        self.problem(self.api.post(path, {"values": {"none": 1}}), 422, "invalid_payload")
        self.problem(self.api.post(path, {"values": [1]}), 400, "invalid_argument")
        stale = self.api.post(path, {"values": {"amount": 6}}, {"If-Match": '"0"'})
        self.problem(stale, 412, "precondition_failed")
        self.problem(self.api.post(f"/instances/{UNKNOWN}/write", {"values": {}}), 404, "instance_not_found")
        once = {"values": {"amount": 6}, "request_id": "r1"}
        self.assertEqual([self.api.post(path, once).json()["changed"] for _ in range(2)], [True, False])
        self.api.post(path, {"values": {"paid": True}})
        self.assertEqual(self.api.get(f"/instances/{instance}/result", wait="30s").status, 200)
        self.assertEqual(self.api.get(f"/instances/{instance}").json()["attributes"],
            {"amount": 6, "paid": True})
        self.problem(self.api.post(path, {"values": {"amount": 7}}), 409, "invalid_state")

    def test_says_whether_an_act_has_changed_anything(self):
        instance = self.start()
        self.until_waiting(instance, "decision")
        self.assertFalse(self.api.post(f"/instances/{instance}/requeue").json()["changed"])
        aborted = self.start()
        for one, act in ((instance, "pause"), (instance, "resume"), (instance, "cancel"), (aborted, "abort")):
            changed = [self.api.post(f"/instances/{one}/{act}").json()["changed"] for _ in range(2)]
            self.assertEqual(changed, [True, False], act)

    def test_lists_what_each_instance_waits_for(self):
        older, instance = self.start(), self.start()
        self.until_waiting(instance, "decision")
        item = self.api.get("/instances", outline="true", limit=1).json()["items"][0]
        self.assertEqual((item["id"], item["waiting_for"][0]["node"]), (instance, "approve"))
        self.assertEqual((item["error"], item["handlers"]), (None, []))
        before = self.api.get("/instances", before=instance, limit=1).json()["items"]
        self.assertEqual([each["id"] for each in before], [older])
        self.problem(self.api.get("/instances", before="x"), 400, "invalid_argument")

    def test_lists_every_version_of_a_workflow(self):
        second = WORKFLOW.replace("workflow: order", "workflow: order\nversion: 2")
        self.api("POST", "/workflows", second, {"Content-Type": "application/yaml"})
        seen, cursor = [], None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = self.api.get("/workflows", versions="all", prefix="order", limit=1, **more).json()
            seen += [(item["name"], item["version"], item["versions"]) for item in page["items"]]
            cursor = page["next_cursor"]
            if not cursor:
                break
        self.assertEqual(seen, [("order", 1, 2), ("order", 2, 2)])
        self.problem(self.api.get("/workflows", versions="all", cursor="x"), 400, "invalid_argument")

    def test_of_clients_that_have_seen_the_same_revision_one_acts(self):
        body, rivals = {"name": "paid"}, 6
        clients = [Client(self.server, CONTRACT, cookie=self.api.cookie) for _ in range(rivals)]
        for _ in range(10):
            instance = self.start()
            revision = self.until_waiting(instance, "decision")["revision"]
            start = threading.Barrier(rivals)
            answers = []

            def act(client):
                start.wait()
                tag = {"If-Match": f'"{revision}"'}
                answers.append(client.post(f"/instances/{instance}/signal", body, tag))

            threads = [threading.Thread(target=act, args=[client]) for client in clients]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(answer.status for answer in answers), [200] + [412] * (rivals - 1))
            problem = next(answer.json() for answer in answers if answer.status == 412)
            self.assertEqual((problem["revision"], problem["instance_status"]), (revision + 1, "running"))
            self.assertEqual(problem["newest_events"][0]["type"], "signal_received")
            now = self.api.get(f"/instances/{instance}").json()["revision"]
            self.assertEqual(now, revision + 1)
        for client in clients:
            client.close()

    def test_refuses_verbs_on_missing_or_ended_instances(self):
        instance, aborted = self.start(), self.start()
        self.finish(instance)
        self.until_waiting(aborted, "decision")
        self.api.post(f"/instances/{aborted}/abort")
        for verb, body in self.VERBS.items():
            with self.subTest(verb):
                self.problem(self.api.post(f"/instances/{UNKNOWN}/{verb}", body), 404, "instance_not_found")
                # A client may repeat a vote that was counted.
                target = aborted if verb == "decide" else instance
                answer = self.api.post(f"/instances/{target}/{verb}", body)
                self.assertEqual(answer.status, 409, answer.body)

    def test_a_decision_needs_no_role_if_only_one_is_possible(self):
        instance = self.start()
        self.until_waiting(instance, "decision")
        decided = self.api.post(f"/instances/{instance}/decide", {"verdict": "confirm"})
        self.assertEqual(decided.status, 200, decided.body)
        event = next(event for event in self.api.get(f"/instances/{instance}/history").json()["items"]
                     if event["type"] == "decision_made")
        self.assertEqual(event["payload"]["role"], "boss", event)

    def test_pauses_and_resumes(self):
        instance = self.start()
        self.until_waiting(instance, "decision")
        paused = self.api.post(f"/instances/{instance}/pause", {"reason": "lunch"})
        self.assertEqual(paused.json()["status"], "paused")
        resumed = self.api.post(f"/instances/{instance}/resume")
        self.assertEqual(resumed.json()["status"], "running")
        events = self.api.get(f"/instances/{instance}/history").json()["items"]
        paused = next(event for event in events if event["type"] == "paused")
        self.assertEqual(paused["payload"]["reason"], "lunch")
        self.assertTrue(paused["payload"]["by"].startswith("user:"))

    def test_groups_failures_and_requeues_them(self):
        failing = {
            "workflow": "failing", "on_error": "dead_letter",
            "steps": [{"step": "fail", "max_attempts": 1}],
            "handlers": {"fail": {"exec": ["sh", "-c", "echo no bank 4711 >&2; exit 1"]}},
        }
        self.assertIn(self.api.post("/workflows", failing).status, (200, 201))
        # A server knows the handlers of the workflows that existed when it started. It serves workflows that
        # were added later only after a restart. These instances are therefore cancelled by hand and only
        # listed.
        groups = self.api.get("/failures/groups", workflow="failing").json()
        self.assertEqual((groups["items"], groups["complete"]), ([], True))
        self.assertEqual(self.api.get("/failures/0123456789abcdef").json()["items"], [])
        self.problem(self.api.get("/failures/0123456789abcdef", status="running"), 400,
            "invalid_argument")


class Rehearsals(RehearsalCases, ApiTest):
    """Workflows run on made outcomes."""


class Workflows(WorkflowCases, ApiTest):
    DEFINITION = {"workflow": "flow", "steps": ["a"]}

    def test_registers_and_shows_definitions(self):
        first = self.api.post("/workflows", self.DEFINITION)
        second = self.api.post("/workflows", self.DEFINITION)
        self.assertEqual((first.status, second.status), (201, 200), first.body)
        other = {**self.DEFINITION, "steps": ["b"]}
        self.problem(self.api.post("/workflows", other), 409, "workflow_conflict")
        broken = self.problem(self.api.post("/workflows", {"workflow": "x", "stepps": []}), 422,
            "invalid_definition")
        self.assertTrue(broken["problems"])
        yaml = "workflow: flow\nversion: 2\nsteps: [a]\n"
        answer = self.api("POST", "/workflows", yaml, {"Content-Type": "application/yaml"})
        self.assertEqual(answer.status, 201, answer.body)
        versions = self.api.get("/workflows/flow/versions").json()["items"]
        self.assertEqual([row["version"] for row in versions], [2, 1])
        self.assertEqual(self.api.get("/workflows/flow").json()["version"], 2)
        self.assertEqual(self.api.get("/workflows/flow/versions/1").json()["definition"]["workflow"],
            "flow")
        names = [row["name"] for row in self.api.get("/workflows").json()["items"]]
        self.assertEqual(names, sorted(names))
        for kind, begin in (("application/yaml", "workflow:"), ("image/svg+xml", "<svg"),
                            ("text/vnd.mermaid", ""), ("text/vnd.graphviz", "digraph")):
            answer = self.api("GET", "/workflows/flow", headers={"Accept": kind})
            self.assertIn(begin, answer.body)
        self.problem(self.api("GET", "/workflows/flow", headers={"Accept": "image/png"}), 406,
            "not_acceptable")

    def test_validates_without_keeping(self):
        good = self.api.post("/workflows/validate", {"workflow": "draft", "steps": ["a"]})
        self.assertTrue(good.json()["valid"])
        self.assertTrue(good.json()["layout"]["nodes"])
        bad = self.api("POST", "/workflows/validate", "workflow: x\nsteps: [{nam: a}]",
            {"Content-Type": "application/yaml"})
        self.assertFalse(bad.json()["valid"])
        self.assertEqual(bad.json()["problems"][0]["line"], 2)
        self.problem(self.api.get("/workflows/draft"), 404, "workflow_not_found")

    def test_sets_how_long_instances_are_kept(self):
        rule = self.api("PUT", "/workflows/flow/retention", {"completed": "30d"}).json()
        self.assertEqual((rule["completed"], rule["failed"]), ("30d", "forever"))
        self.assertIn("flow", [row["workflow"] for row in self.api.get("/retention").json()["items"]])
        self.assertEqual(self.api("DELETE", "/workflows/flow/retention").status, 204)
        report = self.api.post("/purge", {"older_than": "1d", "dry_run": True}).json()
        self.assertEqual((report["dry_run"], report["instances"]), (True, 0))


class Operations(UpkeepCases, ApiTest):
    def test_shows_workers_and_figures(self):
        worker = self.api.get("/").json()["worker"]["id"]
        end = time.monotonic() + 20
        while worker not in [row["id"] for row in self.api.get("/workers").json()["items"]]:
            self.assertLess(time.monotonic(), end, "the worker never appeared")
        self.assertGreaterEqual(self.api.get("/stats").json()["workers"]["alive"], 1)
        self.assertEqual([self.api.get(path).status for path in ("/unserved", "/delayed")], [200, 200])

    def activity(self, **query):
        return self.api.get("/stats/activity", **query).json()

    def test_counts_what_starts_and_ends(self):
        answer = self.api.post("/instances", {"workflow": "order", "input": {"amount": 7}})
        self.assertEqual(answer.status, 201, answer.body)
        seen = []

        def is_counted():
            seen[:] = [self.activity(workflow="order", window="1h", step="5m")]
            return seen[0]["complete"] and seen[0]["all"]["total"]["started"] > 0

        end = time.monotonic() + 30
        while not is_counted():
            self.assertLess(time.monotonic(), end, seen)
        found = seen[0]
        self.assertEqual([one["workflow"] for one in found["workflows"]], ["order"])
        self.assertEqual(found["workflows"][0]["total"], found["all"]["total"])
        self.assertEqual({len(column) for column in found["all"]["buckets"].values()}, {12})
        self.assertEqual(sum(found["all"]["buckets"]["started"]), found["all"]["total"]["started"])
        self.assertEqual((found["step"], found["counted_from"]), ("5m", None))

    def test_refuses_an_activity_that_is_not_counted(self):
        wrong = [
            ({"window": "31d"}, "at most"), ({"window": "1s"}, "is 1m to"),
            ({"window": "never"}, "window"),
            ({"step": "7m"}, "the steps are 1m, 5m, 30m, 3h, 12h"),
            ({"step": "1m"}, "is kept for 2h"),
            ({"window": "1m", "step": "5m"}, "does not have 1 to 120 steps"),
            ({"until": "yesterday"}, "until"),
            ({"until": "2099-01-01T00:00:00Z"}, "in the future"),
            ({"until": "2001-01-01T00:00:00Z"}, "ago"),
            ({"week": "1"}, "week"),
        ]
        for query, said in wrong:
            with self.subTest(query):
                problem = self.problem(self.api.get("/stats/activity", **query), 400, "invalid_argument")
                self.assertIn(said, problem["detail"])
        self.problem(self.api.get("/stats/activity", workflow="none"), 404, "workflow_not_found")

    def test_a_server_without_a_definitions_folder_has_no_files_of_it(self):
        answer = self.api.get("/admin/definitions").json()
        self.assertEqual(answer, {"has_folder": False, "items": []})

    def test_shows_the_settings_of_the_server(self):
        config = self.api.get("/admin/config").json()
        self.assertEqual(config["settings"][0]["key"], "db")
        self.assertIn("listen", [one["key"] for one in config["settings"] if one["origin"] == "flag"])

    def test_reads_its_settings_again(self):
        nothing = {"changed": [], "applied": [], "removed": [], "needs_restart": []}
        self.settings.write_text("titel: Orders\n")
        problem = self.problem(self.api.post("/admin/reload"), 422, "invalid_config")
        self.assertEqual(problem["place"], "serve.yaml:1:1")
        self.settings.write_text("title: Orders\n")
        self.assertEqual(self.api.post("/admin/reload").json(), nothing)

    def test_sets_and_clears_limits_of_queues(self):
        body = {"concurrency": 3, "rate": {"starts": 10, "period": "1m"}}
        queue = self.api("PUT", "/queues/slow", body).json()
        self.assertEqual((queue["concurrency"], queue["rate"]), (3, {"starts": 10, "period": "1m"}))
        self.assertEqual(self.api.get("/queues/slow").json()["concurrency"], 3)
        self.assertIn("slow", [row["name"] for row in self.api.get("/queues").json()["items"]])
        self.problem(self.api("PUT", "/queues/slow", {"concurrency": -1}), 400, "invalid_argument")
        self.assertEqual(self.api("DELETE", "/queues/slow").status, 204)
        self.problem(self.api.get("/queues/slow"), 404, "not_found")


class Access(ApiTest):
    def test_a_login_link_works_once(self):
        other = Client(self.server, CONTRACT)
        self.problem(other.post("/session", {"login": self.server.login}), 401, "unauthenticated")
        self.problem(other.get("/me"), 401, "unauthenticated")
        other.close()

    def test_tokens_are_shown_once_and_end_when_they_are_revoked(self):
        created = self.api("PUT", "/tokens/ci", {"role": "viewer", "expires": "24h"})
        self.assertEqual(created.status, 201, created.body)
        token = created.json()["token"]
        self.problem(self.api("PUT", "/tokens/ci", {"role": "viewer"}), 409, "conflict")
        listed = self.api.get("/tokens")
        self.assertNotIn(token, listed.body)
        self.assertIn("ci", [row["name"] for row in listed.json()["items"]])
        client = Client(self.server, CONTRACT, token=token)
        self.assertEqual(client.get("/me").json()["principal"], "token:ci")
        self.problem(client.get("/tokens"), 403, "not_allowed")
        self.problem(client.post("/instances", {"workflow": "order"}), 403, "not_allowed")
        forged = Client(self.server, CONTRACT, token=token[:-1] + ("0" if token[-1] != "0" else "1"))
        self.problem(forged.get("/me"), 401, "unauthenticated")
        self.assertEqual(self.api("DELETE", "/tokens/ci").status, 204)
        self.problem(client.get("/me"), 401, "unauthenticated")
        log = json.dumps(self.server.log)
        self.assertNotIn(token, log)
        self.assertNotIn(self.api.cookie.split("=")[1], log)

    def test_every_role_may_do_what_its_permissions_say(self):
        for role in ("viewer", "approver", "operator", "developer", "admin", "worker", "starter"):
            name = f"role-{role}"
            token = self.api("PUT", f"/tokens/{name}", {"role": role}).json()["token"]
            client = Client(self.server, CONTRACT, token=token)
            allowed = set(client.get("/me").json()["permissions"]) | {"any", "none"}
            for method, _, _, path, operation in CONTRACT.operations:
                if operation["operationId"] in ("streamInstance", "streamTopics", "login", "logout",
                    "purge"):
                    continue
                concrete = path.replace("{id}", UNKNOWN).replace("{seq}", "1").replace("{version}", "1")
                concrete = concrete.replace("{name}", "none").replace("{group}", "0123456789abcdef")
                # The body has a field that no operation accepts, so nothing is done.
                body = {"~": 1} if "requestBody" in operation else None
                answer = client(method, concrete, body)
                is_refused = answer.status == 403
                self.assertEqual(is_refused, operation["x-ebb-permission"] not in allowed,
                                 f"{role} {method} {path}: {answer.status}")
            client.close()

    def test_refuses_requests_from_other_sites(self):
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                        {"Origin": "http://evil.example"}):
            answer = self.api.post("/purge", {"dry_run": True, "older_than": "1d"}, headers)
            self.problem(answer, 403, "csrf_refused")
        same = self.api.post("/purge", {"dry_run": True, "older_than": "1d"},
            {"Sec-Fetch-Site": "same-origin"})
        self.assertEqual(same.status, 200)

    def test_refuses_host_names_that_are_not_its_own(self):
        answer = self.api("GET", "/me", headers={"Host": "evil.example"})
        self.problem(answer, 421, "misdirected")

    def test_logs_out(self):
        token = self.api("PUT", "/tokens/logout", {"role": "viewer"}).json()["token"]
        client = Client(self.server, CONTRACT, token=token)
        self.assertEqual(client("DELETE", "/session").status, 204)


class Projects(ApiTest):
    """What access_test.py checks in depth: here each answer is seen once."""

    def test_are_made_changed_and_removed(self):
        for status in (201, 200):
            answer = self.api("PUT", "/projects/shop", {"workflows": ["order*"], "queues": ["shop"]})
            self.assertEqual(answer.status, status, answer.body)
        self.problem(self.api("PUT", "/projects/shop", {"workflows": []}), 400, "invalid_argument")
        self.assertEqual([row["name"] for row in self.api.get("/projects").json()["items"]], ["*", "shop"])
        grant = {"subject": "user:ann", "role": "viewer", "project": "shop"}
        for status in (201, 200):
            self.assertEqual(self.api("PUT", "/grants/ann", grant).status, status)
        self.problem(self.api("PUT", "/grants/ann", {**grant, "subject": "ann"}), 400, "invalid_argument")
        grants = self.api.get("/grants", project="shop").json()["items"]
        self.assertEqual([row["id"] for row in grants], ["ann"])
        self.problem(self.api("DELETE", "/projects/shop"), 409, "conflict")
        self.assertEqual(self.api("DELETE", "/grants/ann").status, 204)
        self.assertEqual(self.api("DELETE", "/projects/shop").status, 204)
        self.assertEqual(self.api.get("/audit", limit=1).json()["items"][0]["action"], "removeProject")


class Pages(ApiTest):
    def test_health_needs_no_login(self):
        client = Client(self.server, CONTRACT)
        for path in ("/livez", "/readyz", "/healthz"):
            answer = client.raw("GET", path)
            self.assertEqual((answer.status, answer.body), (200, "ok\n"))
        self.assertEqual(client.raw("HEAD", "/livez").body, "")
        client.close()

    def test_every_page_has_the_headers_that_protect_a_browser(self):
        for path in ("/", "/instances", "/problems/invalid_state", "/api/v1/me"):
            answer = self.api.raw("GET", path)
            self.assertEqual(answer.status, 200, path)
            self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
            self.assertNotIn("unsafe", answer.headers["content-security-policy"])
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
        self.assertEqual(self.api.raw("GET", "/nothing.js").status, 404)


class Bulk(BulkCases, ApiTest):
    pass


class Live(LiveCases, ApiTest):
    contract = CONTRACT


class RemoteWorkers(RemoteWorkerCases, ApiTest):
    contract = CONTRACT


class Requests(RequestCases, ApiTest):
    contract = CONTRACT


class Oidc(OidcCases, unittest.TestCase):
    EBB, STORE, CONTRACT = EBB, STORE, CONTRACT


class Webhooks(WebhookCases, ApiTest):
    pass


class Hooks(HookCases, ApiTest):
    contract = CONTRACT
    ebb_path = EBB


class Views(ViewCases, ApiTest):
    contract = CONTRACT


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
