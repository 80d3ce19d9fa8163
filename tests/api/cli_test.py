#!/usr/bin/env python3
"""`ebb --server URL COMMAND` says the same as `ebb --db DATABASE COMMAND`: cli_test.py REPOSITORY EBB STORE

A real server and a real command over one database. Every looking command runs both ways and must print
the same; every act goes over the server, and the database shows what has become of it.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import time
import unittest

from world import RULES, WORKFLOW, Folder, Server, database

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]


class CommandOverTheApi(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = Folder()
        cls.path = pathlib.Path(folder.__enter__())
        cls.addClassCleanup(folder.__exit__)
        cls.file = cls.path / "order.yaml"
        cls.file.write_text(WORKFLOW.replace("    roles: [boss]\n", ""))
        cls.db = database(STORE, cls.path)
        socket = cls.path / "ebb.sock"
        cls.server = Server(
            EBB, STORE, cls.path,
            ["--listen", f"unix:{socket}", "--requests-per-second", "0", "--allow-exec"],
            [str(cls.file)],
        )
        cls.addClassCleanup(cls.server.stop)
        cls.url = f"http://127.0.0.1:{cls.server.port}"
        cls.unix = f"unix:{socket}"
        made = cls.run_ebb(["--db", cls.db, "token", "create", "ci", "--role", "admin", "--json"])
        cls.token = json.loads(made.stdout)["token"]

    @classmethod
    def run_ebb(cls, arguments, environment=(), given=""):
        return subprocess.run(
            [EBB, *arguments], input=given, capture_output=True, text=True, timeout=120, check=False,
            cwd=cls.path, env={"PATH": os.environ["PATH"], "USER": "ann", **dict(environment)},
        )

    def over(self, *arguments, given="", **environment):
        """Over the server, with the token."""
        return self.run_ebb(
            ["--server", self.url, *arguments], {"EBB_TOKEN": self.token, **environment}, given
        )

    def direct(self, *arguments):
        return self.run_ebb(["--db", self.db, *arguments])

    def fine(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def hints(self, text):
        """As they are over the server."""
        return text.replace(f" --db {shlex.quote(self.db)}", f" --server {self.url}")

    def same(self, *arguments):
        """What both ways print."""
        over, direct = self.over(*arguments), self.direct(*arguments)
        self.assertEqual(
            (over.returncode, over.stdout, over.stderr),
            (direct.returncode, self.hints(direct.stdout), self.hints(direct.stderr)),
            arguments,
        )
        return over.stdout

    def start(self, *arguments):
        return self.fine(self.over("start", "order", *arguments)).strip()

    def until(self, instance, kind):
        """Waits until the instance waits for something of this kind."""
        while True:
            view = json.loads(self.fine(self.direct("show", instance, "--json")))
            if any(wait["kind"] == kind for wait in view["waiting_for"]):
                return view
            self.assertEqual(view["finished_at"], None, view)

    def finish(self, instance):
        self.until(instance, "decision")
        self.fine(self.over("decide", instance, "confirm", "--comment", "fine"))
        self.until(instance, "signal")
        self.fine(self.over("signal", instance, "paid", "--payload", '{"sum": 1.50}'))
        self.assertEqual(self.fine(self.over("wait", instance)), "completed\n")

    def test_shows_the_same(self):
        done = self.start("--input", '{"amount": 1.10, "note": "\\u00fc"}', "--key", "same-1")
        self.finish(done)
        waiting = self.start("--input", "0", "--priority", "5")
        self.until(waiting, "decision")
        ended = self.start("--input", "1")
        self.fine(self.over("cancel", ended, "--reason", "ordered twice"))
        self.direct("wait", ended)
        for instance in (done, waiting, ended, "key:order/same-1"):
            for command in ("show", "history"):
                self.same(command, instance, "--times", "utc")
                self.same(command, instance, "--json")
            self.same("show", instance, "--times", "utc", "--payloads", "--all")
            self.same("history", instance, "--times", "utc", "--payloads", "--after", "1", "-n", "3")
            self.same("why", instance)
            self.same("result", instance)
            self.same("diagram", instance)
        self.same("show", done, waiting, "--json")
        self.same("wait", done, "--json")
        lists = [
            [], ["-s", "waiting"], ["--waiting", "decision"], ["--status", "completed,cancelled"],
            ["--workflow", "order", "--version", "1"], ["--key", "same-1"], ["--before", done],
            ["--handler", "charge"], ["--error", "twice"], ["-n", "1"], ["--after", done],
            ["--sort", "created"], ["--sort", "created", "-n", "1"], ["--sort", "created", "--since", "1h"],
            ["--sort", "created", "--where", "version == 1", "-n", "2"],
        ]
        for options in lists:
            self.same("list", *options, "--times", "utc")
            self.same("list", *options, "-o", "json")
            self.same("list", *options, "--ids")
        self.same("stats")
        self.same("stats", "--json")
        self.same_activity()
        self.same("workflows", "--json")
        self.same("workflows", "-o", "name")
        workers = json.loads(self.fine(self.over("workers", "--json")))
        self.assertEqual(len(workers["workers"]), 1)

    def same_activity(self):
        def total(activity):
            return [activity["workflows"], activity["all"]["total"], activity["step"], activity["complete"]]

        options = ["stats", "--activity", "--window", "1h", "--step", "5m"]
        direct = json.loads(self.fine(self.direct(*options, "--json")))
        self.assertEqual(direct["workflows"][0]["workflow"], "order")
        # The server may leave the database alone for two seconds.
        end = time.monotonic() + 30
        while total(over := json.loads(self.fine(self.over(*options, "--json")))) != total(direct):
            self.assertLess(time.monotonic(), end, over)
        self.assertIn("WORKFLOW  STARTED", self.fine(self.over(*options)))
        for wrong in (["--step", "7m"], ["--workflow", "none"]):
            for way in (self.direct, self.over):
                outcome = way("stats", "--activity", *wrong)
                self.assertNotEqual(outcome.returncode, 0, outcome.stdout)

    def test_finds_counts_and_steers_by_a_filter(self):
        for customer in ("acme", "acme", "bolt"):
            self.fine(self.over("start", "order", "--input", "1", "--label", f"customer={customer}"))
        where = ["--where", 'labels.customer == "acme"']
        for options in (["-n", "1"], ["-s", "running"], []):
            self.same("list", *where, *options, "-o", "json")
        self.same("count", *where, "--by", "workflow")
        self.same("count", "--where", "labels.a == labels.b")
        dry = json.loads(self.fine(self.over("cancel", *where, "--dry-run", "--json")))
        self.assertEqual(dry["matched"], 2)
        self.assertEqual(self.over("cancel", *where).returncode, 2)
        done = json.loads(self.fine(self.over("cancel", *where, "--yes", "--json")))
        self.assertEqual((done["done"], done["is_complete"]), (2, True))

    def test_reruns_what_a_filter_finds_once(self):
        for customer in ("rerun", "rerun"):
            self.fine(self.over("start", "order", "--input", "1.50", "--label", f"customer={customer}"))
        where = ["--where", 'labels.customer == "rerun"']
        left = json.loads(self.fine(self.over("rerun", *where, "--yes", "--json")))
        self.assertEqual((left["done"], left["skipped"]), (0, 2))
        self.assertIn("It is running.", left["reasons"][0])
        self.fine(self.direct("abort", *where, "--yes"))
        self.assertIn("--dry-run", self.over("rerun", *where).stderr)
        old = json.loads(self.same("list", *where, "-o", "json"))
        over = json.loads(self.fine(self.over("rerun", *where, "--yes", "--limit", "1", "--json")))
        direct = json.loads(self.fine(self.direct("rerun", *where, "--yes", "--json")))
        self.assertEqual((over["done"], direct["done"], direct["unchanged"]), (1, 1, 1))
        for each in old:
            new = json.loads(self.fine(self.direct("show", f"key:order/rerun:{each['id']}", "--json")))
            labels = {"customer": "rerun", "ebb.rerun_of": each["id"]}
            self.assertEqual((new["labels"], new["input"]), (labels, 1.5))
        for run in (self.over, self.direct):
            for option in (["--input", "1"], ["--key", "k"], ["--version", "1"], ["--wait"]):
                self.assertIn("--where", self.usage(run("rerun", *where, "--yes", *option)), option)
            self.assertIn("--where FILTER", self.usage(run("rerun")))
        # One of them, with its labels and as often as asked.
        for run in (self.over, self.direct):
            new = self.fine(run("rerun", old[0]["id"])).strip()
            shown = json.loads(self.fine(self.direct("show", new, "--json")))
            self.assertEqual(shown["labels"], {"customer": "rerun", "ebb.rerun_of": old[0]["id"]})
        self.fine(self.direct("abort", *where, "--yes"))
        job = self.detached(self.over, "rerun", *where)
        self.assertEqual((job["action"], job["by"]), ("rerun", "token:ci"))

    def usage(self, done):
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        return done.stderr

    def detached(self, run, *arguments):
        """The bulk operation, once it has ended."""
        started = json.loads(self.fine(run(*arguments, "--yes", "--detach", "--json")))
        self.assertEqual(self.fine(self.over("wait", started["id"])), "completed\n")
        [event] = json.loads(self.fine(self.direct("history", started["id"], "-n", "1", "--json")))
        return event["payload"]

    def test_leaves_a_bulk_operation_to_the_server(self):
        ids = [self.start("--label", "tenant=detached") for _ in range(3)]
        for instance in ids:
            self.until(instance, "decision")
        where = ["--where", 'labels.tenant == "detached"']

        def statuses():
            return {json.loads(self.fine(self.direct("show", each, "--json")))["status"] for each in ids}

        job = self.detached(self.over, "pause", *where, "--reason", "look", "--rate", "100/1s")
        self.assertEqual((job["by"], job["reason"], job["rate"]), ("token:ci", "look", "100/1s"))
        self.assertEqual(statuses(), {"paused"})
        # A server of the database does what a command on the database leaves to it.
        job = self.detached(self.direct, "resume", *where, "--by", "bob")
        self.assertEqual(job["by"], "bob")
        self.assertEqual(statuses(), {"running"})
        printed = self.over("pause", *where, "--yes", "--detach")
        self.assertRegex(self.fine(printed), r"^[0-9a-f-]{36}\n$")
        self.assertIn(f"ebb wait {printed.stdout.strip()}", printed.stderr)
        self.fine(self.over("wait", printed.stdout.strip()))
        # An abort tells the server how many it has seen.
        self.detached(self.over, "abort", *where)
        self.assertEqual(statuses(), {"aborted"})

    def test_says_what_cannot_be_left_to_the_server(self):
        where = ["--where", "true"]
        for run in (self.over, self.direct):
            for arguments, why in (
                (["cancel", *where, "--detach"], "--dry-run"),
                (["cancel", *where, "--detach", "--yes", "--limit", "1"], "--limit"),
                (["cancel", *where, "--detach", "--dry-run"], "--dry-run"),
                (["cancel", self.file.name, "--detach"], "--where"),
                (["cancel", *where, "--detach", "--yes", "--rate", "fast"], "100/1s"),
                (["rematch", *where, "--detach", "--yes"], "cancel, abort, pause, resume, requeue, rerun"),
                (["requeue", *where, "--detach", "--yes", "--input", "1"], "--input"),
                (["requeue", *where, "--detach", "--yes", "--skip-compensation"], "--skip-compensation"),
            ):
                refused = run(*arguments)
                self.assertEqual(refused.returncode, 2, (arguments, refused.stderr))
                self.assertIn(why, refused.stderr, arguments)
        self.same("cancel", "--where", "status == ", "--detach", "--yes")

    def test_rematches_what_a_filter_finds(self):
        (self.path / "loan.yaml").write_text(RULES)
        for customer in ("ann", "bob"):
            self.fine(self.over("start", "loan.yaml", "--input", '{"amount": 5}', "--label", f"c={customer}"))
        where = ["--where", 'workflow == "loan" && labels.c == "bob"']
        for run in (self.over, self.direct):
            done = json.loads(self.fine(run("rematch", *where, "--yes", "--json")))
            self.assertEqual((done["done"] + done["unchanged"], done["skipped"]), (1, 0))

    def test_says_the_same_about_what_is_not_there(self):
        for arguments in (
            ["show", "019e2b6c-5a10-7c3e-9f00-3d5f8a1b2c4d"], ["show", "key:order/none"], ["why", "zz"],
            ["list", "--workflow", "none"], ["start", "none"], ["queue", "show", "none"],
        ):
            self.same(*arguments)

    def test_acts_and_the_history_names_the_owner_of_the_token(self):
        instance = self.start()
        view = self.until(instance, "decision")
        self.fine(self.over("pause", instance, "--reason", "look"))
        self.assertIn("Resumed", self.over("resume", instance).stderr)
        self.assertIn("nothing to resume", self.over("resume", instance).stderr)
        self.assertIn("nothing to requeue", self.over("requeue", instance).stderr)
        stale = self.over("cancel", instance, "--if-revision", str(view["revision"]))
        self.assertEqual(stale.returncode, 4, stale.stderr)
        self.assertIn("as expected", stale.stderr)
        now = json.loads(self.fine(self.direct("show", instance, "--json")))["revision"]
        self.fine(self.over("abort", instance, "--if-revision", str(now)))
        events = json.loads(self.fine(self.direct("history", instance, "--json")))
        self.assertEqual(next(e["payload"]["by"] for e in events if e["type"] == "paused"), "token:ci")
        named = self.over("pause", self.start(), "--by", "bob")
        self.assertEqual(named.returncode, 2)
        self.assertIn("the owner of the token", named.stderr)

    def test_starts_a_key_once_and_reruns(self):
        first = self.start("--key", "once", "--input", "[1]")
        again = self.over("start", "order", "--key", "once", "--input", "[2]")
        self.assertEqual(again.stdout.strip(), first)
        self.assertIn("another input", again.stderr)
        for run in (self.over, self.direct):
            refused = run("rerun", first)
            self.assertEqual(refused.returncode, 4, refused.stderr)
            self.assertIn("It is running. Only an instance that has ended is rerun.", refused.stderr)
        self.fine(self.over("abort", first))
        self.assertNotEqual(self.fine(self.over("rerun", first)).strip(), first)

    def test_what_is_not_there_is_the_same_error_as_on_the_database(self):
        absences = (("webhook", "ping", "nope"), ("webhook", "show", "nope"), ("hook", "delete", "nope"))
        for arguments in absences:
            for run in (self.over, self.direct):
                absent = run(*arguments)
                self.assertEqual(absent.returncode, 2, absent.stderr)
                self.assertIn("invalid_argument", absent.stderr)

    def test_finds_a_server_below_a_base_path(self):
        with Folder() as folder:
            socket = f"{folder}/ebb.sock"
            options = ["--no-auth", "--base-path", "/ebb", "--listen", f"unix:{socket}"]
            with Server(EBB, "memory", folder, options) as server:
                for address in (f"unix:{socket}:/ebb", f"http://127.0.0.1:{server.port}/ebb/"):
                    self.fine(self.run_ebb(["--server", address, "list"]))
                for address in (f"unix:{socket}", f"http://127.0.0.1:{server.port}"):
                    lost = self.run_ebb(["--server", address, "list"])
                    self.assertEqual(lost.returncode, 2, lost.stderr)
                    self.assertIn("--base-path", lost.stderr)
                page = self.run_ebb(["--server", f"http://127.0.0.1:{server.port}/ebb/ebb", "list"])
                self.assertEqual(page.returncode, 2, page.stderr)
                self.assertIn("is not the API", page.stderr)

    def test_hints_are_about_what_was_refused(self):
        refused = self.over("list", EBB_TOKEN="wrong")
        self.assertIn("EBB_TOKEN", refused.stderr)
        self.assertNotIn("hint:", refused.stderr)
        before = self.run_ebb(["--by", "bob", "cancel", "x"])
        self.assertIn("--by belongs after the command: `ebb cancel --by`.", before.stderr)

    def test_registers_writes_and_sets_limits(self):
        (self.path / "loan.yaml").write_text(RULES)
        instance = self.fine(self.over("start", "loan.yaml", "--input", '{"amount": 5}')).strip()
        self.fine(self.over("write", instance, "paid=true"))
        self.direct("wait", instance)
        shown = json.loads(self.same("show", instance, "--json"))
        self.assertEqual(shown["attributes"], {"amount": 5, "paid": True})
        self.fine(self.over("queue", "set", "slow", "--concurrency", "2", "--rate", "10/1m"))
        limits = json.loads(self.fine(self.direct("queue", "show", "slow", "--json")))
        self.assertEqual((limits["concurrency"], limits["rate"]["starts"]), (2, 10))
        self.fine(self.over("queue", "clear", "slow"))

    def test_lists_what_needs_a_person(self):
        rejected, waiting = self.start("--key", "rejected"), self.start("--key", "waiting")
        for instance in (rejected, waiting):
            self.until(instance, "decision")
        self.fine(self.over("decide", rejected, "reject"))
        self.direct("wait", rejected)
        again = self.over("decide", rejected, "reject")
        self.fine(again)
        self.assertIn("the same person had already rejected", again.stderr)
        awaited = json.loads(self.same("decisions", "--json"))
        self.assertIn(waiting, [decision["instance"] for decision in awaited])
        self.same("decisions", "--role", "boss,clerk", "--json")
        self.same("delayed")
        self.assertEqual(json.loads(self.same("delayed", "--json")), [])
        groups = json.loads(self.same("failures", "--json"))
        group = next(group for group in groups if rejected in group["sample_ids"])["group"]
        listed = json.loads(self.same("failures", "--group", group, "--json"))
        self.assertIn(rejected, [failed["instance"] for failed in listed])
        self.same("requeue", "--group", group, "--json")

    def test_moves_an_instance_out_and_in(self):
        instance = self.start()
        self.until(instance, "decision")
        snapshot = self.fine(self.over("export", instance))
        self.assertEqual(json.loads(self.fine(self.direct("show", instance, "--json")))["status"], "moved")
        self.assertEqual(self.fine(self.over("import", "-", given=snapshot)).strip(), instance)

    def test_finds_the_server_in_the_environment_and_on_a_unix_socket(self):
        token = {"EBB_TOKEN": self.token}
        found = self.run_ebb(["stats", "--json"], {**token, "EBB_SERVER": self.url + "/"})
        self.fine(found)
        self.fine(self.run_ebb(["stats", "--json"], {**token, "EBB_SERVER": self.unix}))
        file = self.path / "token"
        file.write_text(self.token + "\n")
        file.chmod(0o644)
        open_to_all = self.run_ebb(["--server", self.url, "stats"], {"EBB_TOKEN_FILE": str(file)})
        self.assertIn("all users can read", open_to_all.stderr)
        file.chmod(0o600)
        self.fine(self.run_ebb(["--server", self.url, "stats"], {"EBB_TOKEN_FILE": str(file)}))
        # Who names a database means that one.
        named = self.run_ebb(["--db", self.db, "stats"], {"EBB_SERVER": "http://127.0.0.1:1"})
        self.fine(named)

    def test_refuses_what_needs_the_database_itself(self):
        for command in (["doctor"], ["worker"], ["serve"], ["migrate"], ["retention"], ["purge"],
                        ["token", "list"], ["grant", "list"], ["project", "list"], ["audit"], ["session"],
                        ["key", "rotate"], ["run", str(self.file)], ["dev", str(self.file)]):
            done = self.over(*command)
            self.assertEqual(done.returncode, 2, (command, done.stderr))
            self.assertIn("works on the database itself", done.stderr, command)
        both = self.run_ebb(["--server", self.url, "--db", self.db, "list"])
        self.assertEqual(both.returncode, 2, both.stderr)

    def test_a_login_link_leads_to_the_server_of_the_database(self):
        link = ["--db", self.db, "login-link"]
        self.assertRegex(self.fine(self.run_ebb(link)), f"^{self.url}/#login=\\S+\n$")
        named = self.run_ebb(link, {"EBB_SERVER": "https://ebb.example.com"})
        self.assertRegex(self.fine(named), r"^https://ebb\.example\.com/#login=\S+\n$")
        # Two of them end where a browser cannot go.
        for arguments, environment in (([*link, "--url", self.unix], {}), (link, {"EBB_SERVER": self.unix})):
            refused = self.run_ebb(arguments, environment)
            self.assertEqual(refused.returncode, 2, refused.stdout)
            self.assertIn("A browser cannot open", refused.stderr)
        # A server that listens on a Unix socket only, and one that has stopped.
        other = self.path / "other"
        other.mkdir()
        server = subprocess.Popen(
            [EBB, "serve", "--json", "--db", f"sqlite:{other}/ebb.db", "--listen", f"unix:{other}/ebb.sock"],
            stdout=subprocess.PIPE, text=True, cwd=other,
        )
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        while json.loads(server.stdout.readline()).get("event") != "serving":
            pass
        link = ["--db", f"sqlite:{other}/ebb.db", "login-link"]
        self.assertIn("A browser cannot open unix:", self.run_ebb(link).stderr)
        server.terminate()
        self.assertEqual(server.wait(timeout=60), 0)
        self.assertIn("give --url", self.run_ebb(link).stderr)

    def test_revokes_only_tokens_that_exist(self):
        self.fine(self.direct("token", "create", "robot", "--role", "viewer"))
        wrong = self.direct("token", "revoke", "robt")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn('There is no token "robt". Did you mean "robot"?', wrong.stderr)
        self.fine(self.direct("token", "revoke", "robot"))
        self.assertEqual(self.direct("token", "revoke", "robot").returncode, 2)

    def test_says_what_is_wrong_with_the_server_or_the_token(self):
        none = self.run_ebb(["--server", self.url, "list"])
        self.assertEqual(none.returncode, 4, none.stderr)
        self.assertRegex(none.stderr, "^ebb: not_allowed: .*EBB_TOKEN")
        dead = self.run_ebb(["--server", "http://127.0.0.1:1", "list"], {"EBB_TOKEN": self.token})
        self.assertEqual(dead.returncode, 5, dead.stderr)
        self.assertIn("does not answer", dead.stderr)
        for address in ("localhost:8322", "ftp://x", "unix:", "http://ann@x"):
            bad = self.run_ebb(["--server", address, "list"])
            self.assertEqual(bad.returncode, 2, (address, bad.stderr))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
