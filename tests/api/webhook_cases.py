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
