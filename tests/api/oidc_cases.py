"""Logins by OpenID Connect, against a provider that also lies: cases for api_test.py."""

import contextlib
import http.client
import itertools
import pathlib
import subprocess
import threading
import urllib.parse

from issuer import CLIENT, SECRET, Issuer, Key
from world import Client, Folder, Server, log_in

ADDRESSES = itertools.count(2)


class OidcCases:
    """The class has EBB, STORE and CONTRACT."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Folder()
        cls.path = cls.folder.__enter__()
        cls.addClassCleanup(cls.folder.__exit__)
        cls.issuer = Issuer(cls.path)
        cls.issuer.__enter__()
        cls.addClassCleanup(cls.issuer.__exit__)
        cls.server = cls.serve("--oidc-name", "Example ID", "--oidc-audience", "https://ebb.example.com")
        cls.admin = log_in(cls.server, cls.CONTRACT)
        cls.addClassCleanup(cls.admin.close)
        grant = {"subject": "group:finance", "role": "approver", "decision_roles": ["clerk"]}
        assert cls.admin("PUT", "/grants/finance", grant).status == 201

    @classmethod
    def serve(cls, *arguments):
        more = ["--no-worker", "--requests-per-second", "0", *cls.issuer.arguments(cls.path), *arguments]
        server = Server(cls.EBB, cls.STORE, cls.path, more)
        cls.addClassCleanup(server.stop)
        return server

    def setUp(self):
        # The server closes a connection that is not used for a minute.
        self.admin.connection.close()
        issuer = self.issuer
        issuer.answers, issuer.description, issuer.userinfo, issuer.make = {}, {}, {}, None

    def client(self, server=None, **more):
        """From an address of its own, so that the limit of strangers is never reached."""
        server = server or self.server
        client = Client(server, self.CONTRACT, **more)
        source = (f"127.0.1.{next(ADDRESSES)}", 0)
        client.connection = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=60, source_address=source
        )
        self.addCleanup(client.close)
        return client

    def begin(self, client, **query):
        answer = client.get("/session/oidc", **query)
        self.assertEqual(answer.status, 302, answer.body)
        client.cookie = answer.headers["set-cookie"].split(";")[0]
        return answer.headers["location"]

    def finish(self, client, query):
        answer = client.get("/session/oidc/callback", **query)
        if answer.status == 302:
            client.cookie = answer.headers["set-cookie"].split(";")[0]
        return answer

    def log_in(self, client, **claims):
        return self.finish(client, self.issuer.authorize(self.begin(client), **claims))

    def refused(self, answer, word, status=401, code="login_failed"):
        self.assertEqual((answer.status, answer.json()["code"]), (status, code), answer.body)
        self.assertIn(word, answer.json()["detail"])

    def test_a_person_has_the_grants_of_the_groups_that_the_provider_names(self):
        client = self.client()
        ways = client.get("/session").json()
        self.assertEqual(ways["oidc"], {"name": "Example ID", "href": "/api/v1/session/oidc"})
        location = self.begin(client, return_to="/decisions?role=clerk")
        # A provider may add parameters of its own.
        claims = {"name": "Ann", "groups": ["staff", "finance"], "email": "ann@example.com"}
        back = self.issuer.authorize(location, **claims)
        answer = self.finish(client, {**back, "session_state": "x", "iss": self.issuer.url})
        self.assertEqual((answer.status, answer.headers["location"]), (302, "/decisions?role=clerk"))
        me = client.get("/me").json()
        self.assertEqual(me["principal"], f"user:ann@{self.issuer.url}")
        about = me["kind"], me["display_name"], me["groups"], me["role"], me["decision_roles"]
        self.assertEqual(about, ("session", "Ann", ["staff", "finance"], "approver", ["clerk"]))
        row = self.admin.get("/audit", action="loggedIn", limit=1).json()["items"][0]
        self.assertEqual((row["principal"], row["detail"]), (me["principal"], {"method": "oidc"}))
        stranger = self.client()
        self.assertEqual(self.log_in(stranger, sub="bob").status, 302)
        self.assertEqual(stranger.get("/instances").json()["code"], "not_allowed")

    def test_a_grant_of_the_person_counts_too(self):
        subject = f"user:carol@{self.issuer.url}"
        made = self.admin("PUT", "/grants/carol", {"subject": subject, "role": "viewer"})
        self.assertEqual(made.status, 201, made.body)
        client = self.client()
        self.log_in(client, sub="carol")
        self.assertEqual(client.get("/me").json()["role"], "viewer")

    def test_a_login_works_once_and_only_where_it_began(self):
        client, thief = self.client(), self.client()
        back = self.issuer.authorize(self.begin(client))
        self.refused(self.finish(thief, back), "over")
        self.begin(thief)
        self.refused(self.finish(thief, back), "over")
        self.refused(self.finish(client, {**back, "state": "x" * 43}), "over")
        self.refused(self.finish(client, {"code": back["code"]}), "over")
        cookie = client.cookie
        self.assertEqual(self.finish(client, back).status, 302)
        client.cookie = cookie
        self.refused(self.finish(client, back), "over")

    def test_wrong_logins_are_logged(self):
        client = self.client()
        back = self.issuer.authorize(self.begin(client))
        ids = []
        for query in ({**back, "state": "x" * 43}, {"state": back["state"], "error": "access_denied"}):
            self.begin(client)
            answer = self.finish(client, query)
            self.assertEqual(answer.status, 401, answer.body)
            ids.append(answer.headers["x-request-id"])
        claims = self.issuer.claims(aud="https://ebb.example.com", exp=1)
        bearer = self.client(token=self.issuer.keys[0].token(claims))
        answer = bearer.get("/me")
        self.assertEqual(answer.status, 401, answer.body)
        ids.append(answer.headers["x-request-id"])

        def found():
            entries = [entry for entry in self.server.log if entry.get("event") == "auth_failed"]
            return [entry for entry in entries if entry["request_id"] in ids]
        with self.server.news:
            self.assertTrue(self.server.news.wait_for(lambda: len(found()) == len(ids), timeout=120))
            entries = found()
        self.assertEqual({entry["credential"] for entry in entries}, {"oidc"})
        self.assertEqual([entry["route"] for entry in entries], ["/session/oidc/callback"] * 2 + ["/me"])
        text = str(entries)
        for secret in (back["state"], back["code"], bearer.token):
            self.assertNotIn(secret, text)

    def test_two_tabs_log_in_side_by_side(self):
        client = self.client()
        first = self.issuer.authorize(self.begin(client))
        second = self.issuer.authorize(self.begin(client))
        cookie = client.cookie
        self.assertEqual(self.finish(client, first).status, 302)
        client.cookie = cookie
        self.assertEqual(self.finish(client, second).status, 302)

    def test_a_code_that_was_used_gives_nothing(self):
        client = self.client()
        back = self.issuer.authorize(self.begin(client))
        del self.issuer.codes[back["code"]]
        self.refused(self.finish(client, back), "invalid_grant")

    def test_a_code_of_another_login_gives_nothing(self):
        client, other = self.client(), self.client()
        stolen = self.issuer.authorize(self.begin(other))["code"]
        back = self.issuer.authorize(self.begin(client))
        # Its verifier is another one, which the provider notices.
        self.refused(self.finish(client, {**back, "code": stolen}), "invalid_grant")

    def test_refuses_tokens_that_say_something_wrong(self):
        now = self.issuer.claims()["iat"]
        for claims, word in (
            ({"iss": "https://other.example.com"}, "iss"),
            ({"aud": "other"}, "aud"),
            ({"aud": None}, "aud"),
            ({"aud": [CLIENT, "other"]}, "azp"),
            ({"aud": [CLIENT, "other"], "azp": "other"}, "azp"),
            ({"aud": {"a": CLIENT}}, "aud"),
            ({"exp": now - 90}, "exp"),
            ({"exp": None}, "exp"),
            ({"exp": "tomorrow"}, "exp"),
            ({"iat": now + 120}, "iat"),
            ({"iat": now - 3600}, "iat"),
            ({"iat": None}, "iat"),
            ({"nbf": now + 120}, "nbf"),
            ({"nonce": "other"}, "nonce"),
            ({"nonce": None}, "nonce"),
            ({"sub": ""}, "sub"),
            ({"sub": "a\nb"}, "sub"),
            ({"sub": "x" * 300}, "sub"),
            ({"groups": {"a": 1}}, "groups"),
            ({"groups": [1]}, "groups"),
            ({"groups": ["x"] * 513}, "512"),
        ):
            with self.subTest(claims=claims):
                self.refused(self.log_in(self.client(), **claims), word)

    def test_clocks_may_differ_by_a_minute(self):
        now = self.issuer.claims()["iat"]
        self.assertEqual(self.log_in(self.client(), exp=now - 20, iat=now - 40).status, 302)
        self.assertEqual(self.log_in(self.client(), iat=now + 40, nbf=now + 40).status, 302)
        both = {"aud": [CLIENT, "other"], "azp": CLIENT}
        self.assertEqual(self.log_in(self.client(), **both).status, 302)

    def test_refuses_tokens_that_are_not_signed_as_they_must_be(self):
        key = self.issuer.keys[0]
        other = Key(self.path, "other")
        other.kid = key.kid
        for make, word in (
            (lambda claims: key.token(claims, alg="none"), "algorithm"),
            (lambda claims: key.token(claims, alg="HS256"), "algorithm"),
            (lambda claims: key.token(claims, alg="RS256", crit=["exp"]), "crit"),
            (lambda claims: key.token(claims, alg="PS256"), "no key"),
            (lambda claims: other.token(claims), "signature"),
            (lambda claims: key.token(claims)[:-8] + "AAAAAAAA", "signature"),
            (lambda claims: key.token(claims).rpartition(".")[0] + ".", "signature"),
            (lambda claims: key.token(claims).rpartition(".")[0], "three parts"),
            (lambda claims: "a" * 70_000, "65536"),
            (lambda claims: "!.!.!", "base64url"),
            (lambda claims: key.token([claims]), "object"),
            (lambda claims: "", "no ID token"),
        ):
            self.issuer.make = make
            with self.subTest(word=word):
                self.refused(self.log_in(self.client()), word)
        self.issuer.make = None
        self.assertEqual(self.log_in(self.client()).status, 302)

    def test_takes_the_three_algorithms(self):
        with self.own() as (issuer, server):
            for algorithm in ("RS256", "PS256", "ES256"):
                issuer.keys.append(Key(self.path, f"key-{algorithm}", algorithm))
            for key in issuer.keys[1:]:
                issuer.make = key.token
                client = self.client(server)
                back = issuer.authorize(self.begin(client))
                self.assertEqual(self.finish(client, back).status, 302, key.algorithm)

    def test_refuses_a_short_key_and_a_token_that_names_no_key(self):
        with self.own() as (issuer, server):
            issuer.keys = [Key(self.path, "short", bits=1024)]
            client = self.client(server)
            self.refused(self.finish(client, issuer.authorize(self.begin(client))), "2048")
        with self.own() as (issuer, server):
            one = issuer.keys[0]
            issuer.make = lambda claims: one.token(claims, kid=None)
            client = self.client(server)
            self.assertEqual(self.finish(client, issuer.authorize(self.begin(client))).status, 302)
        with self.own() as (issuer, server):
            one = issuer.keys[0]
            issuer.keys.append(Key(self.path, "second"))
            issuer.make = lambda claims: one.token(claims, kid=None)
            client = self.client(server)
            self.refused(self.finish(client, issuer.authorize(self.begin(client))), "several")

    def test_new_keys_are_looked_for_once_a_minute(self):
        with self.own() as (issuer, server):
            def attempt():
                client = self.client(server)
                return self.finish(client, issuer.authorize(self.begin(client)))
            self.assertEqual(attempt().status, 302)
            self.assertEqual(issuer.asked.count("/jwks"), 1)
            issuer.keys = [Key(self.path, "rotated")]
            self.assertEqual(attempt().status, 302)
            self.assertEqual(issuer.asked.count("/jwks"), 2)
            issuer.keys = [Key(self.path, "again")]
            for _ in range(3):
                self.refused(attempt(), "no key")
            self.assertEqual(issuer.asked.count("/jwks"), 2)

    @contextlib.contextmanager
    def own(self, *arguments):
        """A provider and a server of their own: what they know of each other is theirs."""
        with Folder() as folder, Issuer(folder) as issuer:
            more = ["--no-worker", *issuer.arguments(folder), *arguments]
            with Server(self.EBB, "memory", folder, more) as server:
                yield issuer, server

    def test_says_what_is_wrong_with_the_provider_while_the_rest_works(self):
        page = "/.well-known/openid-configuration"
        json_type = {"Content-Type": "application/json"}
        for answer, word in (
            ((500, {}, b""), "500"),
            ((404, {}, b""), "404"),
            ((302, {"Location": "https://elsewhere.example.com/"}, b""), "redirect"),
            ((200, json_type, b"<html>"), "not JSON"),
            ((200, json_type, b"[]"), "not an object"),
            ((200, json_type, b'"' + b"x" * 300_000 + b'"'), "262144"),
            ((200, json_type, b"[" * 1000 + b"]" * 1000), "not JSON"),
        ):
            with self.own() as (issuer, server):
                issuer.answers[page] = answer
                refused = self.client(server).get("/session/oidc")
                self.refused(refused, word, 503, "provider_unavailable")
                admin = log_in(server, self.CONTRACT)
                self.addCleanup(admin.close)
                self.assertEqual(admin.get("/me").status, 200)
                # It recovers by itself.
                issuer.answers = {}
                self.begin(self.client(server))
        for member, value in (
            ("issuer", "https://other.example.com"),
            ("jwks_uri", "http://keys.example.com/"),
            ("token_endpoint", "file:///etc/passwd"),
            ("authorization_endpoint", None),
            ("authorization_endpoint", "http://127.evil.example.com/"),
        ):
            with self.own() as (issuer, server):
                issuer.description[member] = value
                word = member if member != "issuer" else "another issuer"
                self.refused(self.client(server).get("/session/oidc"), word, 503, "provider_unavailable")

    def test_a_provider_that_is_gone_holds_up_nothing(self):
        with self.own() as (issuer, server):
            issuer.server.server_close()
            answer = self.client(server).get("/session/oidc")
            self.refused(answer, "cannot be read", 503, "provider_unavailable")
            self.assertIn("retry-after", answer.headers)

    def test_a_provider_that_hangs_holds_up_nothing(self):
        with self.own() as (issuer, server):
            issuer.held = threading.Event()
            answers = []
            def ask():
                answers.append(self.client(server).get("/session/oidc").status)
            # More than there are threads for requests.
            askers = [threading.Thread(target=ask) for _ in range(12)]
            for asker in askers:
                asker.start()
            admin = log_in(server, self.CONTRACT)
            self.addCleanup(admin.close)
            for _ in range(20):
                self.assertEqual(admin.get("/stats").status, 200)
            self.assertEqual(admin.raw("GET", "/livez").status, 200)
            self.assertEqual(answers, [])
            issuer.held.set()
            for asker in askers:
                asker.join()
            self.assertEqual(answers, [302] * 12)

    def test_leads_back_to_pages_of_this_server_only(self):
        client = self.client()
        for path in ("https://evil.example.com/", "//evil.example.com", "/\\evil.example.com", "evil", "",
                     "/a\nb", "/" + "x" * 2048, "javascript:alert(1)", "/ä"):
            answer = client.get("/session/oidc", return_to=path)
            self.assertEqual((answer.status, answer.json()["code"]), (400, "invalid_argument"), path)
        with self.own("--base-path", "/ebb/") as (issuer, server):
            client = self.client(server, base="/ebb")
            self.assertEqual(client.get("/session/oidc", return_to="/elsewhere").status, 400)
            self.assertEqual(client.get("/session/oidc", return_to="/ebbing").status, 400)
            back = issuer.authorize(self.begin(client))
            self.assertEqual(self.finish(client, back).headers["location"], "/ebb/")

    def test_a_person_sees_the_login_page_again(self):
        client = self.client()
        html = {"Accept": "text/html,*/*"}
        state = self.issuer.authorize(self.begin(client))["state"]
        denied = {"state": state, "error": "access_denied"}
        answer = client("GET", "/session/oidc/callback", headers=html, query=denied)
        self.assertEqual((answer.status, answer.headers["location"]), (302, "/#login_problem=login_denied"))
        answer = client("GET", "/session/oidc/callback", headers=html)
        self.assertEqual(answer.headers["location"], "/#login_problem=login_failed")
        rows = self.admin.get("/audit", action="login", limit=2).json()["items"]
        self.assertEqual([row["outcome"] for row in rows], ["refused", "refused"])
        self.assertIn("access_denied", rows[1]["detail"]["reason"])
        # Nothing that the provider sends is repeated unless it is a plain word.
        state = self.issuer.authorize(self.begin(client))["state"]
        answer = self.finish(client, {"state": state, "error": "<script>"})
        self.refused(answer, "without a valid reason")

    def test_an_answer_of_another_provider_is_refused(self):
        client = self.client()
        back = self.issuer.authorize(self.begin(client))
        self.refused(self.finish(client, {**back, "iss": "https://other.example.com"}), "iss")
        with self.own() as (issuer, server):
            issuer.description["authorization_response_iss_parameter_supported"] = True
            client = self.client(server)
            self.refused(self.finish(client, issuer.authorize(self.begin(client))), "iss")

    def test_userinfo_adds_what_the_token_does_not_say(self):
        with self.own("--oidc-groups-claim", "/realm_access/roles") as (issuer, server):
            issuer.description["userinfo_endpoint"] = f"{issuer.url}/userinfo"
            issuer.userinfo = {"sub": "ann", "name": "Other", "realm_access": {"roles": ["staff"]}}
            client = self.client(server)
            back = issuer.authorize(self.begin(client), name="Ann")
            self.assertEqual(self.finish(client, back).status, 302)
            me = client.get("/me").json()
            self.assertEqual((me["groups"], me["display_name"]), (["staff"], "Ann"))
            issuer.userinfo["sub"] = "bob"
            self.refused(self.finish(client, issuer.authorize(self.begin(client))), "another person")

    def test_logout_leads_to_the_provider(self):
        with self.own("--public-url", "https://ebb.example.com") as (issuer, server):
            issuer.description["end_session_endpoint"] = f"{issuer.url}/logout?a=b"
            client = self.client(server)
            location = self.begin(client)
            self.assertIn(urllib.parse.quote("https://ebb.example.com/api/v1/session/oidc/callback", safe=""),
                location)
            self.finish(client, issuer.authorize(location))
            answer = client("DELETE", "/session")
            self.assertEqual(answer.status, 200, answer.body)
            url, _, query = answer.json()["logout_url"].partition("?")
            self.assertEqual(url, f"{issuer.url}/logout")
            self.assertEqual(dict(urllib.parse.parse_qsl(query)), {"a": "b", "client_id": CLIENT,
                "post_logout_redirect_uri": "https://ebb.example.com/"})
            self.assertEqual(client.get("/me").status, 401)

    def test_sessions_are_seen_and_ended(self):
        client, other = self.client(), self.client()
        self.log_in(client, sub="dora", email="dora@example.com")
        self.log_in(other, sub="dora")
        mine = client.get("/sessions").json()["items"]
        self.assertEqual([session["is_current"] for session in mine].count(True), 1)
        self.assertEqual({session["principal"] for session in mine}, {f"user:dora@{self.issuer.url}"})
        [current] = [session for session in mine if session["is_current"]]
        self.assertEqual((current["method"], current["email"]), ("oidc", "dora@example.com"))
        self.assertTrue(current["address"].startswith("127.0.1."))
        # Those of others are not there, and are not ended.
        all_sessions = self.admin.get("/sessions").json()["items"]
        [foreign] = [session for session in all_sessions if session["is_current"]]
        self.assertEqual(client("DELETE", f"/sessions/{foreign['id']}").status, 404)
        self.assertEqual(client.get("/sessions", principal=foreign["principal"]).status, 403)
        [theirs] = [session["id"] for session in mine if not session["is_current"]]
        self.assertEqual(client("DELETE", f"/sessions/{theirs}").status, 204)
        self.assertEqual(client("DELETE", f"/sessions/{theirs}").status, 404)
        self.assertEqual(other.get("/me").status, 401)
        self.assertEqual(self.admin("DELETE", f"/sessions/{current['id']}").status, 204)
        self.assertEqual(client.get("/me").status, 401)
        self.assertEqual(self.admin.get("/sessions", principal=current["principal"]).json()["items"], [])

    def test_a_new_login_ends_the_session_before(self):
        client = self.client()
        self.log_in(client, sub="eve")
        before = client.cookie
        answer = client.get("/session/oidc")
        login = answer.headers["set-cookie"].split(";")[0]
        client.cookie = f"{before}; {login}"
        self.finish(client, self.issuer.authorize(answer.headers["location"], sub="eve"))
        self.assertNotEqual(client.cookie, before)
        self.assertEqual(client.get("/me").status, 200)
        self.assertEqual(self.client(cookie=before).get("/me").status, 401)

    def test_access_tokens_for_this_server_are_bearers(self):
        key, audience = self.issuer.keys[0], "https://ebb.example.com"
        def me(**claims):
            token = key.token(self.issuer.claims(aud=audience, sub="robot", groups=["finance"], **claims))
            return self.client(token=token).get("/me")
        answer = me()
        self.assertEqual(answer.status, 200, answer.body)
        about = answer.json()
        self.assertEqual((about["principal"], about["kind"]), (f"user:robot@{self.issuer.url}", "oidc"))
        self.assertEqual(about["role"], "approver")
        now = self.issuer.claims()["iat"]
        for claims in ({"exp": now - 90}, {"nonce": "x"}, {"nbf": now + 90}):
            [word] = claims
            self.refused(me(**claims), word, 401, "unauthenticated")
        for_others = key.token(self.issuer.claims(aud="https://other.example.com"))
        self.refused(self.client(token=for_others).get("/me"), "aud", 401, "unauthenticated")
        unsigned = key.token(self.issuer.claims(aud=audience), alg="none")
        self.refused(self.client(token=unsigned).get("/me"), "algorithm", 401, "unauthenticated")

    def test_no_secret_is_written_down(self):
        client = self.client()
        back = self.issuer.authorize(self.begin(client))
        login = client.cookie.partition("=")[2]
        self.finish(client, back)
        secrets = [login, client.cookie.partition("=")[2], back["state"], SECRET, "for-userinfo"]
        files = [path.read_bytes() for path in pathlib.Path(self.path).glob("ebb.db*")]
        text = b"".join(files) + repr(self.server.log).encode()
        for secret in secrets:
            self.assertNotIn(secret.encode(), text)

    def test_settings_that_cannot_be_right_are_refused(self):
        good = ["--oidc-issuer", "https://login.example.com", "--oidc-client-id", "ebb"]
        for arguments, word in (
            (["--oidc-client-id", "ebb"], "--oidc-issuer"),
            (["--oidc-issuer", "http://login.example.com", "--oidc-client-id", "ebb"], "https"),
            (["--oidc-issuer", "https://login.example.com"], "client id"),
            ([*good, "--oidc-scopes", "email"], "openid"),
            ([*good, "--oidc-audience", "ebb"], "audience"),
            ([*good, "--oidc-groups-claim", "/~x"], "JSON pointer"),
            ([*good, "--no-auth"], "--no-auth"),
            ([*good, "--public-url", "ebb.example.com"], "public URL"),
            ([*good, "--public-url", "https://ebb.example.com/path"], "public URL"),
        ):
            command = [self.EBB, "serve", "--db", "memory:", "--check", *arguments]
            done = subprocess.run(command, capture_output=True, text=True, cwd=self.path, timeout=60)
            self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
            self.assertIn(word, done.stderr)
