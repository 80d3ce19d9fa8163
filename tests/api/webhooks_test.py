#!/usr/bin/env python3
"""Deliveries of a real `ebb serve` to a receiver of our own: webhooks_test.py REPOSITORY EBB STORE

The receiver checks signatures as how-to/webhooks.md says, and knows nothing of Ebb. No case waits for
a time; limits in minutes only guard against hanging.
"""

import base64
import json
import os
import pathlib
import re
import signal
import sys
import unittest

from contract import Contract
from receiver import Receiver
from world import Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
CONTRACT = Contract(ROOT)
PAGE = ROOT / "docs" / "how-to" / "webhooks.md"

WORKFLOW = """
workflow: order
sensitive: [/number]
steps: [charge]
handlers:
  charge: {exec: [cat]}
"""


def documented_check():
    """The function of the page that receivers copy."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.S).group(1)
    scope = {}
    exec(code, scope)
    return scope["is_genuine"]


IS_GENUINE = documented_check()


class Deliveries(unittest.TestCase):
    def setUp(self):
        self.folder = Folder()
        self.path = self.folder.__enter__()
        self.addCleanup(self.folder.__exit__)
        self.file = pathlib.Path(self.path, "order.yaml")
        self.file.write_text(WORKFLOW)
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def serve(self, *arguments):
        flags = ["--allow-exec", "--requests-per-second", "0", *arguments]
        server = Server(EBB, STORE, self.path, flags, [str(self.file)])
        self.addCleanup(server.stop)
        api = log_in(server, CONTRACT)
        self.addCleanup(api.close)
        return server, api

    def put(self, api, name="ops", **settings):
        answer = api("PUT", f"/webhooks/{name}", {"url": self.receiver.url, **settings})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json()

    def ping_until_known(self, api, name="ops"):
        """Afterwards the worker knows the webhook: it has relayed a ping."""
        self.assertEqual(api.post(f"/webhooks/{name}/ping").status, 202)
        self.receiver.wait_for(lambda all: any(b'"ping"' in body for _, _, body in all))

    def start(self, api, **options):
        answer = api.post("/instances", {"workflow": "order", "input": 1, **options})
        self.assertIn(answer.status, (200, 201), answer.body)
        return answer.json()["id"]

    def test_an_event_arrives_signed_and_only_the_secret_makes_it_genuine(self):
        _, api = self.serve("--webhooks-allow-private")
        secret = self.put(api)["secret"]
        self.ping_until_known(api)
        instance = self.start(api, key="k-1")
        received = self.receiver.wait_for(lambda all: len(all) >= 3)
        other = "whsec_" + base64.b64encode(os.urandom(32)).decode()
        for _, headers, body in received:
            self.assertTrue(IS_GENUINE(secret, headers, body))
            self.assertFalse(IS_GENUINE(secret, headers, body + b" "))
            self.assertFalse(IS_GENUINE(other, headers, body))
            self.assertEqual(headers["content-type"], "application/json")
            self.assertRegex(headers["user-agent"], "^ebb/")
        events = {json.loads(body)["type"]: json.loads(body) for _, _, body in received}
        self.assertEqual(set(events), {"ping", "instance.started", "instance.completed"})
        data = events["instance.completed"]["data"]
        self.assertEqual((data["instance"], data["workflow"], data["key"], data["status"]),
                         (instance, "order", "k-1", "completed"))
        hidden = api.get("/instances").json()["items"]
        self.assertEqual([item["id"] for item in hidden], [instance])
        shown = api.get("/instances", workflow="ebb:webhook").json()["items"]
        self.assertEqual(len(shown), 3)
        self.assertEqual(len(api.get("/instances", system="true").json()["items"]), 4)
        self.assertEqual(self.names(api.get("/workflows")), {"order"})
        self.assertEqual(self.names(api.get("/workflows", versions="all")), {"order"})
        self.assertEqual(self.names(api.get("/workflows", system="true")), {"order", "ebb:webhook"})
        self.assertEqual(api.get("/stats").json()["instances"], {"completed": 1})

    def test_an_instance_names_what_was_sent_about_it(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api)
        self.put(api, "quiet", enabled=False)
        self.ping_until_known(api)
        instance = self.start(api)
        self.receiver.wait_for(lambda all: len(all) >= 3)
        [ended] = [item for item in self.delivered(api, 2) if item["type"] == "instance.completed"]
        self.assertEqual(api.post(f"/webhooks/ops/deliveries/{ended['id']}/redeliver").status, 202)
        self.receiver.wait_for(lambda all: len(all) >= 4)
        self.delivered(api, 3)
        found = api.get(f"/instances/{instance}/related").json()["deliveries"]
        self.assertTrue(found["complete"])
        self.assertEqual([(item["webhook"], item["type"], item["instance"]) for item in found["items"]], [
            ("ops", "instance.completed", instance), ("ops", "instance.completed", instance),
            ("ops", "instance.started", instance),
        ])

    def delivered(self, api, count):
        """The deliveries of events of instances, once so many have been noted."""
        while True:
            items = api.get("/webhooks/ops/deliveries", status="delivered").json()["items"]
            found = [item for item in items if item["type"] != "ping"]
            if len(found) >= count:
                return found
            with self.receiver.news:
                self.receiver.news.wait(0.02)

    @staticmethod
    def names(answer):
        return {item["name"] for item in answer.json()["items"]}

    def test_a_rotation_signs_with_both_secrets(self):
        _, api = self.serve("--webhooks-allow-private")
        first = self.put(api)["secret"]
        second = api.post("/webhooks/ops/rotate", {"keep_old": "1h"}).json()["secret"]
        self.ping_until_known(api)
        _, headers, body = self.receiver.received[0]
        self.assertTrue(IS_GENUINE(first, headers, body))
        self.assertTrue(IS_GENUINE(second, headers, body))
        self.assertEqual(len(headers["webhook-signature"].split()), 2)

    def test_a_failed_delivery_is_repeated_with_the_same_id(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api)
        at_once = {"Retry-After": "0"}
        self.receiver.answers = [(503, at_once), (302, {"Location": "/else", **at_once})]
        api.post("/webhooks/ops/ping")
        received = self.receiver.wait_for(lambda all: len(all) >= 3)
        self.assertEqual([status for status, _, _ in received], [503, 302, 204])
        self.assertEqual(len({headers["webhook-id"] for _, headers, _ in received}), 1)
        self.assertEqual(len({body for _, _, body in received}), 1)

    def test_an_endpoint_that_is_gone_is_disabled(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api)
        self.receiver.answers = [(410, {})]
        api.post("/webhooks/ops/ping")
        instance = self.delivery(api, "dead_letter")
        self.assertIn("410", json.dumps(api.get(f"/instances/{instance}").json()["error"]))
        self.assertFalse(api.get("/webhooks/ops").json()["enabled"])

    def test_an_event_has_labels_links_and_if_wanted_its_payload(self):
        links = ("--public-url", "https://ebb.example.com/")
        _, api = self.serve("--webhooks-allow-private", *links, "--redact-names", "card")
        self.put(api, "bare")
        self.put(api, "full", payload=True)
        self.ping_until_known(api, "full")
        value = {"amount": 12345678901234567890.50, "card": "visa-4111", "number": "visa-4111"}
        text = '{"amount": 12345678901234567890.50, "card": "visa-4111", "number": "visa-4111"}'
        body = '{"workflow": "order", "labels": {"tenant": "acme"}, "input": ' + text + "}"
        instance = api.post("/instances", body).json()["id"]
        received = self.receiver.wait_for(lambda all: len(all) >= 5)
        found = {}
        for _, _, raw in received:
            event = json.loads(raw)
            if event["type"] != "ping":
                found.setdefault((event["type"], "payload" in event["data"]), []).append((event["data"], raw))
        expected = [("instance.completed", False), ("instance.completed", True),
                    ("instance.started", False), ("instance.started", True)]
        self.assertEqual(sorted(found), expected)
        for [(data, raw)] in found.values():
            self.assertEqual(data["labels"], {"tenant": "acme"})
            site = "https://ebb.example.com"
            self.assertEqual(data["links"], {"ui": f"{site}/instances/{instance}",
                                             "api": f"{site}/api/v1/instances/{instance}"})
            self.assertNotIn(b"visa-4111", raw)
            if "payload" in data:
                hidden = {name: "\u2022\u2022\u2022" for name in ("card", "number")}
                self.assertEqual(data["payload"], {**value, **hidden})
                self.assertIn(b"12345678901234567890.50", raw)

    def test_the_text_of_a_failure_is_as_visible_as_a_payload(self):
        declined = """
