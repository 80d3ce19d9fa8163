#!/usr/bin/env python3
"""The clients install as packages, and their examples run from an empty folder:
packages_test.py REPOSITORY EBB python | packages_test.py REPOSITORY EBB typescript TSC NPM NODE"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT, EBB, LANGUAGE = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
sys.path.insert(0, str(ROOT / "tests" / "api"))

from world import Folder, Server  # noqa: E402

SERVER = ["--no-auth"]


def run(command, folder, **environment):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


class Packages(unittest.TestCase):
    def setUp(self):
        holder = Folder()
        self.folder = pathlib.Path(holder.__enter__())
        self.addCleanup(holder.__exit__)
        # A copy, because building a package leaves files behind.
        self.source = self.folder / "source"
        ignored = shutil.ignore_patterns("dist", "build", "*.egg-info", "__pycache__", "node_modules")
        shutil.copytree(ROOT / "clients" / LANGUAGE, self.source, ignore=ignored)
        self.empty = self.folder / "empty"
        self.empty.mkdir()

    def serve(self):
        server = Server(EBB, "memory", self.folder, SERVER, [str(self.source / "examples" / "greet.yaml")])
        self.addCleanup(server.stop)
        return f"http://127.0.0.1:{server.port}"

    def test_the_readme_needs_no_other_file(self):
        readme = (self.source / "README.md").read_text()
        self.assertNotRegex(readme, r"\]\((?!https://)")
        for example in ("greet.yaml", "greet.py" if LANGUAGE == "python" else "greet.mjs"):
            self.assertIn(f"examples/{example}", readme)

    @unittest.skipIf(LANGUAGE != "python", "another language")
    def test_python(self):
        # No index: it must not need a network.
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index",
               "--target", str(self.folder / "installed"), str(self.source)]
        run(pip, self.empty)
        said = run([sys.executable, str(self.source / "examples" / "greet.py"), self.serve()], self.empty,
                   PYTHONPATH=str(self.folder / "installed"))
        self.assertEqual(said, "{'remembered': 'Hello, worker!'}\n")

    @unittest.skipIf(LANGUAGE != "typescript", "another language")
    def test_typescript(self):
        tsc, npm, node = sys.argv[4:7]
        run([node, tsc, "-p", str(self.source)], self.empty)
        run([npm, "pack", "--silent", str(self.source), "--pack-destination", str(self.folder)], self.empty)
        [package] = self.folder.glob("ebb-client-*.tgz")
        run([npm, "install", "--offline", "--no-audit", "--no-fund", "--silent", str(package)], self.empty)
        example = shutil.copy(self.source / "examples" / "greet.mjs", self.empty)
        said = run([node, example, self.serve()], self.empty)
        self.assertEqual(said, "{ remembered: 'Hello, worker!' }\n")
        # As it is installed with Ebb: the folder itself.
        other = self.folder / "other"
        other.mkdir()
        run([npm, "install", "--offline", "--no-audit", "--no-fund", "--silent", str(self.source)], other)
        said = run([node, "-e", "import('ebb-client').then((ebb) => console.log(typeof ebb.Worker))"], other)
        self.assertEqual(said, "function\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
