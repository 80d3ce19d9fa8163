#!/usr/bin/env python3
"""The hook for pre-commit and the action for GitHub: what they run, with the real command.

EBB_COMMAND names the command.
"""
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = "workflow: order\nsteps: [reserve]\n"
WRONG = "workflow: order\nsteps:\n  - step: reserve\n    timout: 5s\n"
WAITS = "workflow: order\nsteps:\n  - signal: paid\n"
CODE = 'auto f() { return ebb::WorkflowBuilder("w").step("a").step("a").build(); }\n'


class Folder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "ebb").symlink_to(os.environ["EBB_COMMAND"])
        self.environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": holder.name}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_in_folder(self, words, **environment):
        return subprocess.run(words, cwd=self.folder, env={**self.environment, **environment},
            capture_output=True, text=True, check=False)


class Hook(Folder):
    def setUp(self):
        super().setUp()
        (self.hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))

    def commit(self, *names):
        return self.run_in_folder([*shlex.split(self.hook["entry"]), *names])

    def test_passes_what_is_valid_and_what_is_no_workflow(self):
        self.write("good.yaml", GOOD)
        self.write("machine.yaml", "services:\n  web: {image: web}\n")
        self.write("broken.json", "{")
        self.write("main.cpp", "int main() {}\n")
        done = self.commit("good.yaml", "machine.yaml", "broken.json", "main.cpp")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_fails_with_the_place_of_a_problem(self):
        self.write("good.yaml", GOOD)
        self.write("wrong.yaml", WRONG)
        done = self.commit("good.yaml", "wrong.yaml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("wrong.yaml:4:5: error:", done.stderr)
        self.write("code.cpp", CODE)
        done = self.commit("code.cpp")
        self.assertEqual(done.returncode, 2)
        self.assertIn("code.cpp:1:", done.stderr)

    def test_is_asked_about_every_kind_of_file_with_workflows(self):
        self.assertEqual(self.hook["types_or"], ["yaml", "json", "c++"])
        self.assertEqual(self.hook["language"], "system")


class Action(Folder):
    def setUp(self):
        super().setUp()
        self.action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))

    def act(self, step=0, **given):
        """Runs a step of the action as a runner does: each input becomes a part of the environment."""
        inputs = {name: about["default"] for name, about in self.action["inputs"].items()} | given
        step = self.action["runs"]["steps"][step]
        self.assertEqual(step["shell"], "bash")
        environment = {}
        for name, value in step["env"].items():
            key = value.removeprefix("${{ inputs.").removesuffix(" }}")
            environment[name] = inputs[key]
        environment["GITHUB_STEP_SUMMARY"] = str(self.folder / "summary.md")
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return self.run_in_folder(words, **environment)

    def test_annotates_the_lines_of_a_pull_request(self):
        self.write("flows/wrong.yaml", WRONG)
        self.write("flows/good.yaml", GOOD)
        done = self.act(files="flows")
        self.assertEqual(done.returncode, 2)
        self.assertIn("::error file=flows/wrong.yaml,line=4,", done.stdout)
        self.assertNotIn("good.yaml", done.stdout)

    def test_reports_warnings_if_asked_to(self):
        self.write("waits.yaml", WAITS)
        self.assertEqual((self.act().returncode, self.act().stdout), (0, ""))
        done = self.act(lint="true")
        self.assertEqual(done.returncode, 0)
        self.assertIn("::warning file=waits.yaml,line=3,", done.stdout)

    def test_takes_hostile_names_as_names(self):
        self.write("a b/$(touch evil).yaml", WRONG)
        done = self.act(files="a b/$(touch evil).yaml\n")
        self.assertEqual(done.returncode, 2)
        self.assertIn("::error file=a b/$(touch evil).yaml,line=4,", done.stdout)
        self.assertFalse((self.folder / "evil").exists())

    def git(self, *words):
        people = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
        names = {f"GIT_{person}": "a@example.com" for person in people}
        done = self.run_in_folder(["git", *words], GIT_CONFIG_GLOBAL="/dev/null", **names)
        self.assertEqual(done.returncode, 0, done.stderr)

    def commit_all(self):
        self.git("add", ".")
        self.git("commit", "-qm", "x")

    def test_shows_how_workflows_differ_from_the_base(self):
        self.git("init", "-qb", "main")
        self.write("flows/order.yaml", GOOD)
        self.write("flows/$(touch evil).yml", GOOD)
        self.write("same.yaml", GOOD)
        self.write("machine.yaml", "services: {}\n")
        self.commit_all()
        self.git("checkout", "-qb", "change")
        self.write("flows/order.yaml", GOOD.replace("[reserve]", "[reserve, charge]"))
        self.write("flows/$(touch evil).yml", GOOD.replace("[reserve]", "[pack]"))
        self.write("machine.yaml", "services: {web: {}}\n")
        self.commit_all()
        done = self.act(step=1, **{"diff-base": "main"})
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        summary = (self.folder / "summary.md").read_text("utf-8")
        self.assertEqual(summary.count("### "), 2, summary)
        self.assertIn("| + | `charge` | step | added |", summary)
        self.assertIn("| + | `pack` | step | added |", summary)
        self.assertIn("give the changed workflow a new version", summary)
        self.assertIn("```mermaid\n", summary)
        self.assertFalse((self.folder / "evil").exists())
        self.assertEqual(self.act(step=1, **{"diff-base": "none"}).returncode, 128)
        self.assertIn("diff-base != ''", self.action["runs"]["steps"][1]["if"])


if __name__ == "__main__":
    unittest.main()
