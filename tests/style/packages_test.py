#!/usr/bin/env python3
"""The npm packages that are used to build: packages_test.py ROOT

Goal: nothing can be exchanged behind our back, and the web UI stays small enough to look at. Method:
reads the lock files; asks no registry.
"""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
UI_DIRECT_MAX = 15
UI_ALL_MAX = 150


def tracked(name):
    """Without what npm has installed."""
    return [path for path in sorted(ROOT.glob("*/**/" + name)) if "node_modules" not in path.parts
            and "build" not in path.relative_to(ROOT).parts]


def packages(lock):
    return {path: entry for path, entry in lock["packages"].items() if path and not entry.get("link")}


class Packages(unittest.TestCase):
    def test_every_package_has_an_exact_version_and_a_hash(self):
        locks = tracked("package-lock.json")
        self.assertIn(ROOT / "ui/package-lock.json", locks)
        for path in locks:
            for name, entry in packages(json.loads(path.read_text())).items():
                with self.subTest(lock=str(path.relative_to(ROOT)), package=name):
                    self.assertRegex(entry["version"], r"^\d+\.\d+\.\d+")
                    self.assertTrue(entry["integrity"].startswith("sha512-"), entry["integrity"])

    def test_no_script_of_a_package_runs_when_it_is_installed(self):
        for path in tracked("package-lock.json"):
            with self.subTest(lock=str(path.relative_to(ROOT))):
                settings = path.with_name(".npmrc")
                is_set = settings.exists() and "ignore-scripts=true" in settings.read_text().splitlines()
                folder = path.parent.relative_to(ROOT)
                calls = [line for line in (ROOT / "dev").read_text().splitlines()
                         if f"cd {folder} && npm ci" in line]
                self.assertTrue(is_set or calls and all("--ignore-scripts" in line for line in calls))

    def test_the_web_ui_needs_few(self):
        lock = json.loads((ROOT / "ui/package-lock.json").read_text())
        direct = {**lock["packages"][""].get("dependencies", {}), **lock["packages"][""]["devDependencies"]}
        self.assertLessEqual(len(direct), UI_DIRECT_MAX)
        self.assertLessEqual(len(packages(lock)), UI_ALL_MAX)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
