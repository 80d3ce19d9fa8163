#!/usr/bin/env python3
"""What `./dev bench SUITE FIGURE --keep` makes of the suite that was kept: bench_keep_test.py ROOT

Goal: one figure that is measured again replaces itself and nothing else, and says when it was measured.
Method: the verb itself, in a folder of its own, with a program in place of the benchmark and of the build.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])


def figure(name, value, **more):
    return {"name": name, "value": value, "unit": "1/s", "ratio": 1.0, "goal": 0.9, **more}


KEPT = {
    "at": "2020-01-02", "commit": "0000aaaa", "cpu": "old", "cpus": 1,
    "figures": [
        figure("first", 1), figure("second", 2, at="2020-01-03", commit="0000bbbb"), figure("third", 3),
    ],
}
# Writes a figure for each name in FIGURES, as the benchmark does.
BENCHMARK = """#!/usr/bin/env python3
import json, os, sys
assert "--json" in sys.argv
print(json.dumps(json.loads(os.environ["FIGURES"])))
sys.exit(int(os.environ.get("CODE", "0")))
"""


@unittest.skipUnless(shutil.which("jq"), "there is no jq")
class Keep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ebb-keep-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "bench/results").mkdir(parents=True)
        shutil.copy(ROOT / "bench/keep.jq", self.path / "bench")
        (self.path / "tests/docs").mkdir(parents=True)
        (self.path / "tests/docs/figures.py").write_text("")
        program = self.path / "benchmark"
        program.write_text(BENCHMARK)
        program.chmod(0o755)
        # The verb as it is, with what builds and what is built exchanged.
        text = (ROOT / "dev").read_text()
        begin = text.index("verb_bench() {")
        verb = text[begin:text.index("\n}\n", begin) + 3]
        (self.path / "verb").write_text(
            "set -euo pipefail\ndie() { echo \"$*\" >&2; exit 1; }\nneed() { :; }\nPACKAGES_LOAD=()\n"
            "build() { :; }\n"
            f"program() {{ echo {program}; }}\ngit() {{ echo 1111cccc; }}\n{verb}\nverb_bench \"$@\"\n"
        )
        self.results = self.path / "bench/results/engine.json"

    def bench(self, *arguments, figures, code=0):
        return subprocess.run(
            ["bash", "verb", "engine", *arguments, "--keep"], cwd=self.path, capture_output=True, text=True,
            check=False, env={**os.environ, "FIGURES": json.dumps(figures), "CODE": str(code)},
        )

    def kept(self):
        return json.loads(self.results.read_text())

    def test_one_figure_replaces_itself_and_says_when(self):
        self.results.write_text(json.dumps(KEPT))
        done = self.bench("second", figures=[figure("second", 20, verdict="met")])
        self.assertEqual(done.returncode, 0, done.stderr)
        kept = self.kept()
        self.assertEqual([one["value"] for one in kept["figures"]], [1, 20, 3])
        self.assertEqual(kept["figures"][0], KEPT["figures"][0])
        self.assertEqual(kept["figures"][2], KEPT["figures"][2])
        second = kept["figures"][1]
        self.assertEqual((second["commit"], second["verdict"]), ("1111cccc", "met"))
        self.assertRegex(second["at"], r"^\d{4}-\d\d-\d\d$")
        self.assertNotEqual(second["at"], "2020-01-03")
        self.assertEqual({key: kept[key] for key in ("at", "commit", "cpu", "cpus")},
                         {key: KEPT[key] for key in ("at", "commit", "cpu", "cpus")})

    def test_a_figure_that_is_new_comes_last(self):
        self.results.write_text(json.dumps(KEPT))
        self.bench("fourth", figures=[figure("fourth", 4), figure("first", 10)])
        kept = self.kept()
        self.assertEqual([(one["name"], one["value"]) for one in kept["figures"]],
                         [("first", 10), ("second", 2), ("third", 3), ("fourth", 4)])

    def test_a_whole_suite_replaces_what_was_kept(self):
        self.results.write_text(json.dumps(KEPT))
        self.bench(figures=[figure("first", 10)])
        kept = self.kept()
        self.assertEqual([one["name"] for one in kept["figures"]], ["first"])
        self.assertEqual((kept["commit"], kept["cpus"]), ("1111cccc", len(os.sched_getaffinity(0))))

    def test_the_first_figure_of_a_suite_is_kept_alone(self):
        self.bench("first", figures=[figure("first", 10)])
        self.assertEqual([one["name"] for one in self.kept()["figures"]], ["first"])

    def test_a_figure_that_missed_its_goal_is_kept_and_fails_the_command(self):
        self.results.write_text(json.dumps(KEPT))
        done = self.bench("third", figures=[figure("third", 30, verdict="missed")], code=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.kept()["figures"][2]["verdict"], "missed")

    def test_what_was_kept_stays_when_the_program_ends_early(self):
        self.results.write_text(json.dumps(KEPT))
        (self.path / "benchmark").write_text("#!/bin/sh\nexit 3\n")
        done = self.bench("first", figures=[])
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.kept(), KEPT)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
