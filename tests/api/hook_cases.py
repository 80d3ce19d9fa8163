"""Hooks, request by request: cases for api_test.py. Events are signed here as their senders do it."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import subprocess
import time

from world import Client

SECRET = "sixteen bytes or more"


def mac(secret, text):
    key = secret if isinstance(secret, bytes) else secret.encode()
    return hmac.new(key, text, hashlib.sha256)


def sign_standard(secret, body, delivery="msg_1", at=None):
    stamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = mac(key, f"{delivery}.{stamp}.".encode() + body).digest()
    return {"webhook-id": delivery, "webhook-timestamp": stamp,
            "webhook-signature": "v1," + base64.b64encode(signature).decode()}


def sign_github(secret, body, delivery="d-1"):
    return {"X-Hub-Signature-256": "sha256=" + mac(secret, body).hexdigest(), "X-GitHub-Delivery": delivery,
            "X-GitHub-Event": "push"}


def sign_stripe(secret, body, at=None):
    stamp = str(int(time.time() if at is None else at))
    return {"Stripe-Signature": f"t={stamp},v1={mac(secret, stamp.encode() + b'.' + body).hexdigest()}"}


class HookCases:
    """The resource /hooks, and events that arrive there."""

    def put_hook(self, name, **settings):
        answer = self.api("PUT", f"/hooks/{name}", {"workflow": "order", **settings})
        self.assertEqual(answer.status, 200, answer.body)
        self.addCleanup(self.api, "DELETE", f"/hooks/{name}")
        return answer.json()

    def setUp(self):
        # Its sender has no login.
        self.sender = Client(self.server, self.contract)
        self.addCleanup(self.sender.close)

    def send(self, name, body, headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.sender("POST", f"/hooks/{name}", body, {"Content-Type": "application/json", **headers})

    def accepted(self, answer, outcome):
        self.assertEqual((answer.status, answer.json().get("outcome")), (202, outcome), answer.body)
        return answer.json()

    def input_of(self, instance):
        return self.started(instance)["payload"]

    def started(self, instance):
        return self.api.get(f"/instances/{instance}/history", payloads="full").json()["items"][0]

    def test_each_scheme_starts_an_instance_once(self):
        body = json.dumps({"id": f"evt_{os.urandom(8).hex()}", "amount": 12}).encode()
        standard = self.put_hook("standard", scheme="standard")["secret"]
        for scheme in ("github", "stripe", "hmac", "token"):
            self.put_hook(scheme, scheme=scheme, secret=SECRET)
        senders = {
            "standard": lambda: sign_standard(standard, body),
            "github": lambda: sign_github(SECRET, body),
            "stripe": lambda: sign_stripe(SECRET, body),
            "hmac": lambda: {"X-Signature": mac(SECRET, body).hexdigest()},
            "token": lambda: {"Authorization": f"Bearer {SECRET}"},
        }
        for scheme, sign in senders.items():
            first = self.accepted(self.send(scheme, body, sign()), "started")
            again = self.accepted(self.send(scheme, body, sign()), "known")
            self.assertEqual(first["instance"], again["instance"], scheme)
            self.assertEqual(self.input_of(first["instance"]), json.loads(body))
            self.assertEqual(self.started(first["instance"])["worker"], f"hook:{scheme}")

    def test_only_the_secret_opens_a_hook(self):
        self.put_hook("closed", scheme="github", secret=SECRET)
        body = b'{"id": 1}'
        good = sign_github(SECRET, body, "only")
        for headers in ({}, sign_github("another secret of it", body), sign_github(SECRET, b'{"id": 2}'),
                        {**good, "X-Hub-Signature-256": good["X-Hub-Signature-256"][:-1]},
                        {"Authorization": f"Bearer {SECRET}"}):
            problem = self.problem(self.send("closed", body, headers), 401, "unauthenticated")
            self.assertIn("not signed with the secret of this hook", problem["title"])
            self.assertNotIn("log in", problem["hint"])
        # A login does not replace the signature.
        answer = self.api("POST", "/hooks/closed", body.decode())
        self.problem(answer, 401, "unauthenticated")
        self.problem(self.send("none", body, good), 404, "not_found")
        self.put_hook("closed", scheme="github", secret=SECRET, enabled=False)
        self.problem(self.send("closed", body, good), 404, "not_found")
        self.put_hook("closed", scheme="github", secret=SECRET)
        self.accepted(self.send("closed", body, good), "started")
        self.assertNotIn(SECRET, json.dumps(self.server.log))

    def test_an_old_signature_is_refused(self):
        secret = self.put_hook("fresh", scheme="standard")["secret"]
        late = sign_standard(secret, b"{}", at=time.time() - 3600)
        problem = self.problem(self.send("fresh", b"{}", late), 401, "unauthenticated")
        self.assertIn("5 minutes", problem["detail"])

    def test_expressions_choose_map_and_name(self):
        self.put_hook(
            "paid", scheme="token", secret=SECRET, header="X-Token", key="shop-${ body.order }",
            when="body.type == 'paid' && headers['x-shop'] == 'one'",
            input={"order": "${ body.order }", "delivery": "${ delivery }", "seen": "${ headers }"},
        )
        headers = {"X-Token": SECRET, "X-Shop": "one", "Cookie": "a=b", "Authorization": "Basic abc"}
        order = int.from_bytes(os.urandom(4))
        ignored = self.accepted(self.send("paid", {"type": "opened"}, headers), "ignored")
        self.assertIsNone(ignored["instance"])
        paid = self.accepted(self.send("paid", {"type": "paid", "order": order}, headers), "started")
        self.assertEqual(self.api.get(f"/instances/{paid['instance']}").json()["key"], f"shop-{order}")
        given = self.input_of(paid["instance"])
        self.assertEqual((given["order"], given["delivery"]), (order, paid["delivery"]))
        self.assertEqual(given["seen"]["x-shop"], "one")
        self.assertEqual(set(given["seen"]) & {"x-token", "cookie", "authorization"}, set())
        # Another event of the same order.
        again = self.accepted(self.send("paid", {"type": "paid", "order": order, "n": 2}, headers), "known")
        self.assertEqual(again["instance"], paid["instance"])

    def test_sends_a_signal_once(self):
        self.put_hook("signal", scheme="github", secret=SECRET, signal="paid", key="${ body.order }",
                      input="${ body.amount }")
        key = os.urandom(8).hex()
        body = json.dumps({"order": key, "amount": 7}).encode()
        headers = sign_github(SECRET, body, key)
        # The sender repeats it until there is such an instance.
        self.problem(self.send("signal", body, headers), 404, "instance_not_found")
        instance = self.start(key=key)
        self.until_waiting(instance, "decision")
        self.api.post(f"/instances/{instance}/decide", {"verdict": "confirm", "role": "boss"})
        self.until_waiting(instance, "signal")
        for _ in range(2):
            signaled = self.accepted(self.send("signal", body, headers), "signaled")
            self.assertEqual(signaled["instance"], instance)
        events = self.api.get(f"/instances/{instance}/history", payloads="full").json()["items"]
        signals = [event for event in events if event["type"] == "signal_received"]
        self.assertEqual([(event["payload"], event["worker"]) for event in signals], [(7, "hook:signal")])

    def test_what_cannot_be_mapped_is_refused(self):
        self.put_hook("strict", scheme="token", secret=SECRET, key="${ body.id }")
        token = {"Authorization": f"Bearer {SECRET}"}
        self.assertIn("key", self.problem(self.send("strict", {}, token), 422, "invalid_payload")["detail"])
        self.problem(self.send("strict", b"no json", token), 422, "invalid_payload")
        plain = {**token, "Content-Type": "text/plain"}
        self.problem(self.send("strict", b"a=b", plain), 415, "unsupported_media_type")
        large = {**token, "Content-Length": str((1 << 20) + 1)}
        self.problem(self.sender("POST", "/hooks/strict", None, large), 413, "payload_too_large")
        self.sender.close()
        whole = b'"' + b"x" * ((1 << 20) - 2) + b'"'
        self.problem(self.send("strict", whole, token), 422, "invalid_payload")
        self.put_hook("nothing", scheme="token", secret=SECRET, workflow="no-such-workflow")
        self.problem(self.send("nothing", {}, token), 404, "workflow_not_found")

    def test_settings_are_kept_listed_and_removed_without_the_secret(self):
        made = self.put_hook("kept", scheme="github", when="body.a == 1")
        self.assertGreaterEqual(len(made["secret"]), 43)
        seen = self.api.get("/hooks/kept")
        self.assertEqual((seen.json()["secret"], seen.json()["when"]), (None, "body.a == 1"))
        listed = self.api.get("/hooks")
        self.assertIn("kept", [item["name"] for item in listed.json()["items"]])
        again = self.put_hook("kept", scheme="github")
        self.assertIsNone(again["secret"])
        for answer in (seen, listed):
            self.assertNotIn(made["secret"], answer.body)
        for settings, why in (({"scheme": "fax"}, "fax"), ({"signal": "s"}, "key"), ({"when": "a ="}, "when"),
                              ({"x": 1}, '"x"'), ({"secret": {"env": "PATH"}}, "EBB_HOOK_")):
            answer = self.api("PUT", "/hooks/bad", {"scheme": "github", "workflow": "order", **settings})
            self.assertIn(why, self.problem(answer, 400, "invalid_argument")["detail"])
        self.problem(self.api.get("/hooks/bad"), 404, "not_found")
        self.assertEqual(self.api("DELETE", "/hooks/kept").status, 204)
        self.problem(self.api("DELETE", "/hooks/kept"), 404, "not_found")

    def test_a_secret_can_be_in_a_file_of_the_server(self):
        self.put_hook("filed", scheme="token", secret={"file": "shop"})
        self.assertEqual(self.api.get("/hooks/filed").json()["secret"], {"file": "shop"})
        headers = {"Authorization": f"Bearer {SECRET}"}
        self.problem(self.send("filed", b"{}", headers), 401, "unauthenticated")
        file = pathlib.Path(self.folder.path, "secrets", "shop")
        file.parent.mkdir(exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(f"the secret before it\n{SECRET}\n")
        self.accepted(self.send("filed", b"{}", headers), "started")
        # A rotation needs no restart.
        file.write_text("the secret after it was changed\n")
        self.problem(self.send("filed", b"{}", headers), 401, "unauthenticated")
        file.chmod(0o644)
        self.problem(self.send("filed", b"{}", headers), 401, "unauthenticated")
        self.assertIn("All users can read", self.server.wait_for("hook_without_secret", 2)["error"])

    def test_the_command_manages_hooks_over_the_api(self):
        token = self.api("PUT", "/tokens/hooker", {"role": "developer"}).json()["token"]
        self.addCleanup(self.api, "DELETE", "/tokens/hooker")

        environment = {**os.environ, "EBB_TOKEN": token, "EBB_DB": ""}
        environment["EBB_SERVER"] = f"http://127.0.0.1:{self.server.port}"

        def ebb(*arguments):
            done = subprocess.run([self.ebb_path, "hook", *arguments, "--json"], env=environment,
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout) if done.stdout else None

        made = ebb("put", "cli", "--scheme", "hmac", "--workflow", "order", "--header", "X-Mine",
                   "--prefix", "v1=", "--encoding", "base64", "--input", '{"n": "${ body.n }"}')
        body = b'{"n": 3}'
        signature = base64.b64encode(mac(made["secret"], body).digest()).decode()
        started = self.accepted(self.send("cli", body, {"X-Mine": "v1=" + signature}), "started")
        self.assertEqual(self.input_of(started["instance"]), {"n": 3})
        self.assertEqual(ebb("show", "cli")["header"], "X-Mine")
        self.assertIn("cli", [hook["name"] for hook in ebb("list")])
        ebb("delete", "cli")
        self.problem(self.api.get("/hooks/cli"), 404, "not_found")
