"""Signed links by which people decide without a login: cases for mail_test.py."""

import json
import re
import threading
import urllib.parse

from world import Client, log_in

SITE = "https://ebb.example.com"
APPROVAL = """
workflow: loan
steps:
  - decision: approve
    roles: [boss]
    deadline: 2d
    on_deadline: reject
  - decision: board
    quorum: 2
"""
FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html,*/*;q=0.8"}
USED = "The link was used, or is too late"
PAGE = {"Accept": "text/html,*/*;q=0.8"}


class CallbackCases:
    """The class has contract, store, serve(), mail_server() and again()."""

    def begin(self, *recipients, **webhook):
        """A server, its mails, and an administrator's client."""
        self.mails = self.mail_server()
        self.api = self.serve(self.mails, site=SITE)
        answer = self.api("POST", "/workflows", APPROVAL, {"Content-Type": "application/yaml"})
        self.assertIn(answer.status, (200, 201), answer.body)
        settings = {"format": "email", "url": "mailto:" + ",".join(recipients or ("ann@example.com",)),
                    "events": ["decision.awaited"], **webhook}
        answer = self.api("PUT", "/webhooks/people", settings)
        self.assertIn(answer.status, (200, 201), answer.body)

    def start(self, key="l-1"):
        start = {"workflow": "loan", "key": key, "input": {"amount": 7}}
        return self.api.post("/instances", start).json()["id"]

    def links(self, count):
        """{recipient: path} of the newest mails, of which there are `count` in all."""
        found = {}
        for _, recipients, message in self.mails.wait_for(count):
            [recipient] = recipients
            text = message.get_body(("plain",)).get_content()
            [path] = re.findall(rf"^{SITE}(/api/v1/callbacks/\S+)", text, re.M)
            self.assertIn(f'<a href="{SITE}{path}">', message.get_body(("html",)).get_content())
            found[recipient] = path.removeprefix("/api/v1")
        return found

    def stranger(self, server=None):
        client = Client(server or self.api.server, self.contract)
        self.addCleanup(client.close)
        return client

    def refused(self, answer, status, code, title):
        problem = answer.json()
        about = answer.status, problem["code"], problem["title"]
        self.assertEqual(about, (status, code, title), answer.body)
        return problem["detail"]

    def votes(self, instance):
        history = self.api.get(f"/instances/{instance}/history", payloads="full").json()["items"]
        return [event["payload"] for event in history if event["type"] == "decision_made"]

    def test_a_link_decides_once_in_the_name_of_the_recipient(self):
        self.begin()
        instance = self.start()
        path = self.links(1)["ann@example.com"]
        client = self.stranger()
        about = client.get(path).json()
        what = about["instance"], about["kind"], about["name"]
        self.assertEqual(what, (instance, "decision", "approve"))
        self.assertEqual((about["by"], about["role"]), ("mail:ann@example.com", "boss"))
        self.assertEqual(about["expires_at"], about["deadline"], "two days are less than thirty")
        # A scanner of mail follows the link as often as it likes.
        for headers in ({}, PAGE):
            for method in ("GET", "HEAD"):
                self.assertEqual(client(method, path, headers=headers).status, 200)
        self.assertEqual(self.votes(instance), [])
        for body, code in (({}, "invalid_argument"), ({"verdict": "confirm", "role": "x"}, "unknown_field")):
            answer = client.post(path, body)
            self.assertEqual((answer.status, answer.json()["code"]), (400, code))
        done = client.post(path, {"verdict": "confirm", "comment": "fine"})
        self.assertEqual((done.status, done.json()["verdict"]), (200, "confirm"), done.body)
        [vote] = self.votes(instance)
        self.assertEqual((vote["verdict"], vote["by"], vote["role"], vote["comment"]),
                         ("confirmed", "mail:ann@example.com", "boss", "fine"))
        for verdict in ("confirm", "reject"):
            detail = self.refused(client.post(path, {"verdict": verdict}), 409, "not_waiting", USED)
            self.assertIn("not awaited any more", detail)
        self.refused(client.get(path), 409, "not_waiting", USED)
        rows = self.api.get("/audit", action="answerCallback", limit=100).json()["items"]
        row = next(row for row in rows if row["outcome"] == "allowed")
        self.assertEqual((row["target"], row["workflow"]), (f"/api/v1/instances/{instance}", "loan"))
        # The second decision has a link of its own, to which the first one is of no use.
        self.assertNotEqual(self.links(2)["ann@example.com"], path)
        self.assertNotIn(path.removeprefix("/callbacks/"), json.dumps(self.api.server.log))

    def test_each_of_several_people_confirms_with_a_link_of_their_own(self):
        self.begin("ann@example.com", "bob@example.com")
        instance = self.start()
        client = self.stranger()
        self.assertEqual(client.post(self.links(2)["bob@example.com"], {"verdict": "confirm"}).status, 200)
        links = self.links(4)
        self.assertEqual(client.post(links["ann@example.com"], {"verdict": "confirm"}).status, 200)
        again = client.post(links["ann@example.com"], {"verdict": "reject"})
        detail = self.refused(again, 409, "not_waiting", USED)
        self.assertIn("2 people", detail)
        self.assertEqual(client.post(links["bob@example.com"], {"verdict": "confirm"}).status, 200)
        result = self.api.get(f"/instances/{instance}/result", wait="30s").json()
        self.assertEqual(result["status"], "completed")
        output = self.api.get(f"/instances/{instance}").json()["output"]
        self.assertEqual(output["decision"]["by"], ["mail:ann@example.com", "mail:bob@example.com"])

    def test_a_browser_gets_a_page_and_sends_a_form(self):
        self.begin()
        instance = self.start("<b>&1")
        path = "/api/v1" + self.links(1)["ann@example.com"]
        client = self.stranger()
        page = client.raw("GET", path, headers=PAGE)
        self.assertEqual((page.status, page.headers["content-type"]), (200, "text/html; charset=utf-8"))
        self.assertIn("&lt;b&gt;&amp;1", page.body)
        self.assertNotIn("<b>", page.body)
        policy = page.headers["content-security-policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("form-action 'self'", policy)
        about = page.headers["cache-control"], page.headers["referrer-policy"]
        self.assertEqual(about, ("no-store", "no-referrer"))
        form = urllib.parse.urlencode({"comment": "so\r\nbe it", "verdict": "reject"})
        wrong = client.raw("POST", path, "verdict=perhaps", FORM)
        self.assertEqual((wrong.status, wrong.headers["content-type"]), (400, "text/html; charset=utf-8"))
        done = client.raw("POST", path, form, FORM)
        self.assertEqual(done.status, 200, done.body)
        self.assertIn("You have rejected", done.body)
        [vote] = self.votes(instance)
        self.assertEqual((vote["verdict"], vote["comment"]), ("rejected", "so\nbe it"))
        again = client.raw("POST", path, form, FORM)
        self.assertEqual((again.status, "<form" in again.body), (409, False))
        self.assertIn("The link was used, or is too late", again.body)

    def test_a_forged_or_foreign_link_opens_nothing(self):
        self.begin()
        instance = self.start()
        token = self.links(1)["ann@example.com"].removeprefix("/callbacks/")
        text, mac = token.split(".")
        other = self.api("PUT", "/tokens/ci", {"role": "admin"}).json()["token"]
        session = self.api("POST", "/worker/sessions", {"handlers": ["x"]}).json()
        client = self.stranger()
        forged = (text, mac, f"{text}.", f".{mac}", f"{text}x.{mac}", f"{text}.{mac[:-2]}AA",
                  f"{mac}.{text}", other)
        # What the same key has signed for another purpose is of no use.
        signed = [session["session"]] if "session" in session else []
        for wrong in (*forged, *signed):
            for method, body in (("GET", None), ("POST", {"verdict": "confirm"})):
                self.refused(client(method, f"/callbacks/{urllib.parse.quote(wrong)}", body), 401,
                             "unauthenticated", "The link is not valid")
        entry = self.api.server.wait_for("auth_failed")
        self.assertEqual((entry["credential"], entry["route"]), ("callback", "/callbacks/{token}"))
        self.assertEqual(self.votes(instance), [])
        page = client.raw("GET", f"/api/v1/callbacks/{text}.x", headers=PAGE)
        self.assertEqual((page.status, "<form" in page.body), (401, False))
        self.assertIn("The link is not valid", page.body)

    def test_a_link_outlives_the_server_and_ends_with_the_instance(self):
        if self.store == "memory":
            self.skipTest("a memory store does not outlive its server")
        self.begin()
        instance, other = self.start(), self.start("l-2")
        first, second = self.links_of(2)
        self.api.server.stop()
        server = self.again()
        client = self.stranger(server)
        paths = {client.get(path).json()["instance"]: path for path in (first, second)}
        self.assertEqual(set(paths), {instance, other})
        self.assertEqual(client.post(paths[instance], {"verdict": "confirm"}).status, 200)
        admin = log_in(server, self.contract)
        self.addCleanup(admin.close)
        self.assertEqual(admin.post(f"/instances/{other}/cancel").status, 200)
        self.refused(client.post(paths[other], {"verdict": "confirm"}), 409, "not_waiting", USED)

    def links_of(self, count):
        paths = []
        for _, _, message in self.mails.wait_for(count):
            text = message.get_body(("plain",)).get_content()
            paths += re.findall(rf"^{SITE}/api/v1(/callbacks/\S+)", text, re.M)
        return paths

    def test_of_two_clicks_at_once_one_decides(self):
        self.begin()
        instance = self.start()
        path = self.links(1)["ann@example.com"]
        clients = [self.stranger() for _ in range(8)]
        verdicts = ["confirm", "reject"] * 4
        statuses = [0] * len(clients)

        def click(number):
            body = json.dumps({"verdict": verdicts[number]})
            answer = clients[number].raw("POST", f"/api/v1{path}", body, {"Content-Type": "application/json"})
            statuses[number] = answer.status
        threads = [threading.Thread(target=click, args=(number,)) for number in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(statuses), [200] + [409] * 7)
        [vote] = self.votes(instance)
        self.assertEqual(vote["verdict"], verdicts[statuses.index(200)] + "ed")

    def test_a_program_makes_a_link_that_sends_a_signal(self):
        self.begin()
        flow = "workflow: pay\nsteps:\n  - signal: paid\n  - signal: sent\n"
        self.api("POST", "/workflows", flow, {"Content-Type": "application/yaml"})
        instance = self.api.post("/instances", {"workflow": "pay", "input": {}}).json()["id"]

        def make(client, **body):
            return client.post(f"/instances/{instance}/callbacks", {"name": "paid", **body})
        ann = "mail:ann@example.com"
        for role, more, by, status in (
            ("viewer", {}, None, 403), ("operator", {}, ann, 403), ("operator", {}, None, 201),
            ("operator", {"act_as": True}, ann, 201),
        ):
            name = f"{role}-{status}-{len(more)}"
            token = self.api("PUT", f"/tokens/{name}", {"role": role, **more}).json()["token"]
            client = Client(self.api.server, self.contract, token=token)
            self.addCleanup(client.close)
            answer = make(client, **({"by": by} if by else {}))
            self.assertEqual(answer.status, status, answer.body)
        link = answer.json()
        about = link["kind"], link["name"], link["by"], link["role"]
        self.assertEqual(about, ("signal", "paid", "mail:ann@example.com", None))
        self.assertEqual(make(self.api, name="sent").status, 409, "it does not wait for this one yet")
        for expires in ("0s", "721h", "soon"):
            self.assertEqual(make(self.api, expires=expires).status, 400, expires)
        short = make(self.api, expires="1ms").json()["href"].removeprefix("/api/v1")
        client = self.stranger()
        # It may be over before the first look.
        while client.get(short).status == 200:
            pass
        for answer in (client.get(short), client.post(short, {})):
            self.refused(answer, 401, "unauthenticated", "The link has expired")
        unknown = "/instances/019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d/callbacks"
        self.assertEqual(self.api.post(unknown, {"name": "paid"}).status, 404)
        path = link["href"].removeprefix("/api/v1")
        page = self.stranger().raw("GET", link["href"], headers=PAGE)
        self.assertIn("<button", page.body)
        self.assertNotIn("Reject", page.body)
        done = self.stranger().post(path, {"payload": {"amount": 12.50}})
        self.assertEqual(done.status, 200, done.body)
        self.refused(self.stranger().post(path, {}), 409, "not_waiting", USED)
        history = self.api.get(f"/instances/{instance}/history", payloads="full").json()["items"]
        [event] = [event for event in history if event["type"] == "signal_received"]
        self.assertEqual((event["payload"], event["worker"]), ({"amount": 12.5}, "mail:ann@example.com"))
        rows = self.api.get("/audit", action="answerCallback", limit=100).json()["items"]
        row = next(row for row in rows if row["outcome"] == "allowed")
        self.assertEqual((row["principal"], row["workflow"]), ("mail:ann@example.com", "pay"))

    def test_a_channel_has_one_link(self):
        self.begin(format="slack", url=(receiver := self.receiver()).url)
        instance = self.start()
        [(_, _, body)] = receiver.wait_for(lambda received: len(received) == 1)
        message = json.loads(body)
        self.assertEqual(message["text"], message["blocks"][0]["text"]["text"])
        [path] = re.findall(rf"<{SITE}/api/v1(/callbacks/[^|>]+)\|Confirm or reject>", message["text"])
        self.assertEqual(self.stranger().post(path, {"verdict": "confirm"}).status, 200)
        self.assertEqual([vote["by"] for vote in self.votes(instance)], ["webhook:people"])

    def test_without_a_public_url_there_is_no_link(self):
        self.mails = self.mail_server()
        self.api = self.serve(self.mails, site=None)
        self.api("POST", "/workflows", APPROVAL, {"Content-Type": "application/yaml"})
        self.api("PUT", "/webhooks/people", {"format": "email", "url": "mailto:ann@example.com"})
        self.start()
        texts = [message.get_body(("plain",)).get_content() for *_, message in self.mails.wait_for(2)]
        self.assertNotIn("callbacks", "".join(texts))
