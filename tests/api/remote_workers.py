"""The protocol of remote workers, request by request: cases for api_test.py."""

from world import Client


class RemoteWorkerCases:
    """The protocol of remote workers, request by request."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, steps in (("remote", "steps: [work]"),
                            ("once", "steps: [{step: work, max_attempts: 1, timeout: 300ms}]"),
                            ("other", "steps: [{step: elsewhere, queue: mail}]")):
            text = f"workflow: {name}\n{steps}\n"
            cls.api("POST", "/workflows", text, {"Content-Type": "application/yaml"})
        cls.token = cls.api("PUT", "/tokens/crew", {"role": "worker"}).json()["token"]
        cls.crew = Client(cls.server, cls.contract, token=cls.token)
        cls.addClassCleanup(cls.crew.close)

    def open(self, name, handlers=("work",), **more):
        answer = self.crew.post("/worker/sessions", {"worker_id": name, "handlers": list(handlers), **more})
        self.assertEqual(answer.status, 201, answer.body)
        session = answer.json()["session"]
        self.addCleanup(self.crew.post, "/worker/close", {"session": session})
        return session

    def poll(self, session, status=200, **more):
        answer = self.crew.post("/worker/poll", {"session": session, **more})
        self.assertEqual(answer.status, status, answer.body)
        return answer.json()

    def task(self, session, **more):
        """The next task; a poll may be empty when its time is over."""
        for _ in range(100):
            tasks = self.poll(session, free=1, wait="2s", **more)["tasks"]
            if tasks:
                return tasks[0]
        self.fail("no task")

    def begin(self, workflow="remote", **options):
        answer = self.api.post("/instances", {"workflow": workflow, "input": {"n": 1.50}, **options})
        return answer.json()["id"]

    def complete(self, session, *done):
        answer = self.crew.post("/worker/complete", {"session": session, "done": list(done)})
        self.assertEqual(answer.status, 200, answer.body)
        return [result["outcome"] for result in answer.json()["results"]]

    def outcome(self, instance):
        answer = self.api.get(f"/instances/{instance}/result", wait="30s")
        return answer.json()["status"], answer.json()["output"]

    def test_one_round_trip_reports_and_gets_the_next_task(self):
        session = self.open("w1")
        instances = {self.begin() for _ in range(3)}
        seen, done = set(), []
        while len(seen) < 3:
            answer = self.poll(session, free=1, wait="2s", done=done)
            outcomes = [result["outcome"] for result in answer["results"]]
            self.assertEqual(outcomes, ["recorded"] * len(done))
            done = []
            for task in answer["tasks"]:
                about = task["handler"], task["attempt"], task["input"]
                self.assertEqual(about, ("work", 1, {"n": 1.5}))
                seen.add(task["instance"])
                done.append({"task": task["task"], "completed": {"output": {"by": "w1"}}})
        self.assertEqual(seen, instances)
        self.assertEqual(self.complete(session, *done), ["recorded"] * len(done))
        for instance in instances:
            self.assertEqual(self.outcome(instance), ("completed", {"by": "w1"}))
        [worker] = [row for row in self.api.get("/workers").json()["items"] if row["id"] == "w1"]
        about = worker["handlers"], worker["threads"], worker["is_alive"]
        self.assertEqual(about, (["work"], 1, True))

    def test_a_repeated_report_changes_nothing(self):
        session = self.open("w2")
        instance = self.begin()
        report = {"task": self.task(session)["task"], "completed": {"output": 1}}
        self.assertEqual(self.complete(session, report), ["recorded"])
        self.assertEqual(self.complete(session, dict(report, completed={"output": 2})), ["recorded"])
        self.assertEqual(self.outcome(instance), ("completed", 1))

    def test_forged_and_foreign_reports_are_refused(self):
        session, other = self.open("w3"), self.open("w4", ("elsewhere",))
        instance = self.begin()
        token = self.task(session)["task"]
        text, mac = token.split(".")
        changed = token[:-2] + ("AA" if token[-2:] != "AA" else "BB")
        forged = [changed, text, f"{text}.", "x", f"{mac}.{text}"]
        answer = self.crew.post("/worker/complete", {"session": session, "done": [
            {"task": one, "completed": {}} for one in forged]}).json()
        self.assertEqual([(one["outcome"], one["problem"]["code"]) for one in answer["results"]],
                         [("refused", "invalid_task")] * len(forged))
        [answer] = self.crew.post("/worker/complete", {"session": other, "done": [
            {"task": token, "completed": {}}]}).json()["results"]
        self.assertEqual((answer["outcome"], answer["problem"]["code"]), ("refused", "not_allowed"))
        mine = {"task": token, "completed": {"output": "mine"}}
        self.assertEqual(self.complete(session, mine), ["recorded"])
        self.assertEqual(self.outcome(instance), ("completed", "mine"))

    def test_a_late_report_is_stale(self):
        session = self.open("w5")
        instance = self.begin("once")
        task = self.task(session)
        for _ in range(100):
            if task["task"] in self.poll(session, wait="2s", held=[task["task"]])["stop"]:
                break
        failed = {"task": task["task"], "failed": {"code": "slow", "message": "too late"}}
        self.assertEqual(self.complete(session, failed), ["recorded"])
        answer = self.api.get(f"/instances/{instance}/result", wait="30s").json()
        self.assertEqual((answer["status"], answer["error"]["code"]), ("failed", "timeout"))
        ended = self.begin()
        task = self.task(session)
        self.api.post(f"/instances/{ended}/abort")
        self.assertEqual(self.outcome(ended)[0], "aborted")
        for _ in range(100):
            answer = self.poll(session, wait="2s", held=[task["task"]])
            if task["task"] in answer["stop"] + answer["lost"]:
                break
        outcome = self.complete(session, {"task": task["task"], "completed": {}})[0]
        self.assertIn(outcome, ("stale", "recorded"))
        self.assertEqual(self.outcome(ended)[0], "aborted")

    def test_what_was_given_and_is_not_held_is_given_again(self):
        session = self.open("w6")
        self.begin()
        first = self.task(session)
        self.assertEqual(self.poll(session, free=1, held=[first["task"]])["tasks"], [])
        again = self.task(session)
        self.assertEqual(again, first)
        lost = self.poll(session, held=[first["task"], "none"])["lost"]
        self.assertEqual(lost, ["none"])
        self.complete(session, {"task": first["task"], "completed": {}})

    def test_a_silent_worker_loses_its_tasks(self):
        session = self.open("w7", lease="1s")
        instance = self.begin()
        task = self.task(session)
        other = self.open("w8")
        taken = self.task(other)
        self.assertEqual((taken["instance"], taken["attempt"]), (instance, 2))
        self.assertEqual(taken["idempotency_key"], task["idempotency_key"])
        self.server.wait_for("remote_worker_lost")
        self.assertEqual(self.complete(session, {"task": task["task"], "completed": {}}), ["stale"])
        report = {"task": taken["task"], "completed": {"output": 8}}
        self.assertEqual(self.complete(other, report), ["recorded"])
        self.assertEqual(self.outcome(instance), ("completed", 8))

    def test_a_silent_worker_loses_a_task_that_no_other_worker_takes(self):
        session = self.open("w7b", lease="1s")
        instance = self.begin()
        token = self.task(session)["task"]
        self.server.wait_for("remote_worker_lost", worker="w7b")
        report = {"task": token, "completed": {"output": 1}}
        self.assertEqual(self.complete(session, report), ["stale"])
        answer = self.poll(session, held=[token], done=[report])
        self.assertEqual([one["outcome"] for one in answer["results"]], ["stale"])
        self.assertEqual(answer["lost"], [token])
        again = self.task(session)
        self.assertEqual((again["instance"], again["attempt"]), (instance, 2))
        report_again = {"task": again["task"], "completed": {"output": 2}}
        self.assertEqual(self.complete(session, report_again), ["recorded"])
        self.assertEqual(self.complete(session, report), ["stale"])
        self.assertEqual(self.outcome(instance), ("completed", 2))

    def test_a_task_that_was_never_delivered_costs_no_attempt(self):
        session = self.open("w9", slots=2)
        instances = {self.begin(), self.begin()}
        tasks = []
        while len(tasks) < 2:
            tasks += self.poll(session, free=2, wait="2s", held=[one["task"] for one in tasks])["tasks"]
        # One of them was lost on its way, so it is not called when the worker signs off.
        self.poll(session, held=[tasks[0]["task"]])
        self.assertEqual(self.crew.post("/worker/close", {"session": session}).status, 204)
        other = self.open("w10", slots=2)
        attempts = {}
        while len(attempts) < 2:
            held = [one for one, _ in attempts.values()]
            for task in self.poll(other, free=2, wait="2s", held=held)["tasks"]:
                attempts[task["instance"]] = (task["task"], task["attempt"])
        self.assertEqual(set(attempts), instances)
        self.assertEqual(attempts[tasks[0]["instance"]][1], 2)
        self.assertEqual(attempts[tasks[1]["instance"]][1], 1)
        self.complete(other, *({"task": task, "completed": {}} for task, _ in attempts.values()))

    def test_a_newer_session_displaces_the_older_one(self):
        first = self.open("w11")
        second = self.open("w11")
        answer = self.crew.post("/worker/poll", {"session": first})
        self.problem(answer, 409, "worker_displaced")
        self.poll(second)
        self.crew.post("/worker/close", {"session": second})
        self.problem(self.crew.post("/worker/poll", {"session": second}), 409, "invalid_session")
        self.problem(self.crew.post("/worker/poll", {"session": second[:-1]}), 409, "invalid_session")

    def test_a_token_serves_what_it_was_made_for(self):
        token = self.api("PUT", "/tokens/mailers", {
            "role": "worker", "handlers": ["mail_*"], "queues": ["mail"]}).json()["token"]
        client = Client(self.server, self.contract, token=token)
        self.addCleanup(client.close)
        good = {"worker_id": "mailer", "handlers": ["mail_out"], "queues": ["mail"]}
        for change in ({"handlers": ["mail_out", "work"]}, {"queues": []}, {"queues": ["mail", "other"]}):
            answer = client.post("/worker/sessions", {**good, **change})
            self.problem(answer, 403, "not_allowed")
        session = client.post("/worker/sessions", good).json()["session"]
        self.problem(self.crew.post("/worker/poll", {"session": session}), 403, "not_allowed")
        answer = self.crew.post("/worker/sessions", {**good, "handlers": ["work"]})
        self.problem(answer, 403, "not_allowed")
        self.assertEqual(client.post("/worker/close", {"session": session}).status, 204)
        own = self.api.get("/workers").json()["items"][0]["id"]
        answer = self.crew.post("/worker/sessions", {"worker_id": own, "handlers": ["work"]})
        self.problem(answer, 409, "conflict")

    def test_requests_beyond_the_limits_are_refused(self):
        session = self.open("w12")
        for body in ({"handlers": []}, {"handlers": [f"h{n}" for n in range(257)]}, {"handlers": ["a b"]},
                     {"handlers": ["x" * 129]}, {"handlers": ["work"], "slots": 257},
                     {"handlers": ["work"], "slots": 0}, {"handlers": ["work"], "lease": "10ms"},
                     {"handlers": ["work"], "lease": "2h"}, {"handlers": ["work"], "worker_id": "x y"}):
            self.problem(self.crew.post("/worker/sessions", body), 400, "invalid_argument")
        long = {"task": "x", "notes": 1}
        for body in ({"free": 257}, {"held": ["x"] * 257}, {"done": [long] * 257}, {"wait": "soon"},
                     {"done": ["x"]}, {"done": [{"task": "x"}]}, {"done": 1},
                     {"done": [{"task": "x", "completed": {}, "paused": True}]},
                     {"done": [{"task": "x", "failed": {"code": "no such code"}}]},
                     {"notes": [{"task": "x", "progress": "x" * 16_384}]},
                     {"notes": [{"task": "x", "log": [{"message": "x", "level": "loud"}]}]}):
            answer = self.crew.post("/worker/poll", {"session": session, **body})
            self.problem(answer, 400, "invalid_argument")
        self.problem(self.crew.post("/worker/poll", {"session": session, "fre": 1}), 400, "unknown_field")
        self.problem(self.crew.post("/worker/poll", {}), 400, "invalid_argument")
