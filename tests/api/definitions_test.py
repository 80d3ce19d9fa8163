#!/usr/bin/env python3
"""`ebb serve --definitions`: its files change while the server runs: definitions_test.py ROOT EBB STORE

No case waits for a time: each waits for what the server logs, or for the end of an instance.
"""

import os
import pathlib
import re
import subprocess
import sys
import unittest

from contract import Contract
from world import Client, Folder, Server, log_in

ROOT, EBB, STORE = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
UNPRIVILEGED = 65534


def workflow(name, version=1, step="greet", output="one"):
    """A workflow whose output tells which handler ran."""
    return (
        f"workflow: {name}\nversion: {version}\nsteps: [{step}]\n"
        f"handlers:\n  {step}: {{exec: [echo, '\"{output}\"']}}\n"
    )


class Definitions(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        self.files = self.path / "workflows"
        self.files.mkdir()

    def serve(self, **options):
        arguments = ["--definitions", "workflows", *options.pop("arguments", [])]
        server = Server(EBB, options.pop("store", STORE), self.path, arguments=arguments, **options)
        self.addCleanup(server.stop)
        self.client = log_in(server, Contract(ROOT))
        self.addCleanup(self.client.close)
        return server

    def put(self, name, text):
        """As an editor or a deployment does: the new file takes the place of the old one at once."""
        fresh = self.files / f".{name}.new"
        fresh.write_text(text)
        fresh.rename(self.files / name)

    def output(self, name, **start):
        answer = self.client.post("/instances", {"workflow": name, **start}, wait="60s")
        self.assertEqual(answer.status, 201, answer.body)
        shown = self.client.get(f"/instances/{answer.json()['id']}").json()
        self.assertEqual(shown["status"], "completed", shown)
        return shown["output"]

    def states(self):
        answer = self.client.get("/admin/definitions").json()
        self.assertTrue(answer["has_folder"])
        return {item["file"]: item["state"] for item in answer["items"]}

    def test_serves_what_is_there_and_what_comes(self):
        self.put("order.yaml", workflow("order"))
        (self.files / "notes.txt").write_text("not a workflow")
        (self.files / ".hidden.yaml").write_text("not: looked at")
        server = self.serve()
        self.assertEqual(self.output("order"), "one")
        # A new version with another program under the same handler's name.
        self.put("order.yaml", workflow("order", 2, output="two"))
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.output("order"), "two")
        self.assertEqual(self.output("order", version=1), "one")
        # Another workflow, with a handler that this server did not have.
        self.put("letter.json", '{"workflow": "letter", "steps": ["write"], '
                 '"handlers": {"write": {"exec": ["echo", "3"]}}}')
        server.wait_for("definition_registered", 3)
        self.assertEqual(self.output("letter"), 3)
        # And one that shares its name with that one.
        self.put("memo.yaml", workflow("memo", step="write", output="four"))
        server.wait_for("definition_registered", 4)
        self.assertEqual(self.output("memo"), "four")
        self.put("third.yaml", workflow("third", step="read", output="five"))
        server.wait_for("definition_registered", 5)
        self.assertEqual(self.output("third"), "five")
        self.assertEqual(self.output("letter"), 3)
        registered = {"order.yaml", "letter.json", "memo.yaml", "third.yaml"}
        self.assertEqual(self.states(), dict.fromkeys(registered, "registered"))
        self.assertEqual(server.stop(), 0)

    def test_a_broken_file_is_reported_with_its_place_and_changes_nothing(self):
        self.put("order.yaml", workflow("order"))
        server = self.serve()
        self.put("order.yaml", "workflow: order\nversion: 2\nsteps: [greet]\nstepps: []\n")
        entry = server.wait_for("definition_invalid")
        self.assertEqual((entry["file"], entry["line"], entry["column"]), ("order.yaml", "4", "1"))
        self.assertEqual(self.output("order"), "one")
        report = self.client.get("/admin/definitions").json()["items"][0]
        self.assertEqual((report["state"], report["problems"][0]["line"]), ("invalid", 4))
        self.assertEqual(self.client.raw("GET", "/readyz").status, 200)
        metrics = self.client.raw("GET", "/metrics")
        if metrics.headers["content-type"].startswith("text/plain"):
            self.assertIn('ebb_definitions{state="invalid"} 1\n', metrics.body)
        self.put("order.yaml", workflow("order", 2, output="repaired"))
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.output("order"), "repaired")

    def test_other_content_under_a_known_version_is_refused(self):
        self.put("order.yaml", workflow("order"))
        server = self.serve()
        self.put("order.yaml", workflow("order", output="changed"))
        entry = server.wait_for("definition_refused")
        self.assertIn("as version 2", entry["error"])
        self.assertEqual(self.output("order"), "one")
        self.assertEqual(self.states(), {"order.yaml": "refused"})

    def test_what_the_database_knows_in_other_words_is_refused_at_the_start_too(self):
        if STORE == "memory":
            return
        self.put("order.yaml", workflow("order"))
        server = self.serve()
        self.assertEqual(server.stop(), 0)
        self.put("order.yaml", workflow("order", output="changed"))
        server = self.serve(arguments=["--allow-exec"])
        self.assertEqual(self.states(), {"order.yaml": "refused"})
        self.assertEqual(self.output("order"), "one", "that of the database, not that of the file")

    def test_a_deleted_and_a_renamed_file_leave_what_they_registered(self):
        self.put("order.yaml", workflow("order"))
        server = self.serve()
        (self.files / "order.yaml").rename(self.files / "renamed.yaml")
        server.wait_for("definition_gone")
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.states(), {"order.yaml": "gone", "renamed.yaml": "registered"})
        (self.files / "renamed.yaml").unlink()
        server.wait_for("definition_gone", 2)
        self.assertEqual(self.output("order"), "one")
        self.put("order.yaml", workflow("order"))
        server.wait_for("definition_registered", 3)
        self.assertEqual(self.states()["order.yaml"], "registered")

    def test_follows_the_links_of_a_config_map(self):
        def publish(number, text):
            folder = self.files / f"..2026_{number}"
            folder.mkdir()
            (folder / "order.yaml").write_text(text)
            link = self.files / "..data_tmp"
            link.symlink_to(folder.name)
            link.rename(self.files / "..data")

        publish(1, workflow("order"))
        (self.files / "order.yaml").symlink_to("..data/order.yaml")
        server = self.serve()
        self.assertEqual(self.output("order"), "one")
        publish(2, workflow("order", 2, output="two"))
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.output("order"), "two")

    def test_files_that_cannot_be_read_are_reported_until_they_can(self):
        self.put("order.yaml", workflow("order"))
        server = self.serve()
        (self.files / "order.yaml").unlink()
        (self.files / "order.yaml").symlink_to("nowhere.yaml")
        entry = server.wait_for("workflow_unreadable")
        self.assertIn("does not exist", entry["error"])
        (self.files / "folder.yaml").mkdir()
        os.mkfifo(self.files / "pipe.yaml")
        server.wait_for("workflow_unreadable", 3)
        self.assertEqual(set(self.states().values()), {"unreadable"})
        self.assertEqual(self.output("order"), "one")
        self.put("order.yaml", workflow("order", 2, output="two"))
        server.wait_for("definition_registered", 2)
        self.assertEqual(self.output("order"), "two")

    def test_lost_permissions_are_reported(self):
        self.put("order.yaml", workflow("order"))
        user = {}
        if os.geteuid() == 0:
            # The superuser may read everything.
            user = {"user": UNPRIVILEGED}
            for folder in (self.path, self.files):
                os.chown(folder, UNPRIVILEGED, -1)
            os.chown(self.files / "order.yaml", UNPRIVILEGED, -1)
            probe = subprocess.run([EBB, "version"], user=UNPRIVILEGED, capture_output=True, check=False)
            if probe.returncode != 0:
                self.skipTest("another user may not run the command")
        server = self.serve(store="memory", **user)
        (self.files / "order.yaml").chmod(0)
        entry = server.wait_for("workflow_unreadable")
        self.assertIn("Permission denied", entry["error"])
        (self.files / "order.yaml").chmod(0o600)
        server.wait_for("definition_registered", 2)
        self.files.chmod(0)
        self.addCleanup(self.files.chmod, 0o700)
        self.assertIn("Permission denied", server.wait_for("definitions_unreadable")["error"])
        self.assertEqual(self.states(), {"order.yaml": "registered"})
        self.files.chmod(0o700)
        self.put("other.yaml", workflow("other", output="two"))
        server.wait_for("definition_registered", 3)
        self.assertEqual(self.output("other"), "two")

    def test_a_server_without_a_worker_registers_and_runs_nothing(self):
        server = self.serve(arguments=["--no-worker"])
        self.put("order.yaml", workflow("order"))
        server.wait_for("definition_registered")
        started = self.client.post("/instances", {"workflow": "order"})
        self.assertEqual(started.status, 201)
        unserved = self.client.get("/unserved").json()["items"]
        self.assertEqual([item["handler"] for item in unserved], ["greet"])
        self.assertEqual(server.stop(), 0)

    def test_the_folder_must_be_there_and_a_check_finds_what_is_broken(self):
        def check(*arguments):
            return subprocess.run(
                [EBB, "serve", "--check", *arguments], cwd=self.path, capture_output=True, text=True,
                check=False, timeout=120, env={**os.environ, "EBB_DB": ""},
            )

        self.put("order.yaml", workflow("order"))
        self.assertEqual(check("--definitions", "workflows").returncode, 0)
        missing = check("--definitions", "nowhere")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("nowhere", missing.stderr)
        self.put("broken.yaml", "workflow: x\nstepps: []\n")
        broken = check("--definitions", "workflows")
        self.assertEqual(broken.returncode, 2)
        self.assertIn("broken.yaml:2", broken.stderr)
        both = check("--demo", "--definitions", "workflows")
        self.assertEqual(both.returncode, 2)
        # The server itself starts, and serves what is valid.
        server = self.serve()
        self.assertEqual(self.states(), {"broken.yaml": "invalid", "order.yaml": "registered"})
        self.assertEqual(self.output("order"), "one")
        self.assertEqual(server.stop(), 0)

    def test_only_administrators_see_the_files(self):
        self.serve()
        token = self.client("PUT", "/tokens/look", {"role": "operator"}).json()["token"]
        looking = Client(self.client.server, self.client.contract, token=token)
        self.assertEqual(looking.get("/admin/definitions").status, 403)
        looking.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=1)
