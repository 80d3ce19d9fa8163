#!/usr/bin/env python3
"""Settings of `ebb serve`: where they come from, what is refused, and a reload: config_test.py ROOT EBB

No case waits for a time: each waits for what the server logs, or for an answer.
"""

import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import unittest

import jsonschema
import yaml

from contract import Contract
from world import WORKFLOW, Client, Folder, Server, log_in

ROOT, EBB = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])


class Config(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)

    def write(self, text, name="serve.yaml"):
        (self.path / name).write_text(text)
        return name

    def serve(self, *arguments, code=0, **environment):
        done = subprocess.run(
            [EBB, "serve", *arguments], cwd=self.path, capture_output=True, text=True, timeout=120,
            check=False, env={**os.environ, "EBB_DB": "", **environment},
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def settings(self, *arguments, **environment):
        """What is in force, as {key: (value, origin)}."""
        lines = self.serve("--print-config", *arguments, **environment).splitlines()
        pairs = [line.split(": ", 1) for line in lines if not line.startswith("#")]
        return {key: tuple(rest.rsplit("  # ", 1)) for key, rest in pairs}

    def test_a_flag_comes_before_the_environment_and_that_before_the_file(self):
        file = self.write("listen: 127.0.0.1:1001\ntitle: of the file\nthreads: 3\n")
        with_file = self.settings("--config", file)
        self.assertEqual(with_file["title"], ('"of the file"', "serve.yaml:2:1"))
        both = self.settings("--config", file, EBB_TITLE="of the environment")
        self.assertEqual(both["title"], ('"of the environment"', "EBB_TITLE"))
        self.assertEqual(both["threads"], ("3", "serve.yaml:3:1"))
        all_three = self.settings("--config", file, "--title", "of the flag", EBB_TITLE="x")
        self.assertEqual(all_three["title"], ('"of the flag"', "flag"))
        self.assertNotIn("base_path", all_three)
        self.assertEqual(self.settings(EBB_CONFIG=file)["listen"][1], "serve.yaml:1:1")

    def test_lists_flags_and_the_database_can_be_set_everywhere(self):
        file = self.write(
            "db: sqlite:of-file.db\nlisten: [127.0.0.1:0, '[::1]:0']\nno_worker: true\n"
            "no_auth: false\nallowed_hosts: [a.example, b.example]\n"
        )
        settings = self.settings("--config", file)
        self.assertEqual(settings["listen"][0], '["127.0.0.1:0","[::1]:0"]')
        self.assertEqual(settings["allowed_hosts"][0], '["a.example","b.example"]')
        self.assertEqual(settings["db"], ('"sqlite:of-file.db"', "serve.yaml:1:1"))
        self.assertEqual((settings["no_worker"][0], settings["no_auth"][0]), ("true", "false"))
        environment = self.settings(
            "--config", file, EBB_LISTEN="127.0.0.1:0,127.0.0.2:0", EBB_DB="memory:"
        )
        self.assertEqual(environment["listen"], ('["127.0.0.1:0","127.0.0.2:0"]', "EBB_LISTEN"))
        self.assertEqual(environment["db"][1], "EBB_DB")

    def test_says_where_a_file_is_wrong(self):
        for text, place, what in (
            ("listne: 127.0.0.1:0", "serve.yaml:1:1", 'did you mean "listen"'),
            ("title: a\ntitle: b", "serve.yaml:2", "title"),
            ("threads: many", "serve.yaml:1:1", "many"),
            ("title: [a, b]", "serve.yaml:1:1", "not a list"),
            ("title: {a: b}", "serve.yaml:1:", "title"),
            ("no_worker: perhaps", "serve.yaml:1:1", "true or false"),
            ("drain_timeout: soon", "serve.yaml:1:1", "soon"),
            ("- listen", "serve.yaml:1:1", "map"),
            ("listen: [", "serve.yaml:", ""),
            ("check: true", "serve.yaml:1:1", "check"),
            ("links: [Logs]", "", "NAME=URL"),
            ("links: ['Logs=ftp://logs.example.com/']", "", "is not a URL"),
            ("links: ['=https://logs.example.com/']", "", "1 to 64 bytes"),
            ("links: ['Logs=https://logs.example.com/${instance.ip}']", "", "instance.trace_id"),
            ("links: ['Logs=https://logs.example.com/${instance.id']", "", "without its"),
            (f"links: {['L=https://logs.example.com/'] * 17}", "", "at most 16"),
        ):
            with self.subTest(text):
                message = self.serve("--config", self.write(text + "\n"), "--check", code=2)
                self.assertIn(place, message)
                self.assertIn(what, message)
                self.assertNotIn("?.", message)
        self.assertIn("none.yaml", self.serve("--config", "none.yaml", "--check", code=2))
        self.assertIn("EBB_THREADS", self.serve("--check", code=2, EBB_THREADS="many"))
        self.assertEqual(self.serve("--config", self.write("# nothing\n"), "--check"), "")

    def test_a_check_finds_what_would_keep_the_server_from_starting(self):
        self.serve("--check", "--listen", "127.0.0.1:8322", self.write(WORKFLOW, "order.yaml"))
        self.assertFalse((self.path / "ebb.db").exists(), "a check makes no database")
        self.assertIn("--tls-cert", self.serve("--check", "--listen", "0.0.0.0:0", code=2))
        self.assertIn("x.pem", self.serve("--check", "--tls-cert", "x.pem", "--tls-key", "y.pem", code=2))
        self.serve("--check", self.write("workflow: x\nstepps: []\n", "x.yaml"), code=2)
        proxy = ["--behind-proxy", "127.0.0.1", "--proxy-secret-file", self.write("x" * 32, "proxy.secret")]
        (self.path / "proxy.secret").chmod(0o600)
        for options, what in (
            (["--key", self.write("ten bytes.", "short.key")], "short.key"),
            (["--id", "a b"], "worker_id"),
            (["--base-path", "/a/../b"], "base path"),
            (["--smtp-ca-file", "absent.pem"], "absent.pem"),
            (["--hook-secrets", "absent"], "--hook-secrets"),
            ([*proxy, "--proxy-user-header", "a b"], "name of a header"),
            (["--listen", "fd:99"], "fd:99 is not a socket"),
            (["--listen", "[::]:0"], "[::]:0 can be reached"),
        ):
            with self.subTest(options):
                self.assertIn(what, self.serve("--check", *options, code=2))

    def test_a_flag_of_the_environment_may_be_a_number(self):
        self.assertIn("allow_exec: true", self.serve("--print-config", EBB_ALLOW_EXEC="1"))
        self.assertIn("allow_exec: false", self.serve("--print-config", EBB_ALLOW_EXEC="0"))
        self.assertIn("true or false", self.serve("--check", code=2, EBB_ALLOW_EXEC="yes"))

    def certificate(self, name):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.path / "key.pem",
             "-out", self.path / "certificate.pem", "-days", "30", "-subj", f"/CN={name}"],
            check=True, capture_output=True,
        )

    def served_certificate(self, server):
        return ssl.get_server_certificate(("127.0.0.1", server.port), timeout=60)

    def test_a_hangup_reloads_certificate_and_names_and_refuses_what_is_wrong(self):
        self.certificate("first")
        first = (self.path / "certificate.pem").read_text()
        settings = "tls_cert: certificate.pem\ntls_key: key.pem\n"
        self.write(settings)
        with Server(EBB, "memory", self.path, arguments=["--config", "serve.yaml"]) as server:
            self.assertEqual(self.served_certificate(server).strip(), first.strip())
            self.certificate("second")
            second = (self.path / "certificate.pem").read_text()
            self.assertEqual(self.served_certificate(server).strip(), first.strip())
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_reloaded")
            self.assertEqual(self.served_certificate(server).strip(), second.strip())
            self.write(settings + "titel: x\n")
            server.process.send_signal(signal.SIGHUP)
            self.assertIn("serve.yaml:3:1", server.wait_for("config_refused")["error"])
            self.assertEqual(self.served_certificate(server).strip(), second.strip())
            self.write(settings + "threads: 7\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_reloaded", 2)
            self.assertEqual(server.wait_for("config_needs_restart")["key"], "threads")
            self.assertEqual(server.stop(), 0)

    def test_a_network_that_is_wrong_is_refused_with_what_is_wrong(self):
        key = "webhooks_allow_private"
        for value, why in (
            ("10.1.0.0/33", "has no prefix from 0 to 32 after the slash"),
            ("10.1.0.0/", "has no prefix from 0 to 32 after the slash"),
            ("10.1.0.0/016", "has no prefix from 0 to 32 after the slash"),
            ("fd00::/129", "has no prefix from 0 to 128 after the slash"),
            ("10.1.2.3/16", "has bits after its prefix; the network is 10.1.0.0/16."),
            ("fd00:1::1/16", "has bits after its prefix; the network is fd00::/16."),
            ("intranet", "is neither an address nor a network, such as 10.1.0.0/16"),
            ("10.1.0.0/16,true", '"true" is neither an address nor a network'),
        ):
            with self.subTest(value):
                said = self.serve("--check", f"--webhooks-allow-private={value}", code=2)
                self.assertIn("--webhooks-allow-private: ", said)
                self.assertIn(why, said)
                self.assertIn(why, self.serve("--check", code=2, EBB_WEBHOOKS_ALLOW_PRIVATE=value))
        self.assertEqual(self.settings("--webhooks-allow-private")[key], ("true", "flag"))
        off = self.settings(EBB_WEBHOOKS_ALLOW_PRIVATE="false").get(key)
        self.assertEqual(off, ("false", "EBB_WEBHOOKS_ALLOW_PRIVATE"))
        both = self.settings("--webhooks-allow-private=10.1.0.0/16,::1", "--webhooks-allow-private=fd00::/8")
        self.assertEqual(both[key], ('["10.1.0.0/16","::1","fd00::/8"]', "flag"))
        file = self.write(f"{key}: [10.1.0.0/16]\n")
        self.assertEqual(self.settings("--config", file)[key], ('["10.1.0.0/16"]', "serve.yaml:1:1"))

    def plain(self, server, pieces):
        """The answer to what is sent in plain text, piece by piece, and whether the connection ends."""
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            for piece in pieces:
                connection.sendall(piece)
            answer = b""
            while part := connection.recv(4096):
                answer += part
        return answer.decode()

    def test_a_port_with_tls_says_so_to_a_client_without_it(self):
        self.certificate("one")
        arguments = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem", "--public-metrics"]
        with Server(EBB, "memory", self.path, arguments=arguments) as server:
            head = f"Host: 127.0.0.1:{server.port}\r\n\r\n".encode()
            for pieces in (
                [b"GET /api/v1/me HTTP/1.1\r\n", head],
                [b"D", b"ELETE /api/v1/tokens/x HTTP/1.1\r\n", head],
                [b"POST /api/v1/instances HTTP/1.1\r\nContent-Length: 100000\r\n", head, b"x" * 3000],
            ):
                answer = self.plain(server, pieces)
                self.assertTrue(answer.startswith("HTTP/1.1 400 "), answer)
                self.assertIn("Connection: close\r\n", answer)
                problem = json.loads(answer.split("\r\n\r\n", 1)[1])
                self.assertEqual(problem["code"], "bad_request")
                self.assertEqual(
                    problem["detail"],
                    "This port speaks HTTPS, and the request is plain HTTP. "
                    f"Use https://127.0.0.1:{server.port}.",
                )
            malformed = self.plain(server, [b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n"])
            self.assertTrue(malformed.startswith("HTTP/1.1 400 "), malformed)
            context = ssl.create_default_context(cafile=self.path / "certificate.pem")
            context.check_hostname = False
            https = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=60, context=context)
            https.request("GET", "/metrics")
            text = https.getresponse().read().decode()
            https.close()
            [end] = re.findall(r"^ebb_tls_certificate_expiry_timestamp_seconds (\S+)$", text, re.MULTILINE)
            command = ["openssl", "x509", "-in", self.path / "certificate.pem", "-noout", "-enddate"]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            wanted = ssl.cert_time_to_seconds(said.strip().removeprefix("notAfter="))
            self.assertEqual(float(end), wanted)
            # A greeting of TLS may come in pieces, too.
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            layer = context.wrap_bio(incoming, outgoing)
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while True:
                    try:
                        layer.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        for byte in outgoing.read():
                            connection.sendall(bytes([byte]))
                        incoming.write(connection.recv(4096))
                self.assertEqual(layer.version(), "TLSv1.3")
                layer.write(b"GET /livez HTTP/1.1\r\n" + head)
                connection.sendall(outgoing.read())
                while True:
                    try:
                        self.assertTrue(layer.read(4096).startswith(b"HTTP/1.1 200 "))
                        break
                    except ssl.SSLWantReadError:
                        incoming.write(connection.recv(4096))

    def test_says_that_no_worker_may_run_a_program(self):
        file = self.write("workflow: ship\nhandlers: {pack: {exec: [cat]}}\nsteps: [pack]\n", "ship.yaml")
        with Server(EBB, "sqlite", self.path, files=[file]) as server:
            api = log_in(server, Contract(ROOT))
            self.addCleanup(api.close)
            other = {"workflow": "ship", "version": 2, "steps": ["pack"],
                     "handlers": {"pack": {"exec": ["true"]}}}
            self.assertEqual(api.post("/workflows", other).status, 201)
            instance = api.post("/instances", {"workflow": "ship", "version": 2}).json()["id"]
            end = time.monotonic() + 60
            while "may run the program" not in (why := api.get(f"/instances/{instance}/why").json())["why"]:
                self.assertLess(time.monotonic(), end, why)
            self.assertIn('waits for a worker that may run the program of the handler "pack"', why["why"])
            self.assertIn("the file of ship v2, or --allow-exec", why["why"])
            self.assertEqual([wait["kind"] for wait in why["waiting_for"]], ["worker"])
            events = [event["type"] for event in api.get(f"/instances/{instance}/history").json()["items"]]
            self.assertEqual(events, ["started"], "no attempt was made")
        with Server(EBB, "sqlite", self.path, ["--allow-exec"], [file]):
            wait = [EBB, "wait", instance, "--db", "ebb.db", "--timeout", "60s"]
            done = subprocess.run(wait, cwd=self.path, check=False, capture_output=True, text=True)
            self.assertEqual(done.stdout, "completed\n", done.stderr)

    def test_programs_that_only_the_database_names_need_permission(self):
        file = self.write(
            "workflow: touch\nhandlers: {touch: {exec: [touch, touched], output: none}}\nsteps: [touch]\n",
            "touch.yaml",
        )
        command = [EBB, "start", file, "--key", "k", "--db", "ebb.db"]
        subprocess.run(command, cwd=self.path, check=True, capture_output=True)
        # The warning comes before the server is ready.
        with Server(EBB, "sqlite", self.path) as server:
            refused = [entry for entry in server.log if entry.get("event") == "exec_refused"]
            self.assertEqual([entry["workflow"] for entry in refused], ["touch"])
            self.assertEqual(server.stop(), 0)
        self.assertFalse((self.path / "touched").exists())
        for arguments in (["--allow-exec"], [file]):
            again = [EBB, "start", "touch", "--db", "ebb.db"]
            started = subprocess.run(again, cwd=self.path, check=True, capture_output=True, text=True)
            with Server(EBB, "sqlite", self.path, arguments=arguments) as server:
                self.assertFalse([entry for entry in server.log if entry.get("event") == "exec_refused"])
                wait = [EBB, "wait", started.stdout.strip(), "--db", "ebb.db", "--timeout", "60s"]
                done = subprocess.run(wait, cwd=self.path, check=False, capture_output=True, text=True)
                self.assertEqual(done.stdout, "completed\n", done.stderr)
            (self.path / "touched").unlink()

    def test_allowed_hosts_and_the_rate_follow_a_reload(self):
        self.write("allowed_hosts: [old.example]\n")
        arguments = ["--config", "serve.yaml", "--no-auth"]
        with Server(EBB, "memory", self.path, arguments=arguments) as server:
            client = Client(server, Contract(ROOT))
            ask = lambda host: client("GET", "/me", headers={"Host": host})
            self.assertEqual((ask("old.example").status, ask("new.example").status), (200, 421))
            self.write("allowed_hosts: [new.example]\nrequests_per_second: 1\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_reloaded")
            self.assertEqual(ask("old.example").status, 421)
            answer = ask("new.example")
            while answer.status != 429:
                answer = ask("new.example")
            self.assertEqual(answer.json()["code"], "rate_limited")
            self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
            self.assertEqual(client.raw("GET", "/livez").status, 200)
            client.close()

    def test_what_the_file_declares_is_in_the_database_and_follows_the_file(self):
        text = """
webhooks:
  ops:
    url: https://example.com/hook
    events: [instance.failed]
    secret: {env: OPS_SECRET}
  chat: {url: "https://example.com/chat", format: slack}
hooks:
  shop: {scheme: token, workflow: order, secret: {env: EBB_HOOK_SHOP}}
queues:
  mail: {concurrency: 3, rate: {starts: 10, period: 1m}}
retention:
  order: {completed: 30d}
"""
        self.write(text)
        environment = {"OPS_SECRET": "whsec_" + "A" * 43 + "=", "EBB_HOOK_SHOP": "sixteen bytes or more"}
        arguments = ["--config", "serve.yaml", "--no-auth"]
        self.write(WORKFLOW, "order.yaml")
        with Server(EBB, "sqlite", self.path, arguments, ["order.yaml"], environment) as server:
            client = Client(server, Contract(ROOT))
            ops = client.get("/webhooks/ops").json()
            self.assertEqual((ops["url"], ops["events"]), ("https://example.com/hook", ["instance.failed"]))
            self.assertEqual(client.get("/webhooks/chat").json()["format"], "slack")
            self.assertEqual(client.get("/hooks/shop").json()["secret"], {"env": "EBB_HOOK_SHOP"})
            token = {"Authorization": "Bearer sixteen bytes or more"}
            self.assertEqual(client.post("/hooks/shop", {}, token).status, 202)
            limits = client.get("/queues/mail").json()
            self.assertEqual(limits["concurrency"], 3)
            rules = {rule["workflow"]: rule for rule in client.get("/retention").json()["items"]}
            self.assertEqual(rules["order"]["completed"], "30d")
            # By hand, beside what the file declares.
            self.assertEqual(client("PUT", "/webhooks/own", {"url": "https://example.com/own"}).status, 200)
            self.write(text.replace("concurrency: 3", "concurrency: 5").replace("  chat:", "  talk:"))
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_reloaded")
            names = {item["name"] for item in client.get("/webhooks").json()["items"]}
            self.assertEqual(names, {"ops", "talk", "own"})
            self.assertEqual(client.get("/queues/mail").json()["concurrency"], 5)
            applied = [entry["what"] for entry in server.log if entry.get("event") == "config_applied"]
            self.assertEqual(sorted(applied[5:]), ["queues mail", "webhooks talk"])
            self.assertEqual(server.wait_for("config_removed")["what"], "webhooks chat")
            rows = [(row["action"], row["target"]) for row in client.get("/audit").json()["items"]]
            self.assertIn(("removeConfig", "webhooks chat"), rows)
            self.assertIn(("applyConfig", "webhooks talk"), rows)
            self.write(text + "  other: {completed: soon}\n")
            server.process.send_signal(signal.SIGHUP)
            self.assertIn("serve.yaml:14:3", server.wait_for("config_refused")["error"])
            self.assertEqual(client.get("/queues/mail").json()["concurrency"], 5)
            client.close()
        # A server without a file, or with another one, removes nothing.
        other = str(self.write("queues:\n  fax: {concurrency: 1}\n", "other.yaml"))
        for options, queues in (([], {"mail"}), (["--config", other], {"mail", "fax"})):
            with Server(EBB, "sqlite", self.path, ["--no-auth", *options], (), environment) as server:
                client = Client(server, Contract(ROOT))
                names = {item["name"] for item in client.get("/webhooks").json()["items"]}
                self.assertEqual(names, {"ops", "talk", "own"})
                limited = {one["name"] for one in client.get("/queues").json()["items"] if one["concurrency"]}
                self.assertEqual(limited, queues)
                self.assertEqual(len(client.get("/hooks").json()["items"]), 1)
                client.close()
        # What is gone from the file while no server runs is removed by the next one.
        self.write("title: Shop\n")
        with Server(EBB, "sqlite", self.path, arguments) as server:
            client = Client(server, Contract(ROOT))
            self.assertEqual([item["name"] for item in client.get("/webhooks").json()["items"]], ["own"])
            self.assertEqual(client.get("/hooks").json()["items"], [])
            limited = {one["name"] for one in client.get("/queues").json()["items"] if one["concurrency"]}
            self.assertEqual(limited, {"fax"})
            client.close()

    def test_says_what_is_wrong_with_a_declaration(self):
        for text, what in (
            ("webhooks: [ops]", "map of names"),
            ("webhooks: {ops: x}", "map"),
            ("webhooks:\n  ops: {url: 'ftp://example.com'}", "url"),
            ("webhooks:\n  ops: {urll: 'https://example.com'}", "urll"),
            ("webhooks:\n  ops: {url: 'https://example.com', secret: whsec_x}", "{env: NAME}"),
            ("webhooks:\n  ops: {url: 'https://example.com', secret: {env: NOT_SET}}", "NOT_SET"),
            ("hooks:\n  shop: {scheme: fax, workflow: order}", "scheme"),
            ("hooks:\n  shop: {scheme: token, workflow: order, secret: abcdefghijklmnopqrst}", "{env: NAME}"),
            ("hooks:\n  shop: {scheme: token, workflow: order}", "needs its secret"),
            ("queues:\n  mail: {concurrency: -1}", "concurrency"),
            ("queues:\n  mail: {parallel: 1}", "parallel"),
            ("retention:\n  order: {completed: soon}", "completed"),
            ("queues: {a: {}, a: {}}", ""),
        ):
            with self.subTest(text):
                message = self.serve("--config", self.write(text + "\n"), "--check", code=2)
                self.assertIn("serve.yaml:", message)
                self.assertIn(what, message)

    def test_links_of_the_settings_are_told_to_the_pages(self):
        urls = ["https://logs.example.com/?q=${instance.id}&a=b", "http://127.0.0.1/${instance.trace_id}"]
        self.write(f"links:\n  - Logs={urls[0]}\n  - The trace={urls[1]}\n")
        with Server(EBB, "memory", self.path, arguments=["--config", "serve.yaml"]) as server:
            client = log_in(server, Contract(ROOT))
            links = client.get("/").json()["ui"]["links"]
            self.assertEqual(links, [{"name": "Logs", "url": urls[0]}, {"name": "The trace", "url": urls[1]}])
            client.close()

    def test_an_administrator_sees_each_setting_and_its_origin(self):
        self.write("title: of the file\nthreads: 3\nallowed_hosts: [old.example]\n")
        arguments = ["--config", "serve.yaml", "--drain-timeout", "20s"]
        arguments += ["--smtp-url", "smtp://ebb:hidden@mail.example:587", "--smtp-from", "ebb@example.com"]
        environment = {"EBB_BASE_PATH": "/"}
        with Server(EBB, "memory", self.path, arguments=arguments, environment=environment) as server:
            contract = Contract(ROOT)
            client = log_in(server, contract)

            def shown():
                answer = client.get("/admin/config")
                self.assertEqual(answer.status, 200, answer.body)
                config = answer.json()
                self.assertNotIn("hidden", str(config))
                return config, {one["key"]: one for one in config["settings"]}

            config, settings = shown()
            self.assertIsNone(config["error"])
            of = lambda key: tuple(settings[key][name] for name in ("value", "origin", "place"))
            self.assertEqual(of("title"), ("of the file", "file", "serve.yaml:1:1"))
            self.assertEqual(of("base_path"), ("/", "environment", "EBB_BASE_PATH"))
            self.assertEqual(of("drain_timeout"), ("20s", "flag", None))
            self.assertEqual(of("max_connections"), (None, "default", None))
            self.assertEqual(of("smtp_url"), ("smtp://***@mail.example:587", "flag", None))
            live = {key for key, one in settings.items() if one["is_live"]}
            expected = {"tls_cert", "tls_key", "tls_client_ca", "allowed_hosts", "requests_per_second"}
            expected |= {"drain_timeout", "drain_delay"}
            self.assertEqual(live, expected)
            self.assertFalse([key for key, one in settings.items() if one["needs_restart"]])

            self.write("title: of the file\nthreads: 7\nallowed_hosts: [new.example]\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_reloaded")
            _, settings = shown()
            self.assertEqual(of("threads"), ("3", "file", "serve.yaml:2:1"), "still in force")
            self.assertEqual(of("allowed_hosts"), ("new.example", "file", "serve.yaml:3:1"))
            self.assertEqual([key for key, one in settings.items() if one["needs_restart"]], ["threads"])

            self.write("titel: x\n")
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("config_refused")
            config, settings = shown()
            self.assertIn("serve.yaml:1:1", config["error"])
            self.assertEqual(of("allowed_hosts")[0], "new.example")
            client.close()

    def test_an_administrator_reloads_over_the_api(self):
        self.write("threads: 3\nallowed_hosts: [old.example]\n")
        with Server(EBB, "sqlite", self.path, arguments=["--config", "serve.yaml"]) as server:
            client = log_in(server, Contract(ROOT))
            nothing = {"changed": [], "applied": [], "removed": [], "needs_restart": []}
            answer = client.post("/admin/reload")
            self.assertEqual((answer.status, answer.json()), (200, nothing))

            self.write("threads: 7\nallowed_hosts: [new.example]\nqueues: {mail: {concurrency: 3}}\n")
            wanted = {**nothing, "changed": ["allowed_hosts"], "applied": ["queues mail"]}
            wanted["needs_restart"] = ["threads"]
            self.assertEqual(client.post("/admin/reload").json(), wanted)
            answer = client.raw("GET", "/api/v1/me", headers={"Host": f"new.example:{server.port}"})
            self.assertEqual(answer.status, 200, answer.body)
            self.write("threads: 7\nallowed_hosts: [new.example]\n")
            wanted = {**nothing, "removed": ["queues mail"], "needs_restart": ["threads"]}
            self.assertEqual(client.post("/admin/reload").json(), wanted)

            for text, place in (
                ("titel: x\n", "serve.yaml:1:1"),
                ("title: x\nthreads: many\n", "serve.yaml:2:1"),
                ("title: a\ntitle: b\n", "serve.yaml:2:"),
                ("queues: {mail: {concurrency: -1}}\n", "serve.yaml:1:10"),
                ("allowed_hosts: [third.example]\ntls_cert: absent.pem\n", None),
            ):
                with self.subTest(text):
                    self.write(text)
                    answer = client.post("/admin/reload")
                    problem = answer.json()
                    self.assertEqual((answer.status, problem["code"]), (422, "invalid_config"), problem)
                    self.assertTrue(problem.get("place", "").startswith(place or ""), problem)
                    self.assertEqual("place" in problem, place is not None)
                    self.assertEqual(client.get("/admin/config").json()["error"], problem["detail"])
                    answer = client.raw("GET", "/api/v1/me", headers={"Host": "new.example"})
                    self.assertEqual(answer.status, 200, "what was in force stays in force")
            rows = client.get("/audit", action="reloadConfig").json()["items"]
            outcomes = [row["outcome"] for row in rows]
            self.assertEqual(outcomes.count("allowed"), 8, rows)
            self.assertEqual(outcomes.count("failed"), 5, rows)
            client.close()
            self.assertEqual(server.stop(), 0)

    def test_a_network_behind_a_space_is_no_file(self):
        for network in ("10.1.0.0/16", "10.1.0.0/16,fd00::/8", "192.168.7.9"):
            said = self.serve("--check", "--webhooks-allow-private", network, code=2)
            self.assertIn(f'"{network}" is a network, not the file of a workflow', said)
            self.assertIn(f"--webhooks-allow-private={network}", said)
        self.write(WORKFLOW, "10.1.0.9")
        self.serve("--check", "--webhooks-allow-private", "10.1.0.9")

    def test_a_crash_leaves_no_secrets_behind(self):
        user = 65534
        (self.path / "open").mkdir()
        os.chown(self.path / "open", user, user)
        os.chmod(self.path, 0o755)
        if os.getuid() != 0 or subprocess.run([EBB, "version"], user=user, capture_output=True).returncode:
            self.skipTest("needs root, and a program that all users may run")
        for arguments, variables, owner, may_dump in (
            ((), (), 0, False),
            (("--core-dumps",), (), user, True),
            ((), (("EBB_CORE_DUMPS", "true"),), user, True),
        ):
            with Server(EBB, "memory", self.path / "open", arguments, (), variables, user) as server:
                process = pathlib.Path(f"/proc/{server.process.pid}")
                # What cannot be dumped belongs to root: its own user can neither read nor trace it.
                self.assertEqual((process / "mem").stat().st_uid, owner, arguments)
                [limit] = re.findall(r"^Max core file size +(\S+)", (process / "limits").read_text(), re.M)
                soft = resource.getrlimit(resource.RLIMIT_CORE)[0]
                own = "unlimited" if soft == resource.RLIM_INFINITY else str(soft)
                self.assertEqual(limit, own if may_dump else "0")

    def test_requests_without_a_valid_login_are_limited_by_address(self):
        with Server(EBB, "memory", self.path) as server:
            client = Client(server, Contract(ROOT), token="ebb_wrong")
            statuses = {client.get("/me").status}
            while 429 not in statuses:
                statuses.add(client.get("/me").status)
            self.assertEqual(statuses, {401, 429})
            client.close()

    def test_logs_failed_logins_without_the_secrets_and_not_too_often(self):
        with Server(EBB, "memory", self.path, ["--requests-per-second", "0"]) as server:
            contract = Contract(ROOT)
            admin = log_in(server, contract)
            self.addCleanup(admin.close)
            hook = {"scheme": "token", "workflow": "order", "secret": "sixteen bytes or more"}
            self.assertEqual(admin("PUT", "/hooks/shop", hook).status, 200)
            token = admin("PUT", "/tokens/ci", {"role": "viewer"}).json()["token"]
            self.assertEqual(admin("DELETE", "/tokens/ci").status, 204)
            client = Client(server, contract)
            self.addCleanup(client.close)
            # Nothing was tried here.
            self.assertEqual(client.get("/me").status, 401)
            wrong = "hunter2-" + "w" * 35
            tries = {
                "token": lambda **more: client("GET", "/instances/0190", **more),
                "session": lambda **more: client("GET", "/stats", **more),
                "login_link": lambda **more: client("POST", "/session", {"login": wrong}, **more),
                "hook": lambda **more: client("POST", "/hooks/shop", {}, **more),
            }
            sent = {"token": {"Authorization": f"Bearer {token}"}, "session": {"Cookie": f"ebb={wrong}"},
                    "hook": {"Authorization": f"Bearer {wrong}"}}
            routes = {"token": "/instances/{id}", "session": "/stats", "login_link": "/session",
                      "hook": "/hooks/{name}"}
            for number, (credential, request) in enumerate(tries.items(), 1):
                answer = request(headers={**sent.get(credential, {}), "X-Request-Id": f"try-{number}"})
                self.assertEqual(answer.status, 401, answer.body)
                entry = server.wait_for("auth_failed", number)
                about = [entry[name] for name in ("level", "credential", "route", "remote", "request_id")]
                wanted = ["warning", credential, routes[credential], "127.0.0.1", f"try-{number}"]
                self.assertEqual(about, wanted)
                self.assertEqual(entry["reason"], answer.json()["detail"])
            client.token, statuses = token, []
            while 429 not in statuses:
                statuses.append(client.get("/me").status)
            metrics = admin.raw("GET", "/metrics")
            if metrics.status == 200:
                lines = re.findall(r'^ebb_auth_failures_total{credential="(\w+)"} (\d+)$', metrics.body, re.M)
                others = {"session": "1", "login_link": "1", "hook": "1"}
                self.assertEqual(dict(lines), {"token": str(1 + len(statuses)), **others})
            server.stop()
            logged = [entry for entry in server.log if entry.get("event") == "auth_failed"]
            # Ten in each second at most, and the next one says how many were left out.
            self.assertLess(len(logged), 4 + len(statuses))
            text = json.dumps(server.log)
            # ebb_ID_SECRETCHECK; the secret itself may contain "_".
            _, token_id, secret_and_check = token.split("_", 2)
            self.assertEqual((len(token_id), len(secret_and_check)), (8, 49))
            for secret in (token, token_id, secret_and_check, wrong, "hunter2"):
                self.assertNotIn(secret, text)

    def test_events_of_hooks_are_limited(self):
        arguments = ["--no-auth", "--requests-per-second", "1"]
        with Server(EBB, "memory", self.path, arguments, [self.write(WORKFLOW, "order.yaml")]) as server:
            client = Client(server, Contract(ROOT))
            hook = {"scheme": "token", "workflow": "order", "secret": "sixteen bytes or more"}
            self.assertEqual(client("PUT", "/hooks/shop", hook).status, 200)
            for token, answer in (("sixteen bytes or more", 202), ("the wrong secret of it", 401)):
                statuses = set()
                while 429 not in statuses:
                    statuses.add(client.post("/hooks/shop", {}, {"Authorization": f"Bearer {token}"}).status)
                self.assertEqual(statuses, {answer, 429})
            client.close()

    def test_tells_a_service_manager_how_far_it_is(self):
        manager, environment = self.manager()
        with Server(EBB, "memory", self.path, environment=environment) as server:
            ready = manager.recv(1000)
            self.assertEqual(ready, f"READY=1\nSTATUS=Serving {server.greeting['url']}".encode())
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual([manager.recv(100) for _ in range(2)], [b"RELOADING=1", b"READY=1"])
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(manager.recv(100), b"STOPPING=1")

    def manager(self):
        """The socket of a service manager, and what it tells the server."""
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.path / "notify"))
        manager.settimeout(120)
        return manager, {"NOTIFY_SOCKET": str(self.path / "notify")}

    def test_feeds_the_watchdog_of_its_own_process_only(self):
        manager, environment = self.manager()
        environment["WATCHDOG_USEC"] = "400000"
        with Server(EBB, "memory", self.path, environment=environment):
            self.assertTrue(manager.recv(1000).startswith(b"READY=1"))
            self.assertEqual([manager.recv(100) for _ in range(3)], [b"WATCHDOG=1"] * 3)
        while manager.recv(100) != b"STOPPING=1":
            pass
        for ignored in ({"WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}, {"WATCHDOG_USEC": "0"}):
            with Server(EBB, "memory", self.path, environment={**environment, **ignored}) as server:
                self.assertTrue(manager.recv(1000).startswith(b"READY=1"))
                # A feeding would come after the reload, and before the end.
                server.process.send_signal(signal.SIGHUP)
                self.assertEqual(manager.recv(100), b"RELOADING=1", ignored)
                self.assertEqual(manager.recv(100), b"READY=1")
            self.assertEqual(manager.recv(100), b"STOPPING=1", ignored)

    def test_logs_its_state_when_it_is_asked(self):
        with Server(EBB, "memory", self.path, ["--no-auth"]) as server:
            client = Client(server, Contract(ROOT))
            client.get("/me")
            # A request counts until its answer has left, which the client may see earlier.
            state, asked = {"requests": "1"}, 0
            while state["requests"] != "0":
                server.process.send_signal(signal.SIGUSR1)
                asked += 1
                state = server.wait_for("state", asked)
            self.assertEqual((state["alive"], state["engine_beating"]), ("true", "true"))
            self.assertGreaterEqual(int(state["connections"]), 1)
            self.assertEqual(state["in_flight"], "0")
            self.assertEqual(state["open_requests"], "")
            self.assertEqual(client.get("/me").status, 200, "it goes on")
            # A stream stays open. Its query is not in the log.
            with socket.create_connection(("127.0.0.1", server.port), timeout=60) as stream:
                head = f"GET /api/v1/events?topic=stats HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
                stream.sendall(head.encode())
                self.assertIn(b" 200 ", stream.recv(4096))
                while "GET /events " not in state["open_requests"]:
                    server.process.send_signal(signal.SIGUSR1)
                    asked += 1
                    state = server.wait_for("state", asked)
                self.assertRegex(state["open_requests"], r"^(GET /me \S+, )?GET /events \S+$")
            client.close()

    def test_a_request_that_occupies_a_thread_for_long_is_in_the_log(self):
        with Server(EBB, "sqlite", self.path, ["--no-auth", "--no-worker"]) as server:
            client = Client(server, Contract(ROOT))
            other = sqlite3.connect(self.path / "ebb.db", isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            asking = threading.Thread(target=lambda: client("PUT", "/queues/mail", {"concurrency": 1}))
            asking.start()
            age, asked = 0.0, 0
            while age < 1.1:
                server.process.send_signal(signal.SIGUSR1)
                asked += 1
                state = server.wait_for("state", asked)["open_requests"]
                found = re.search(r"PUT /queues/\{name\} ([0-9.]+)s", state)
                age = float(found.group(1)) if found else 0.0
            self.assertEqual([entry for entry in server.log if entry.get("event") == "slow_request"], [])
            other.execute("COMMIT")
            other.close()
            asking.join()
            slow = server.wait_for("slow_request")
            self.assertEqual((slow["method"], slow["route"]), ("PUT", "/queues/{name}"))
            self.assertGreaterEqual(int(slow["waited_us"]) + int(slow["worked_us"]), 1_000_000)
            client.close()

    def schema(self):
        return json.loads((ROOT / "schema" / "serve.schema.json").read_text())

    def test_the_schema_has_exactly_the_settings(self):
        """Each with the words of the help; print-config has them all."""
        lines = self.serve("--print-config").splitlines()
        about = dict(line.removeprefix("# ").split(": ", 1) for line in lines)
        declared = {"webhooks", "hooks", "queues", "retention"}
        properties = self.schema()["properties"]
        self.assertEqual(set(properties) - declared, set(about))
        for key, text in about.items():
            self.assertEqual(properties[key]["description"], text, key)
        for key in declared:
            self.serve("--check", "--config", self.write(f"{key}: {{}}\n"))

    def test_the_schema_and_the_reader_agree(self):
        jsonschema.Draft7Validator.check_schema(self.schema())
        validator = jsonschema.Draft7Validator(self.schema())
        (self.path / "secret").write_text("whsec_" + "A" * 43 + "=\n")
        (self.path / "secret").chmod(0o600)
        files = {
            "proxy_secret_file": "behind_proxy: 127.0.0.1\nproxy_secret_file: secret",
            "oidc_client_secret_file": (
                "public_url: https://ebb.example.com\noidc_issuer: https://login.example.com\n"
                "oidc_client_id: ebb\noidc_client_secret_file: secret"
            ),
        }
        good = [
            "db: sqlite:x.db\ndb_read: sqlite:x.db\nmigrate: check\nno_wait: true",
            "listen: 127.0.0.1:0", "listen: ['127.0.0.1:0', '[::1]:0']", "listen: []",
            "threads: 3\nrequests_per_second: 0\nmax_connections: 100000", "title: 7\nid: true",
            "drain_timeout: 1h30m", "drain_timeout: 0", "drain_timeout: 1.5s", "audit_retention: P30D",
            "allowed_hosts: [a.example, b.example]\nbehind_proxy: 10.0.0.0/8",
            "no_worker: true\nno_auth: false\nverbose: true\nallow_exec: true\npublic_metrics: true",
            "links: ['Logs=https://logs.example.com/?q=${instance.id}']", *files.values(),
            "webhooks_allow_private: true", "webhooks_allow_private: false", "webhooks_allow_private: []",
            "webhooks_allow_private: 10.1.0.0/16",
            "webhooks_allow_private: [10.1.0.0/16, 192.168.7.9, 'fd00::/8', '::1']",
            "webhooks:\n  ops: {url: 'https://x.example', events: [instance.*], payload: true}",
            "webhooks:\n  ops: {url: 'https://x.example', secret: {file: secret}, enabled: null, where: ''}",
            "hooks: {a: {scheme: hmac, workflow: w, header: X-S, secret: {env: EBB_HOOK_A}}}",
            "hooks: {a: {scheme: github, workflow: w, signal: s, key: '${ body.id }', when: null,"
            " input: 1, secret: {env: EBB_HOOK_A}}}",
            "queues:\n  q: {concurrency: 3, concurrency_per_key: null, rate: {starts: 1, period: 1m}}",
            "queues: {q: {}, r: {rate: null}}", "retention: {w: {completed: 30d, failed: forever}, v: {}}",
        ]
        bad = [
            "listne: x", "check: true", "config: x", "demo: true", "dev: true", "title: {a: b}", "title: [a]",
            "threads: many", "threads: 0", "threads: 4097", "requests_per_second: -1", "max_connections: 0",
            "webhooks_allow_private: perhaps", "webhooks_allow_private: [true, 10.1.0.0/16]",
            "webhooks_allow_private: [10.1.0/16]", "webhooks_allow_private: {a: b}",
            "webhooks_allow_private: 7",
            "no_worker: perhaps", "drain_timeout: soon", "drain_timeout: 1s1h", "drain_timeout: 1x",
            "audit_retention: ''", "listen: {a: b}", "migrate: never", "- listen",
            "webhooks: [ops]", "webhooks: {ops: x}", "webhooks: {ops: {}}",
            "webhooks: {'a b': {url: 'https://x.example'}}",
            "webhooks:\n  ops: {url: 'https://x.example', urll: x}",
            "webhooks:\n  ops: {url: 'https://x.example', format: fax}",
            "webhooks:\n  ops: {url: 'https://x.example', secret: whsec_x}",
            "webhooks:\n  ops: {url: 'https://x.example', enabled: 1}",
            "hooks: {a: {scheme: token, secret: {env: EBB_HOOK_A}}}",
            "hooks: {a: {scheme: fax, workflow: w, secret: {env: EBB_HOOK_A}}}",
            "hooks: {a: {scheme: token, workflow: w, secret: abcdefghijklmnop}}",
            "hooks: {a: {scheme: token, workflow: w, limit: 3, secret: {env: EBB_HOOK_A}}}",
            "hooks: {a: {scheme: token, workflow: w}}",
            "queues: {q: {concurrency: -1}}", "queues: {q: {rate: {starts: 1}}}",
            "queues: {q: {parallel: 1}}",
            "queues: {q: {rate: {starts: 0, period: 1m}}}", "queues: {q: {rate: {starts: 1, period: soon}}}",
            "retention: {w: {completed: soon}}", "retention: {w: {cancelled: 1d}}", "retention: {w: 30d}",
        ]
        for text, code in [*((text, 0) for text in good), *((text, 2) for text in bad)]:
            with self.subTest(text):
                errors = [error.message for error in validator.iter_errors(yaml.safe_load(text))]
                self.assertEqual(bool(errors), code != 0, errors)
                self.serve("--check", "--config", self.write(text + "\n"), code=code)

    def test_what_print_config_prints_can_be_read_and_fits_the_schema(self):
        text = (
            "listen: ['127.0.0.1:0', '[::1]:0']\nthreads: 3\nno_worker: true\nno_auth: false\ntitle: 'a: b'\n"
            "drain_timeout: 5s\nallowed_hosts: [a.example, b.example]\nredact_names: one\n"
            "queues: {mail: {concurrency: 3}}\n"
        )
        printed = self.serve("--print-config", "--config", self.write(text))
        jsonschema.Draft7Validator(self.schema()).validate(yaml.safe_load(printed))
        again = self.serve("--print-config", "--config", self.write(printed, "printed.yaml"))
        self.assertEqual(yaml.safe_load(again), yaml.safe_load(printed))
        wanted = yaml.safe_load(text)
        self.assertEqual(
            {key: value for key, value in yaml.safe_load(printed).items() if key in wanted},
            {**wanted, "redact_names": ["one"]},
        )


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
