"""Webhooks, request by request: cases for api_test.py."""

import base64
import re


class WebhookCases:
    """The resource /webhooks. webhooks_test.py delivers events."""

    URL = "https://hooks.example.com/ebb"

    def put(self, name, **settings):
        answer = self.api("PUT", f"/webhooks/{name}", {"url": self.URL, "enabled": False, **settings})
        self.assertEqual(answer.status, 200, answer.body)
        self.addCleanup(self.api, "DELETE", f"/webhooks/{name}")
        return answer.json()

    def test_a_secret_is_shown_only_when_it_is_made(self):
        made = self.put("shown", events=["instance.*"], workflows=["order"])
        self.assertRegex(made["secret"], "^whsec_[A-Za-z0-9+/=]+$")
        self.assertEqual(len(base64.b64decode(made["secret"].removeprefix("whsec_"))), 32)
        seen = self.api.get("/webhooks/shown")
        self.assertEqual(seen.status, 200)
        self.assertNotIn("whsec_", seen.body)
        self.assertEqual(seen.json()["events"], ["instance.*"])
        self.assertTrue(seen.json()["has_secret"])
        listed = self.api.get("/webhooks")
        self.assertIn("shown", [item["name"] for item in listed.json()["items"]])
        self.assertNotIn("whsec_", listed.body)
        again = self.api("PUT", "/webhooks/shown", {"url": self.URL, "enabled": False})
        self.assertNotIn("secret", again.json())
        self.assertEqual(again.json()["events"], [])

    def test_a_rotation_keeps_the_old_secret_for_a_time(self):
        first = self.put("rotated")["secret"]
        answer = self.api.post("/webhooks/rotated/rotate", {"keep_old": "1h"})
        self.assertEqual(answer.status, 200, answer.body)
        self.assertNotEqual(answer.json()["secret"], first)
        self.assertIsNotNone(answer.json()["old_secret_until"])
        self.assertEqual(answer.headers["cache-control"], "no-store")
        at_once = self.api.post("/webhooks/rotated/rotate", {"keep_old": "0s"})
        self.assertIsNone(at_once.json()["old_secret_until"])
        self.problem(self.api.post("/webhooks/rotated/rotate", {"keep_old": "31d"}), 400, "invalid_argument")

    def test_what_is_wrong_with_settings_is_said(self):
        for name, settings, why in (
            ("bad", {"url": "ftp://example.com"}, "url"),
            ("bad", {"url": "https://ann:pw@example.com"}, "password"),
            ("bad", {"url": self.URL, "events": ["instance.exploded"]}, "instance.exploded"),
            ("bad", {"url": self.URL, "secret": "hunter2"}, "whsec_"),
            ("bad", {"url": self.URL, "surprise": True}, "surprise"),
            ("bad", {"url": self.URL, "format": "fax"}, "fax"),
            ("bad%20name", {"url": self.URL}, "letters"),
        ):
            problem = self.problem(self.api("PUT", f"/webhooks/{name}", settings), 400, "invalid_argument")
            self.assertIn(why, problem["detail"])
            self.assertNotIn("hunter2", problem["detail"])
        self.assertIsNone(re.search('"bad"', self.api.get("/webhooks").body))

    def test_a_ping_needs_a_webhook_that_is_enabled(self):
        self.put("off")
        self.problem(self.api.post("/webhooks/off/ping"), 400, "invalid_argument")
        # Refused where it connects: the address is this machine's.
        self.put("on", url="http://127.0.0.1:9/", enabled=True)
        self.assertEqual(self.api.post("/webhooks/on/ping").status, 202)
        self.problem(self.api.post("/webhooks/none/ping"), 404, "not_found")

    def test_shows_no_deliveries_of_others(self):
        self.put("lonely")
        empty = self.api.get("/webhooks/lonely/deliveries").json()
        self.assertEqual(empty, {"items": [], "next_cursor": None})
        self.problem(self.api.get("/webhooks/none/deliveries"), 404, "not_found")
        unknown = self.api.get("/webhooks/lonely/deliveries", status="gone")
        self.assertIn("dead_letter", self.problem(unknown, 400, "invalid_argument")["detail"])
        self.problem(self.api.get("/webhooks/lonely/deliveries", cursor="x"), 400, "invalid_argument")
        unknown = "/webhooks/lonely/deliveries/019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d/redeliver"
        self.problem(self.api.post(unknown), 404, "instance_not_found")
        self.put("lon")
        self.put("busy", url="http://127.0.0.1:9/", enabled=True)
        self.assertEqual(self.api.post("/webhooks/busy/ping").status, 202)
        delivery = self.until_dead_letter("busy")
        self.assertEqual((delivery["type"], delivery["attempts"], delivery["instance"]), ("ping", 1, None))
        self.assertEqual(delivery["error"]["code"], "address_refused")
        other = f"/webhooks/lon/deliveries/{delivery['id']}/redeliver"
        self.problem(self.api.post(other), 404, "instance_not_found")
        self.assertEqual(self.api.post(f"/webhooks/busy/deliveries/{delivery['id']}/redeliver").status, 202)
        self.until_dead_letter("busy", attempts=2)
        self.api.post(f"/instances/{delivery['id']}/abort")
        stopped = self.api.get("/webhooks/busy/deliveries", status="stopped").json()["items"]
        self.assertEqual([item["id"] for item in stopped], [delivery["id"]])
        self.api("PUT", "/webhooks/busy", {"url": self.URL, "enabled": False})
        again = self.api.post(f"/webhooks/busy/deliveries/{delivery['id']}/redeliver")
        self.problem(again, 400, "invalid_argument")

    def until_dead_letter(self, name, attempts=1):
        for _ in range(10_000):
            items = self.api.get(f"/webhooks/{name}/deliveries", status="dead_letter").json()["items"]
            if items and items[0]["attempts"] == attempts:
                return items[0]
        self.fail(f"{name} has no delivery with {attempts} failed attempts")

    def test_deletes(self):
        self.put("short-lived")
        self.assertEqual(self.api("DELETE", "/webhooks/short-lived").status, 204)
        self.problem(self.api("DELETE", "/webhooks/short-lived"), 404, "not_found")
        self.problem(self.api.get("/webhooks/short-lived"), 404, "not_found")

    def test_workflows_and_handlers_of_ebb_are_its_own(self):
        text = "workflow: ebb:webhook\nsteps: [charge]\n"
        answer = self.api("POST", "/workflows", text, {"Content-Type": "application/yaml"})
        self.assertIn(answer.status, (400, 422))
        answer = self.api.post("/instances", {"workflow": "ebb:webhook", "input": {}})
        self.problem(answer, 400, "invalid_argument")