workflow: declined
sensitive: [/details/number]
steps: [charge]
handlers:
  charge: {exec: [sh, -c, 'echo "no funds on 4111" >&2; exit 65']}
"""
        for arguments, has_text in ((["--redact-pointers", "declined:/message"], False),
                                    (["--hide-payloads"], False), ([], True)):
            self.file.write_text(declined)
            receiver = Receiver()
            self.addCleanup(receiver.close)
            server, api = self.serve("--webhooks-allow-private", *arguments)
            for form in ("standard", "slack", "teams", "cloudevents"):
                self.put(api, form, url=receiver.url, format=form, events=["instance.failed"])
            self.put(api, "ops", url=receiver.url, events=["queue.blocked"])
            self.assertEqual(api.post("/webhooks/ops/ping").status, 202)
            receiver.wait_for(lambda all: any(b'"ping"' in body for _, _, body in all))
            self.assertIn(api.post("/instances", {"workflow": "declined", "input": 1}).status, (200, 201))
            received = receiver.wait_for(lambda all: sum(b"exit_65" in body for _, _, body in all) == 4)
            for _, _, body in received:
                if b"exit_65" in body:
                    self.assertEqual(b"no funds" in body, has_text, body)
            server.stop()

    def test_a_filter_chooses_by_labels(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api, where='labels.tenant == "acme"', events=["instance.completed"])
        self.ping_until_known(api)
        self.start(api, labels={"tenant": "other"})
        self.listed(api, "skipped")
        ours = self.start(api, labels={"tenant": "acme"})
        received = self.receiver.wait_for(lambda all: len(all) >= 2)
        found = [json.loads(body)["data"].get("instance") for _, _, body in received]
        self.assertEqual(found, [None, ours])
        refused = api("PUT", "/webhooks/ops", {"url": self.receiver.url, "where": "labels.tenant =="})
        self.assertEqual(refused.status, 400)
        self.assertIn("line 1, column", refused.json()["detail"])

    def test_the_end_of_a_bulk_operation_is_an_event(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api, events=["bulk.*"])
        self.ping_until_known(api)
        self.start(api)
        bulk = api.post("/bulk", {"action": "pause", "where": "true"}).json()["id"]
        received = self.receiver.wait_for(lambda all: len(all) >= 2)
        event = json.loads(received[1][2])
        self.assertEqual((event["type"], event["data"]["instance"], event["data"]["status"]),
                         ("bulk.finished", bulk, "completed"))

    def test_deliveries_are_listed_and_sent_again_under_the_old_id(self):
        _, api = self.serve("--webhooks-allow-private")
        self.put(api)
        self.receiver.answers = [(503, {"Retry-After": "3600"})]
        api.post("/webhooks/ops/ping")
        self.receiver.wait_for(lambda all: len(all) >= 1)
        waiting = self.listed(api, "retrying")
        self.assertEqual((waiting["attempts"], waiting["error"]["code"]), (1, "http_503"))
        self.assertIsNotNone(waiting["next_attempt_at"])
        self.assertEqual(api.post(f"/webhooks/ops/deliveries/{waiting['id']}/redeliver").status, 409)
        instance = self.start(api, key="again")
        self.receiver.wait_for(lambda all: len(all) >= 3)
        delivered = self.listed(api, "delivered")
        self.assertEqual((delivered["instance"], delivered["response_status"]), (instance, 204))
        first = [(headers["webhook-id"], body) for _, headers, body in self.receiver.received
                 if headers["webhook-id"] == delivered["event_id"]]
        for again in (1, 2):
            path = f"/webhooks/ops/deliveries/{delivered['id']}/redeliver"
            self.assertEqual(api.post(path).status, 202)
            received = self.receiver.wait_for(lambda all, n=again: len(all) >= 3 + n)
            _, headers, body = received[-1]
            self.assertEqual([(headers["webhook-id"], body)], first)
        pages = []
        cursor = {}
        while cursor is not None:
            page = api.get("/webhooks/ops/deliveries", limit=2, **cursor).json()
            pages += page["items"]
            cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
        self.assertEqual(len({item["id"] for item in pages}), len(pages))
        self.assertEqual(sum(item["event_id"] == delivered["event_id"] for item in pages), 3)

    def listed(self, api, status):
        """The newest delivery with this status."""
        for _ in range(10_000):
            items = api.get("/webhooks/ops/deliveries", status=status).json()["items"]
            if items:
                return items[0]
        self.fail(f"no delivery is {status}")

    def delivery(self, api, status):
        """The id of the only delivery, once it has this status."""
        for _ in range(10_000):
            items = api.get("/instances", workflow="ebb:webhook", status=status).json()["items"]
            if items:
                return items[0]["id"]
            api.get("/me")
        self.fail(f"no delivery is {status}")

    def test_private_addresses_are_refused(self):
        _, api = self.serve()
        self.put(api)
        api.post("/webhooks/ops/ping")
        instance = self.delivery(api, "dead_letter")
        self.assertIn("address_refused", json.dumps(api.get(f"/instances/{instance}").json()["error"]))
        self.assertEqual(self.receiver.received, [])

    def test_a_webhook_takes_effect_at_once_in_the_server_that_has_put_it(self):
        _, api = self.serve("--webhooks-allow-private")
        types = lambda all: [json.loads(body)["type"] for _, _, body in all]
        for turn in range(5):
            self.put(api, events=["instance.started"])
            instance = self.start(api)
            received = self.receiver.wait_for(lambda all: len(all) > turn)
            self.assertEqual(json.loads(received[turn][2])["data"]["instance"], instance)
            self.assertEqual(api("DELETE", "/webhooks/ops").status, 204)
            self.start(api)
        self.assertEqual(types(self.receiver.received), ["instance.started"] * 5)

    def test_a_private_address_is_reached_in_a_named_network_only(self):
        server, api = self.serve("--webhooks-allow-private=10.0.0.0/8,fd00::/8")
        self.put(api)
        api.post("/webhooks/ops/ping")
        error = json.dumps(api.get(f"/instances/{self.delivery(api, 'dead_letter')}").json()["error"])
        self.assertIn("address_refused", error)
        self.assertIn("the private or reserved address 127.0.0.1", error)
        self.assertEqual(self.receiver.received, [])
        api.close()
        server.stop()
        _, api = self.serve("--webhooks-allow-private=10.0.0.0/8,127.0.0.0/8")
        self.put(api)
        self.ping_until_known(api)

    @unittest.skipIf(STORE == "memory", "a memory store ends with its process")
    def test_no_event_is_lost_or_invented_when_the_server_is_killed_again_and_again(self):
        server, api = self.serve("--webhooks-allow-private")
        secret = self.put(api, events=["instance.started", "instance.completed"])["secret"]
        # From here on: a worker learns of a new webhook with its next heartbeat.
        self.ping_until_known(api)
        pings = {headers["webhook-id"] for _, headers, _ in self.receiver.received}
        started = set()
        for life in range(6):
            before = len(self.receiver.received)
            for i in range(20):
                # A start that is repeated after a kill finds its key.
                started.add(self.start(api, key=f"{life}-{i}"))
            # In the middle of commits, relays and deliveries: a few have arrived, most have not.
            self.receiver.wait_for(lambda all: len(all) >= before + 1 + life)
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(timeout=60)
            server, api = self.serve("--webhooks-allow-private")
        expected = set()
        for instance in started:
            result = api.get(f"/instances/{instance}/result", wait="60s")
            self.assertEqual(result.status, 200, result.body)
            for event in api.get(f"/instances/{instance}/history").json()["items"]:
                if event["type"] in ("started", "completed"):
                    expected.add(f"evt_{instance}_{event['seq']}")
        self.receiver.wait_for(lambda all: expected <= {headers["webhook-id"] for _, headers, _ in all})
        bodies = {}
        for _, headers, body in self.receiver.received:
            self.assertTrue(IS_GENUINE(secret, headers, body))
            bodies.setdefault(headers["webhook-id"], set()).add(body)
        self.assertEqual(set(bodies) - pings, expected)
        self.assertEqual({name: found for name, found in bodies.items() if len(found) > 1}, {})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
