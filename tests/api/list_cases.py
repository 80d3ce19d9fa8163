"""Lists of instances, filter by filter: cases for api_test.py."""

from world import Client


class ListCases:
    """Orders, filters and members of GET /instances."""

    def test_lists_the_oldest_first(self):
        def pages(**filters):
            found, cursor = [], {}
            while True:
                page = self.api.get("/instances", limit=2, **filters, **cursor).json()
                found += [row["id"] for row in page["items"]]
                if page["next_cursor"] is None:
                    return found
                cursor = {"cursor": page["next_cursor"]}
        started = [self.start(labels={"shop": "sorted"}) for _ in range(5)]
        since = {"created_after": self.created(started[0])}
        for filters in ({"label": "shop:sorted"}, {"workflow": "order", **since}, since):
            for order, expected in (("created", started), ("-created", started[::-1])):
                mine = [one for one in pages(sort=order, **filters) if one in started]
                self.assertEqual(mine, expected, filters)
        page = self.api.get("/instances", label="shop:sorted", sort="created", limit=2).json()
        self.assertEqual((page["next_after"], page["next_before"]), (started[1], None))
        rest = self.api.get("/instances", label="shop:sorted", sort="created",
            after=page["next_after"]).json()
        self.assertEqual([row["id"] for row in rest["items"]], started[2:])
        between = self.api.get("/instances", label="shop:sorted", after=started[0],
            before=started[3]).json()
        self.assertEqual([row["id"] for row in between["items"]], [started[2], started[1]])
        counted = self.api.get("/instances/count", label="shop:sorted", after=started[1]).json()
        self.assertEqual(counted["total"], 3)
        # The order is a part of what a cursor belongs to.
        other = self.api.get("/instances", label="shop:sorted", limit=2, cursor=page["next_cursor"])
        self.problem(other, 400, "cursor_mismatch")
        refused = self.problem(self.api.get("/instances", sort="key"), 400, "invalid_argument")
        self.assertIn("-created, created", refused["detail"])
        self.problem(self.api.get("/instances", after="x"), 400, "invalid_argument")

    def created(self, instance):
        return self.api.get(f"/instances/{instance}").json()["created_at"]

    def test_lists_by_key_and_by_time(self):
        mark = self.api.get("/").json()["time"]
        instance = self.start(key="find-me-1")
        for query in ({"key": "find-me-1"}, {"key_prefix": "find-me"}, {"created_after": mark}):
            rows = self.api.get("/instances", **query).json()["items"]
            self.assertIn(instance, [row["id"] for row in rows], query)
        rows = self.api.get("/instances", created_before=mark, limit=1000).json()["items"]
        self.assertNotIn(instance, [row["id"] for row in rows])

    def found(self, **filters):
        """The ids of all pages. A page may end before it is full."""
        found, cursor = [], {}
        while True:
            answer = self.api.get("/instances", **filters, **cursor)
            self.assertEqual(answer.status, 200, answer.body)
            page = answer.json()
            found += [row["id"] for row in page["items"]]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    def put(self, workflow):
        answer = self.api("POST", "/workflows", workflow, {"Content-Type": "application/yaml"})
        self.assertIn(answer.status, (200, 201), answer.body)

    def test_lists_by_what_instances_wait_for(self):
        waiting = self.start(labels={"shop": "waits"})
        self.until_waiting(waiting, "decision")
        self.put("workflow: idle\nsteps: [{step: unserved}]\n")
        idle = self.start(workflow="idle", labels={"shop": "waits"})
        done = self.start(labels={"shop": "waits"})
        self.finish(done)
        shop = {"label": "shop:waits"}
        for filters, expected in (
            ({"waiting": "decision"}, [waiting]),
            ({"waiting": "worker"}, [idle]),
            ({"waiting": "worker,decision"}, [idle, waiting]),
            ({"waiting": "decision,worker", "sort": "created"}, [waiting, idle]),
            ({"waiting": "decision,worker", "limit": 1}, [idle, waiting]),
            ({"waiting": "timer"}, []),
            ({"node": "approve"}, [waiting]),
            ({"node": "unserved"}, [idle]),
            ({"node": "unserved", "waiting": "decision"}, []),
            ({"node": "approve", "status": "running,completed"}, [waiting]),
            ({"node": "paid", "status": "completed"}, []),
        ):
            self.assertEqual(self.found(**shop, **filters), expected, filters)
        # Also without a filter that the store judges: the index of the statuses leads there.
        self.assertEqual(self.found(node="unserved"), [idle])
        self.assertIn(waiting, self.found(waiting="decision"))
        refused = self.problem(self.api.get("/instances", waiting="money"), 400, "invalid_argument")
        self.assertIn("decision, signal, timer", refused["detail"])
        self.problem(self.api.get("/instances", waiting="timer", count="exact"), 400, "invalid_argument")

    def work(self, *handlers):
        """A session of a worker in this test, and a function that gets its next task."""
        token = self.api("PUT", "/tokens/lister", {"role": "worker"}).json()["token"]
        self.addCleanup(self.api, "DELETE", "/tokens/lister")
        crew = Client(self.server, self.contract, token=token)
        self.addCleanup(crew.close)
        opened = crew.post("/worker/sessions", {"worker_id": "lister", "handlers": list(handlers)})
        session = opened.json()["session"]
        self.addCleanup(crew.post, "/worker/close", {"session": session})

        def next_task(**done):
            for _ in range(50):
                polled = crew.post("/worker/poll", {"session": session, "free": 1, "wait": "2s", **done})
                if polled.json()["tasks"]:
                    return polled.json()["tasks"][0]
            self.fail("no task")

        def fail(code, message):
            done = {"task": next_task()["task"], "failed": {"code": code, "message": message}}
            answer = crew.post("/worker/complete", {"session": session, "done": [done]})
            self.assertEqual(answer.json()["results"][0]["outcome"], "recorded", answer.body)
        return next_task, fail

    def test_lists_what_a_worker_runs(self):
        self.put("workflow: afar\nsteps: [far]\n")
        next_task, _ = self.work("far")
        instance = self.start(workflow="afar")
        self.start(workflow="afar")
        tasks = [next_task()]
        self.assertEqual(self.found(worker="lister"), [tasks[0]["instance"]])
        self.assertEqual(self.found(worker="lister", node="far", workflow="afar"), [tasks[0]["instance"]])
        self.assertEqual(self.found(worker="none"), [])
        self.assertIn(instance, self.found(node="far"))

    def test_lists_failures_and_projects(self):
        _, fail = self.work("break", "crack")
        for workflow, step in (("fragile", "break"), ("frail", "crack")):
            self.put(f"workflow: {workflow}\nsteps: [{{step: {step}, max_attempts: 1}}]\n")
        fragile = self.start(workflow="fragile", key="fragile-1")
        fail("shattered", "It is in pieces.")
        frail = self.start(workflow="frail")
        fail("shattered", "It is in pieces.")
        for instance in (fragile, frail):
            ended = self.api.get(f"/instances/{instance}/result", wait="30s").json()
            self.assertEqual(ended["status"], "failed", ended)
        [group] = self.api.get("/failures/groups", workflow="fragile").json()["items"]
        code, both = group["code"], [frail, fragile]
        self.assertEqual(code, "shattered")
        for filters, expected in (
            ({"failure": group["group"]}, [fragile]),
            ({"error_step": "crack"}, [frail]),
            ({"error_step": "crack,break"}, both),
            ({"error_code": code, "workflow": "fragile,frail"}, both),
            ({"error_code": code, "error_step": "break"}, [fragile]),
            ({"q": "fragile-"}, [fragile]),
            ({"q": "frai"}, [frail]),
            ({"q": "fra"}, both),
            ({"q": frail}, [frail]),
            ({"q": code, "workflow": "frail"}, [frail]),
            ({"q": "nothing"}, []),
        ):
            self.assertEqual(self.found(**filters), expected, filters)
            counted = self.api.get("/instances/count", **filters).json()
            self.assertEqual(counted["total"], len(expected), filters)
        many = ",".join(f"c{n}" for n in range(17))
        self.problem(self.api.get("/instances", error_code=many), 400, "invalid_argument")
        self.assertEqual(self.api("PUT", "/projects/glass", {"workflows": ["frag*"]}).status, 201)
        self.addCleanup(self.api, "DELETE", "/projects/glass")
        for project, workflow, expected in (("glass", {}, [fragile]), ("glass", {"workflow": "frail"}, []),
                                            ("*", {"workflow": "frail"}, [frail]), ("unknown", {}, [])):
            self.assertEqual(self.found(project=project, **workflow), expected)
            counted = self.api.get("/instances/count", project=project, **workflow).json()
            self.assertEqual(counted["total"], len(expected))

    def test_lists_only_the_members_that_are_wanted(self):
        instance = self.start(key="few-members", labels={"shop": "few"}, input={"amount": "x" * 5000})
        self.until_waiting(instance, "decision")
        [row] = self.api.get("/instances", key="few-members", fields="id,status").json()["items"]
        self.assertEqual(row, {"id": instance, "status": "running"})
        [row] = self.api.get("/instances", key="few-members", fields="waiting_for,labels").json()["items"]
        self.assertEqual(sorted(row), ["labels", "waiting_for"])
        self.assertEqual(row["waiting_for"][0]["kind"], "decision")
        refused = self.problem(self.api.get("/instances", fields="id,input"), 400, "invalid_argument")
        self.assertIn("waiting_for", refused["detail"])

    def test_cuts_or_leaves_out_the_payloads_of_a_list(self):
        self.put("workflow: loud\nsteps: [{step: shout, max_attempts: 1}]\n")
        _, fail = self.work("shout")
        instance = self.start(workflow="loud")
        fail("too_loud", "x" * 5000)
        self.api.get(f"/instances/{instance}/result", wait="30s")
        errors = {}
        for mode in ("none", "short", "full"):
            answer = self.api.get("/instances", workflow="loud", outline="true", payloads=mode)
            [row] = answer.json()["items"]
            errors[mode] = row["error"]
        self.assertIsNone(errors["none"])
        self.assertTrue(errors["short"]["$truncated"])
        self.assertEqual(errors["full"]["code"], "too_loud")
        self.problem(self.api.get("/instances", payloads="some"), 400, "invalid_argument")
