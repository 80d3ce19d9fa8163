#!/usr/bin/env python3
"""The units of contrib/systemd: systemd-analyze accepts them, and the command accepts their settings:
systemd_test.py REPOSITORY EBB
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from world import Folder

ROOT, EBB = pathlib.Path(sys.argv[1]), os.path.abspath(sys.argv[2])
UNITS = ROOT / "contrib" / "systemd"
EXPOSURE_MAX = 2.5


class Units(unittest.TestCase):
    def setUp(self):
        folder = Folder()
        self.path = pathlib.Path(folder.__enter__())
        self.addCleanup(folder.__exit__)
        for unit in UNITS.iterdir():
            text = unit.read_text().replace("/usr/bin/ebb", EBB)
            (self.path / unit.name).write_text(text)

    def analyze(self, *arguments):
        return subprocess.run(
            ["systemd-analyze", *arguments], capture_output=True, text=True, check=False, timeout=60
        )

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_are_valid(self):
        done = self.analyze(
            "verify", self.path / "ebb-serve.service", self.path / "ebb-serve.socket"
        )
        about_ours = [line for line in done.stderr.splitlines() if "ebb-serve" in line]
        self.assertEqual(about_ours, [])

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_expose_little(self):
        done = self.analyze("security", "--offline=true", self.path / "ebb-serve.service")
        level = re.search(r"Overall exposure level for ebb-serve.service: ([\d.]+)", done.stdout)
        self.assertLessEqual(float(level.group(1)), EXPOSURE_MAX, done.stdout)

    def test_have_settings_that_the_command_accepts(self):
        done = subprocess.run(
            [EBB, "serve", "--config", UNITS / "serve.yaml", "--check"], capture_output=True, text=True,
            check=False, timeout=60, env={"PATH": os.environ["PATH"]},
        )
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_start_the_command_with_these_settings(self):
        service = (UNITS / "ebb-serve.service").read_text()
        self.assertIn("ExecStart=/usr/bin/ebb serve --config /etc/ebb/serve.yaml\n", service)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
