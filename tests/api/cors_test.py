#!/usr/bin/env python3
"""Pages of other origins at a real `ebb serve`: cors_test.py REPOSITORY EBB

What a browser sends, by hand: whether it then shows an answer to a page is written in its headers.
"""

import os
import pathlib
import subprocess
import sys
import unittest

from contract import Contract
from world import Client, Folder, Server, log_in

ROOT, EBB = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
CONTRACT = Contract(ROOT)
APP, OTHER = "https://app.example.com", "http://localhost:5173"
HOSTILE = ("https://evil.example", "https://app.example.com.evil.example", "http://app.example.com",
           "https://app.example.com:444", "https://APP.example.com", "https://sub.app.example.com", "null",
           f"{APP}/", f"{APP}, https://evil.example", "*", "app.example.com", f" {APP}x")
CROSS = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}


class Cors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.path = folder.__enter__()
        cls.addClassCleanup(folder.__exit__)
        cls.server = Server(EBB, "memory", cls.path, ["--requests-per-second", "0", "--no-worker",
                                                      "--cors-origins", f"{APP},{OTHER}"])
        cls.addClassCleanup(cls.server.stop)
        cls.admin = log_in(cls.server, CONTRACT)
        cls.addClassCleanup(cls.admin.close)
        cls.token = cls.admin("PUT", "/tokens/app", {"role": "admin"}).json()["token"]

    def client(self, server=None, **more):
        client = Client(server or self.server, CONTRACT, **more)
        self.addCleanup(client.close)
        return client

    def cors(self, answer):
        return {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}

    def preflight(self, client, origin, path="/api/v1/instances", method="POST"):
        return client.raw("OPTIONS", path, headers={
            "Origin": origin, **CROSS, "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": "authorization,content-type"})

    def test_a_page_of_a_listed_origin_calls_the_api_with_a_token(self):
        client = self.client()
        for origin in (APP, OTHER):
            answer = self.preflight(client, origin)
            self.assertEqual((answer.status, answer.body), (204, ""))
            said = self.cors(answer)
            self.assertEqual(said["access-control-allow-origin"], origin)
            self.assertIn("PUT", said["access-control-allow-methods"])
            self.assertIn("Authorization", said["access-control-allow-headers"])
            self.assertEqual(said["access-control-max-age"], "600")
            self.assertIn("Origin", answer.headers["vary"])
            page = self.client(token=self.token)
            sent = {"Origin": origin, **CROSS}
            answer = page("GET", "/instances", headers=sent)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertEqual(self.cors(answer)["access-control-allow-origin"], origin)
            self.assertIn("ETag", self.cors(answer)["access-control-expose-headers"])
            answer = page("PUT", "/projects/app", {"title": "App", "workflows": ["app.*"]}, sent)
            self.assertIn(answer.status, (200, 201), answer.body)
            # It may read what went wrong.
            answer = page("GET", "/instances/0190", headers=sent)
            self.assertEqual((answer.status, self.cors(answer)["access-control-allow-origin"]), (404, origin))

    def test_a_stream_can_be_read(self):
        page = self.client(token=self.token)
        page.connection.request("GET", "/api/v1/events?topic=stats", headers={
            "Origin": APP, **CROSS, "Authorization": f"Bearer {self.token}"})
        response = page.connection.getresponse()
        self.assertEqual((response.status, response.getheader("Access-Control-Allow-Origin")), (200, APP))
        page.connection.close()

    def test_a_page_of_another_origin_gets_nothing(self):
        for origin in HOSTILE:
            with self.subTest(origin):
                client = self.client()
                answer = self.preflight(client, origin)
                self.assertEqual((answer.status, self.cors(answer)), (405, {}))
                page = self.client(token=self.token)
                answer = page("GET", "/instances", headers={"Origin": origin, **CROSS})
                self.assertEqual(self.cors(answer), {})
                # The page has the token, so it forges nothing; it cannot read the answer.
                self.assertEqual(answer.status, 200)
                forged = self.client(cookie=self.admin.cookie)
                answer = forged("PUT", "/projects/evil", {"workflows": ["*"]}, {"Origin": origin, **CROSS})
                self.assertEqual((answer.status, answer.json()["code"]), (403, "csrf_refused"))
                self.assertEqual(self.cors(answer), {})

    def test_cookies_are_never_accepted_from_another_origin(self):
        self.assertEqual(self.admin.get("/me").status, 200)
        for site in (CROSS, {"Sec-Fetch-Site": "same-site"}, {}):
            sent = {"Origin": APP, **site}
            page = self.client(cookie=self.admin.cookie)
            requests = [("GET", path, None) for path in ("/me", "/session", "/tokens")]
            requests.append(("PUT", "/projects/evil", {"workflows": ["*"]}))
            requests.append(("POST", "/session", {"login": "x" * 43}))
            for method, path, body in requests:
                answer = page(method, path, body, sent)
                self.assertEqual(answer.status, 401, f"{method} {path}: {answer.body}")
                self.assertNotIn("set-cookie", answer.headers)
                self.assertNotIn("access-control-allow-credentials", answer.headers)
            self.assertNotIn("access-control-allow-credentials", self.preflight(page, APP).headers)
            # A token beside the cookie counts alone.
            name = f"viewer-{len(str(site))}"
            viewer = self.admin("PUT", f"/tokens/{name}", {"role": "viewer"}).json()["token"]
            both = self.client(cookie=self.admin.cookie, token=viewer)
            self.assertEqual(both("GET", "/me", headers=sent).json()["role"], "viewer")

    def test_the_own_page_works_as_before(self):
        own = f"http://127.0.0.1:{self.server.port}"
        page = self.client(cookie=self.admin.cookie)
        for sent in ({"Origin": own}, {"Origin": own, "Sec-Fetch-Site": "same-origin"}):
            answer = page("PUT", "/projects/own", {"title": "Own", "workflows": ["own.*"]}, sent)
            self.assertIn(answer.status, (200, 201), answer.body)
            self.assertEqual(self.cors(answer), {})

    def test_only_the_api_answers_other_origins(self):
        page = self.client(token=self.token)
        for path in ("/", "/metrics", "/livez", "/readyz", "/problems/invalid_state"):
            self.assertEqual(self.cors(page.raw("GET", path, headers={"Origin": APP, **CROSS})), {}, path)
            self.assertEqual(self.cors(self.preflight(page, APP, path, "GET")), {}, path)

    def test_there_is_none_by_default(self):
        with Folder() as folder, Server(EBB, "memory", folder, ["--no-worker"]) as server:
            client = self.client(server)
            answer = self.preflight(client, APP)
            self.assertEqual((answer.status, self.cors(answer)), (405, {}))
            self.assertNotIn("vary", client.raw("GET", "/api/v1/me").headers)

    def check(self, *arguments):
        command = [EBB, "serve", "--check", *arguments]
        return subprocess.run(
            command, cwd=self.path, timeout=60, capture_output=True, text=True, check=False
        )

    def test_what_is_not_an_origin_is_refused(self):
        for origin, why in (("*", "Name each origin"), ("null", "Name each origin"),
                            ("app.example.com", "Name each origin"),
                            ("https://app.example.com/", "only a port"),
                            ("https://app.example.com:443", "leave out"),
                            ("http://app.example.com:80", "leave out"), ("https://", "lower case"),
                            ("https://APP.example.com", "lower case"),
                            ("https://a.example:x", "only a port"),
                            ("https://a.example:65536", "only a port"),
                            ("https://*.example.com", "lower case"),
                            ("https://user@app.example.com", "lower case"),
                            ("ftp://app.example.com", "Name each origin")):
            done = self.check("--cors-origins", origin)
            self.assertEqual(done.returncode, 2, origin)
            self.assertIn("--cors-origins: ", done.stderr)
            self.assertIn(why, done.stderr)
        for origin in (APP, OTHER, "http://[::1]:5173", "http://127.0.0.1:8080"):
            self.assertEqual(self.check("--cors-origins", origin).returncode, 0, origin)
        done = self.check("--no-auth", "--cors-origins", APP)
        self.assertEqual((done.returncode, "--no-auth" in done.stderr), (2, True))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
