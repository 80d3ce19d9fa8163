"""Bulk operations, request by request: cases for api_test.py."""

import json
import time


class BulkCases:
    """The resource /bulk. bulk_test.py kills the server in the middle of one."""

    def bulk(self, **body):
        answer = self.api.post("/bulk", body)
        self.assertEqual(answer.status, 202, answer.body)
        self.assertEqual(answer.headers["location"], f"/api/v1/bulk/{answer.json()['id']}")
        return answer.json()["id"]

    def until(self, bulk, *statuses):
        """The operation, once it has one of these statuses."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            view = self.api.get(f"/bulk/{bulk}").json()
            if view["status"] in statuses:
                return view
            # Ask the server to wait, so that this loop does not spin.
            self.api.get(f"/instances/{bulk}/result", wait="20ms")
        self.fail(f"{bulk} is not {statuses}: {view}")

    def labelled(self, tenant, count):
        ids = [self.start(labels={"tenant": tenant}) for _ in range(count)]
        for each in ids:
            self.until_waiting(each, "decision")
        return ids, f'labels.tenant == "{tenant}"'

    def status(self, instance):
        return self.api.get(f"/instances/{instance}").json()["status"]

    def test_pauses_resumes_and_cancels_what_a_filter_finds(self):
        ids, where = self.labelled("acme", 3)
        other = self.start(labels={"tenant": "other"})
        done = self.until(self.bulk(action="pause", where=where, reason="bank is down"), "completed")
        self.assertEqual((done["matched"], done["done"], done["skipped"], done["skips"]), (3, 3, 0, []))
        self.assertEqual({self.status(each) for each in ids}, {"paused"})
        events = self.api.get(f"/instances/{ids[0]}/history", type="paused", payloads="full").json()["items"]
        [payload] = [event["payload"] for event in events]
        self.assertEqual(payload["reason"], "bank is down")
        self.assertRegex(payload["by"], rf" \(bulk {done['id']}\)$")
        self.until(self.bulk(action="resume", where=where), "completed")
        self.assertEqual({self.status(each) for each in ids}, {"running"})
        later = self.until(self.bulk(action="cancel", ids=[*ids, ids[0]]), "completed")
        self.assertEqual((later["where"], later["ids"], later["done"]), (None, 3, 3))
        self.assertEqual({self.status(each) for each in ids}, {"cancelled"})
        self.assertNotIn(self.status(other), ("paused", "cancelled"))
        listed = self.api.get("/bulk", limit=2).json()
        self.assertEqual(listed["items"][0]["id"], later["id"])
        more = self.api.get("/bulk", limit=2, cursor=listed["next_cursor"]).json()
        self.assertEqual(more["items"][0]["id"], done["id"])

    def test_a_dry_run_changes_nothing(self):
        ids, where = self.labelled("dry", 2)
        answer = self.api.post("/bulk", {"action": "abort", "where": where, "dry_run": True})
        self.assertEqual(answer.status, 200, answer.body)
        view = answer.json()
        self.assertEqual((view["matched"], view["complete"]), (2, True))
        self.assertEqual(view["counts"], [{"status": "running", "count": 2}])
        self.assertEqual({item["id"] for item in view["samples"]}, set(ids))
        self.assertEqual({self.status(each) for each in ids}, {"running"})
        named = self.api.post("/bulk", {"action": "abort", "ids": ids[:1], "dry_run": True}).json()
        self.assertEqual((named["matched"], named["samples"][0]["id"]), (1, ids[0]))

    def test_an_abort_confirms_how_many(self):
        ids, where = self.labelled("gone", 2)
        answer = self.api.post("/bulk", {"action": "abort", "where": where})
        self.assertIn("confirm", self.problem(answer, 400, "invalid_argument")["detail"])
        answer = self.api.post("/bulk", {"action": "abort", "where": where, "confirm": 3})
        self.assertEqual(self.problem(answer, 412, "precondition_failed")["matched"], 2)
        self.assertEqual({self.status(each) for each in ids}, {"running"})
        self.until(self.bulk(action="abort", where=where, confirm=2), "completed")
        self.assertEqual({self.status(each) for each in ids}, {"aborted"})

    def test_what_cannot_do_it_is_skipped_with_its_reason(self):
        [first, second], where = self.labelled("mixed", 2)
        self.api.post(f"/instances/{first}/abort")
        view = self.until(self.bulk(action="pause", where=where), "completed")
        self.assertEqual((view["done"], view["skipped"]), (1, 1))
        self.assertEqual([(skip["id"], skip["code"]) for skip in view["skips"]], [(first, "invalid_state")])
        self.assertIn("aborted", view["skips"][0]["message"])
        self.assertEqual(self.status(second), "paused")

    def test_is_paused_and_cancelled_itself(self):
        ids, where = self.labelled("slow", 3)
        bulk = self.bulk(action="pause", where=where, rate="1/1h")
        self.until_waiting(bulk, "timer")
        self.assertEqual(self.api.post(f"/bulk/{bulk}/pause").json()["status"], "paused")
        self.assertEqual(self.api.post(f"/bulk/{bulk}/resume").json()["status"], "running")
        self.assertEqual(self.api.post(f"/bulk/{bulk}/cancel", {"reason": "too slow"}).status, 200)
        view = self.until(bulk, "cancelled")
        self.assertEqual((view["done"], view["matched"], view["rate"]), (1, 3, "1/1h"))
        self.assertEqual(sorted(self.status(each) for each in ids), ["paused", "running", "running"])
        for verb in ("pause", "resume", "cancel", "continue"):
            other = self.api.post(f"/bulk/{ids[0]}/{verb}")
            self.problem(other, 404, "instance_not_found")
        ended = self.until(self.bulk(action="resume", ids=ids), "completed")["id"]
        for verb in ("pause", "cancel", "continue"):
            self.problem(self.api.post(f"/bulk/{ended}/{verb}"), 409, "invalid_state")

    def test_a_canary_that_fails_again_stops_the_others(self):
        sad = "workflow: sad\non_error: dead_letter\nsteps:\n  - fail: always\n"
        registered = self.api("POST", "/workflows", sad, {"Content-Type": "application/yaml"})
        self.assertIn(registered.status, (200, 201))
        lines, kind = "\n".join(["{}"] * 12), {"Content-Type": "application/x-ndjson"}
        self.api("POST", "/instances/batch", lines, kind, {"workflow": "sad"})
        bulk = self.bulk(action="requeue", where='workflow == "sad"', canary={"count": 2, "wait": "1h"})
        view = self.until(bulk, "canary_failed")
        self.assertEqual((view["done"], view["canary"]), (2, {"count": 2, "wait": "1h"}))
        self.assertEqual(self.api.post(f"/bulk/{bulk}/continue").status, 200)
        self.assertEqual(self.until(bulk, "completed")["done"], 12)

    def failed(self, count, **options):
        """Instances that have failed."""
        text = (
            "workflow: doomed\nlabels: {kind: {value: \"${ workflow.input.kind }\"}}\n"
            "steps:\n  - fail: always\n"
        )
        registered = self.api("POST", "/workflows", text, {"Content-Type": "application/yaml"})
        self.assertIn(registered.status, (200, 201), registered.body)
        ids = []
        for _ in range(count):
            body = {"workflow": "doomed", "input": {"kind": "a"}, **options}
            begun = self.api.post("/instances", body, wait="30s")
            self.assertEqual(begun.json()["result"]["status"], "failed", begun.body)
            ids.append(begun.json()["id"])
        return ids

    def named(self, key):
        return self.api.get(f"/instances/key:doomed%2F{key.replace(':', '%3A')}").json()

    def test_a_rerun_starts_the_work_of_what_has_failed_once(self):
        ids = self.failed(2, labels={"tenant": "again"}, priority=3)
        where = 'workflow == "doomed" && labels.tenant == "again"'
        dry = self.api.post("/bulk", {"action": "rerun", "where": where, "dry_run": True}).json()
        self.assertEqual((dry["matched"], dry["counts"]), (2, [{"status": "failed", "count": 2}]))
        first = self.until(self.bulk(action="rerun", where=where), "completed")
        self.assertEqual((first["action"], first["done"], first["skipped"]), ("rerun", 2, 0))
        for old in ids:
            new = self.named(f"rerun:{old}")
            self.assertEqual((new["input"], new["priority"]), ({"kind": "a"}, 3))
            self.assertEqual(new["labels"], {"ebb.rerun_of": old, "kind": "a", "tenant": "again"})
            started = self.api.get(f"/instances/{new['id']}/related").json()
            self.assertRegex(started["started_by"], rf" \(bulk {first['id']}\)$")
            self.api.get(f"/instances/{new['id']}/result", wait="30s")
        # What has failed again is started again; the old ones are not.
        second = self.until(self.bulk(action="rerun", where=where), "completed")
        self.assertEqual((second["done"], second["unchanged"]), (2, 2))
        self.assertIn("It was rerun before, as ", second["skips"][0]["message"])
        self.assertEqual({skip["id"] for skip in second["skips"]}, set(ids))
        row = self.api.get("/audit", action="startBulk", limit=1).json()["items"][0]
        self.assertEqual((row["bulk"], row["detail"]["action"]), (second["id"], "rerun"))
        self.api.post(f"/bulk/{second['id']}/pause")
        row = self.api.get("/audit", action="pauseBulk", limit=1).json()["items"][0]
        self.assertEqual(row["bulk"], second["id"])
        self.assertIsNone(self.api.get("/audit", action="startInstance", limit=1).json()["items"][0]["bulk"])

    def test_a_rerun_leaves_alone_what_has_not_failed(self):
        [running], _ = self.labelled("not-failed", 1)
        key = f"order-{running}"
        keyed = self.start(key=key)
        self.until_waiting(keyed, "decision")
        view = self.until(self.bulk(action="rerun", ids=[keyed, running]), "completed")
        self.assertEqual((view["done"], view["skipped"]), (0, 2))
        left = [(skip["id"], skip["key"]) for skip in view["skips"]]
        self.assertEqual(left, [(keyed, key), (running, None)])
        self.assertIn("It is running.", view["skips"][0]["message"])

    def test_one_instance_that_has_not_ended_is_not_rerun(self):
        [running], _ = self.labelled("one-not-ended", 1)
        problem = self.problem(self.api.post(f"/instances/{running}/rerun"), 409, "invalid_state")
        self.assertIn("It is running. Only an instance that has ended is rerun.", problem["detail"])

    def test_starts_the_work_of_one_instance_again(self):
        [old] = self.failed(1, key="one", priority=-2)
        path = f"/instances/{old}/rerun"
        answer = self.api.post(path)
        self.assertEqual((answer.status, answer.json()["is_new"]), (201, True))
        new = answer.json()["id"]
        self.assertTrue(answer.headers["location"].endswith(f"/instances/{new}"))
        view = self.api.get(f"/instances/{new}").json()
        self.assertEqual((view["input"], view["key"], view["priority"]), ({"kind": "a"}, None, -2))
        other = self.api.post(path, {"input": {"kind": "b"}, "version": 1, "key": "two"})
        self.assertEqual(other.status, 201, other.body)
        self.assertEqual(self.named("two")["input"], {"kind": "b"})
        again = self.api.post(path, {"input": {"kind": "c"}, "key": "two"})
        view = again.json()
        self.assertEqual((again.status, view["is_new"], view["has_same_input"]), (200, False, False))
        key = {"Idempotency-Key": f"again-{old}"}
        self.assertEqual(self.api.post(path, {}, key).json()["id"], self.api.post(path, {}, key).json()["id"])
        self.problem(self.api.post(path, {"input": 1}, key), 422, "idempotency_key_reused")
        self.problem(self.api.post(path, {"key": "~x"}), 400, "invalid_argument")
        self.problem(self.api.post(path, {"kee": "x"}), 400, "unknown_field")
        self.problem(self.api.post(path, {"version": 7}), 404, "workflow_not_found")
        unknown = "/instances/019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d/rerun"
        self.problem(self.api.post(unknown), 404, "instance_not_found")

    def test_a_key_names_one_operation(self):
        _, where = self.labelled("keyed", 2)
        key = {"Idempotency-Key": "bulk-1"}
        body = {"action": "pause", "where": where}
        first = self.api.post("/bulk", body, key)
        again = self.api.post("/bulk", body, key)
        self.assertEqual((first.status, again.status), (202, 202))
        self.assertEqual(first.json()["id"], again.json()["id"])
        other = self.api.post("/bulk", {**body, "action": "resume"}, key)
        self.problem(other, 422, "idempotency_key_reused")

    def test_what_is_wrong_with_a_request_is_said(self):
        unknown = "019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d"
        for body, why in (
            ({}, "action"),
            ({"action": "explode", "where": "true"}, "cancel, abort, pause, resume, requeue, rerun"),
            ({"action": "cancel"}, "either"),
            ({"action": "cancel", "where": "true", "ids": [unknown]}, "not both"),
            ({"action": "cancel", "where": ""}, "true"),
            ({"action": "cancel", "ids": []}, "names no instance"),
            ({"action": "cancel", "ids": [unknown, "019e"]}, "item 1"),
            ({"action": "cancel", "ids": [unknown] * 10_001}, "10000"),
            ({"action": "cancel", "where": "true", "rate": "fast"}, "100/1s"),
            ({"action": "cancel", "where": "true", "canary": {}}, "requeue"),
            ({"action": "requeue", "where": "true", "canary": {"count": 0}}, "count"),
            ({"action": "rerun", "where": "true", "canary": {"count": 101}}, "count"),
            ({"action": "requeue", "where": "true", "canary": {"wait": "25h"}}, "24h"),
            ({"action": "cancel", "where": "true", "reason": "x" * 1025}, "reason"),
        ):
            problem = self.problem(self.api.post("/bulk", body), 400, "invalid_argument")
            self.assertIn(why.lower(), problem["detail"].lower(), json.dumps(body)[:200])
        answer = self.api.post("/bulk", {"action": "cancel", "where": "true", "surprise": 1})
        self.assertIn("surprise", self.problem(answer, 400, "unknown_field")["detail"])
        answer = self.api.post("/bulk", {"action": "cancel", "where": 'status == "x" &&'})
        problem = self.problem(answer, 400, "invalid_expression")
        self.assertEqual((problem["line"], problem["column"] > 1), (1, True))
        self.assertEqual(self.api.post("/bulk", {}, fast=1).status, 400)
        self.problem(self.api.get("/bulk", cursor="x"), 400, "invalid_argument")
        self.problem(self.api.get("/bulk/none"), 404, "instance_not_found")
        self.problem(self.api.post("/bulk/none/pause"), 404, "instance_not_found")
