"""What every request may rely on: repeated starts, filters, revisions, credentials. Cases for api_test.py."""

import json

from world import Client, get_with_headers


class RequestCases:
    def test_refuses_filters_that_are_empty(self):
        filters = {"/instances": ("workflow", "status", "key", "key_prefix", "where", "label"),
                   "/instances/count": ("workflow", "where"), "/failures/groups": ("workflow", "status"),
                   "/decisions": ("workflow", "role"), "/audit": ("who", "workflow")}
        for path, names in filters.items():
            for name in names:
                self.problem(self.api.get(path, **{name: ""}), 400, "invalid_argument")
        self.problem(self.api.get("/instances", status="running,"), 400, "invalid_argument")

    def test_refuses_a_revision_that_is_no_number_of_64_bits(self):
        instance = self.start()
        for number in ("99999999999999999999", "9223372036854775808"):
            answer = self.api.post(f"/instances/{instance}/pause", {}, {"If-Match": f'"{number}"'})
            self.assertIn("9223372036854775807", self.problem(answer, 400, "invalid_argument")["detail"])
        answer = self.api.post(f"/instances/{instance}/pause", {}, {"If-Match": '"9223372036854775807"'})
        self.problem(answer, 412, "precondition_failed")

    def test_starts_once_for_each_idempotency_key(self):
        header = {"Idempotency-Key": "abc"}
        body = {"workflow": "order", "input": {"amount": 2}}
        first = self.api.post("/instances", body, header)
        second = self.api.post("/instances", body, header)
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(first.json()["id"], second.json()["id"])
        other = self.api.post("/instances", {"workflow": "order", "input": {"amount": 3}}, header)
        self.problem(other, 422, "idempotency_key_reused")

    def test_an_idempotency_key_is_for_one_workflow(self):
        text = "workflow: second\nsteps: [later]"
        self.api("POST", "/workflows", text, {"Content-Type": "application/yaml"})
        header, input_ = {"Idempotency-Key": "one-workflow"}, {"amount": 2}
        first = self.api.post("/instances", {"workflow": "order", "input": input_}, header).json()["id"]
        other = self.api.post("/instances", {"workflow": "second", "input": input_}, header)
        self.assertIn('"order"', self.problem(other, 422, "idempotency_key_reused")["detail"])
        self.assertEqual(self.api.get("/instances", workflow="second").json()["items"], [])
        # A key of the caller's own is one for each workflow.
        keys = [self.api.post("/instances", {"workflow": name, "key": "both", "input": input_}).status
                for name in ("order", "second")]
        self.assertEqual(keys, [201, 201])
        again = self.api.post("/instances", {"workflow": "order", "input": input_}, header)
        self.assertEqual(again.json()["id"], first)
        for wrong in ("", "x" * 129):
            for path, body in (("", {"workflow": "order"}), (f"/{first}/signal", {"name": "go"})):
                answer = self.api.post(f"/instances{path}", body, {"Idempotency-Key": wrong})
                self.problem(answer, 400, "invalid_argument")

    def test_starts_a_batch_once_for_each_idempotency_key(self):
        def start(key, inputs, **more):
            lines = "".join(json.dumps({"amount": amount}) + "\n" for amount in inputs)
            headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": key}
            return self.api.post("/instances/batch", lines, headers, **{"workflow": "order", **more})
        first, second = start("batch", range(3)), start("batch", range(3))
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual([line["id"] for line in first.lines()], [line["id"] for line in second.lines()])
        self.assertEqual({line["is_new"] for line in first.lines()}, {True})
        self.assertEqual({line["is_new"] for line in second.lines()}, {False})
        count = self.api.get("/instances", count="exact").json()["total"]
        for inputs in ([0, 1, 7], range(2), range(4), [0]):
            self.problem(start("batch", inputs), 422, "idempotency_key_reused")
        self.problem(start("batch", range(3), version=2), 404, "workflow_not_found")
        single = {"workflow": "order", "input": {"amount": 0}}
        other = self.api.post("/instances", single, {"Idempotency-Key": "batch"})
        self.problem(other, 422, "idempotency_key_reused")
        self.assertEqual(self.api.post("/instances", single, {"Idempotency-Key": "alone"}).status, 201)
        self.problem(start("alone", range(2)), 422, "idempotency_key_reused")
        self.problem(start("", range(2)), 400, "invalid_argument")
        self.assertEqual(self.api.get("/instances", count="exact").json()["total"], count + 1)
        self.assertEqual(start("another", range(3)).status, 201)

    def test_a_session_needs_to_say_where_its_requests_come_from(self):
        client = Client(self.server, self.contract)
        self.addCleanup(client.close)
        cookie, body = {"Cookie": self.api.cookie}, {"dry_run": True, "older_than": "1d"}
        refused = client.post("/purge", body, cookie)
        self.assertIn("Sec-Fetch-Site or Origin", self.problem(refused, 403, "csrf_refused")["detail"])
        own = {"Origin": f"http://127.0.0.1:{self.server.port}"}
        for said in (own, {"Sec-Fetch-Site": "none"}):
            self.assertEqual(client.post("/purge", body, {**cookie, **said}).status, 200)
        self.assertEqual(client("GET", "/instances", headers=cookie).status, 200)

    def test_refuses_several_headers_with_a_credential(self):
        token = self.api("PUT", "/tokens/twice", {"role": "viewer"}).json()["token"]
        for second in (token, "none"):
            sent = [("Authorization", f"Bearer {value}") for value in (token, second)]
            said = get_with_headers(self.server, "/api/v1/me", sent)
            self.assertEqual(said, (400, "There is more than one header Authorization."))

    def test_says_what_a_body_and_a_bulk_operation_need(self):
        wrong = self.api("POST", "/workflows/validate", "x", {"Content-Type": "text/plain"})
        self.assertIn("The body must be ", self.problem(wrong, 415, "unsupported_media_type")["detail"])
        abort = self.api.post("/bulk", {"action": "abort", "where": "true", "confirm": 1_000_000})
        self.assertNotIn("The instance", self.problem(abort, 412, "precondition_failed")["title"])
