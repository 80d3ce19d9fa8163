"""Payloads are hidden from callers that may not read them, in sentences, too. Cases for access_test.py."""

from world import RULES

YAML = {"Content-Type": "application/yaml"}


class HiddenCases:
    def test_hides_payloads_from_whoever_may_not_read_them(self):
        instance = self.begin()
        viewer = self.client("metadata", "viewer")
        shown = viewer.get(f"/instances/{instance}").json()["input"]
        self.assertEqual(set(shown), {"$hidden", "bytes"})
        self.assertNotIn("notes", viewer.get(f"/instances/{instance}/history").body)

    def test_no_sentence_shows_a_payload_to_whoever_may_not_read_it(self):
        failing, waiting, rules = "billing.failing", "billing.waiting", "billing.rules"
        attempts = {failing: "max_attempts: 1", waiting: "max_attempts: 2, backoff: {initial: 1h, max: 1h}"}
        for name, more in attempts.items():
            text = f"workflow: {name}\nsteps: [{{step: charge, {more}}}]\n"
            self.assertEqual(self.api("POST", "/workflows", text, YAML).status, 201)
        late = "  triggers:\n    late: {when: amount > 50000, do: charge, writes: []}"
        text = RULES.replace("loan", rules).replace("  triggers:", late)
        self.assertEqual(self.api("POST", "/workflows", text, YAML).status, 201)
        instances = {name: self.start(name) for name in attempts}
        worker = {"worker_id": "fails", "handlers": ["charge"], "slots": 2}
        session = self.api.post("/worker/sessions", worker).json()["session"]
        recorded = 0
        while recorded < len(attempts):
            poll = {"session": session, "free": 2, "wait": "1s"}
            tasks = self.api.post("/worker/poll", poll).json()["tasks"]
            failed = {"code": "no_funds", "message": "PLANTED text"}
            done = [{"task": task["task"], "failed": failed} for task in tasks]
            answer = self.api.post("/worker/complete", {"session": session, "done": done}).json()
            recorded += [one["outcome"] for one in answer["results"]].count("recorded")
        self.api.post("/worker/close", {"session": session})
        instances[rules] = self.start(rules, input={"amount": 41234})
        viewer, operator = self.client("reads-no-text", "viewer"), self.client("reads-text", "operator")
        # What the permission is about: the others read the text.
        shown = {(failing, "/why"), (failing, "/graph"), (waiting, ""), (waiting, "/why"), (rules, "/why")}
        for name, instance in instances.items():
            for path in ("", "/why", "/graph", "/steps", "/history", "/related", "/result"):
                pages = [client.get(f"/instances/{instance}{path}") for client in (viewer, operator)]
                self.assertEqual([page.status < 300 for page in pages], [True, True], path)
                found = [secret in page.body for page in pages for secret in ("PLANTED", "41234")]
                self.assertEqual(found[:2], [False, False], (name, path, pages[0].body))
                if (name, path) in shown:
                    self.assertIn(True, found[2:], (name, path, pages[1].body))
        self.assertIn("no_funds", viewer.get(f"/instances/{instances[failing]}/why").body)
        groups = operator.get("/failures/groups").json()["items"]
        lists = [("/instances", {"outline": "true"}), ("/failures/groups", {}),
                 ("/search", {"q": instances[failing]})]
        lists += [(f"/failures/{group['group']}", {}) for group in groups]
        for path, query in lists:
            self.assertNotIn("PLANTED", viewer.get(path, **query).body, path)
        [group] = [one for one in groups if one["workflow"] == failing]
        self.assertIn("PLANTED", group["message"])
        hidden = viewer.get(f"/failures/{group['group']}").json()["items"]
        self.assertEqual([(one["code"], one["message"]) for one in hidden], [("no_funds", None)])
