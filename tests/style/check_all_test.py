"""Goal: `./dev check-all` runs every step whatever fails, and says so at the end.

Method: the script is read without its last line, and steps are replaced by short ones.
usage: check_all_test.py DEV
"""

import pathlib
import re
import subprocess
import sys
import unittest


class CheckAll(unittest.TestCase):
    def run_steps(self, replaced, *steps):
        script = pathlib.Path(DEV).read_text()
        self.assertTrue(script.rstrip().endswith('main "$@"'))
        script = script.rstrip().removesuffix('main "$@"')
        # The script finds its folder by its own name.
        script = script.replace("${BASH_SOURCE[0]}", DEV)
        script += replaced + '\nmain check-all "$@"\n'
        return subprocess.run(["bash", "-c", script, "dev", *steps], capture_output=True, text=True)

    def test_a_step_that_fails_at_any_of_its_commands_does_not_stop_the_others(self):
        done = self.run_steps(
            "check_all_sim() { false; echo not reached; }\n"
            "check_all_asan() { exit 3; }\n"
            "check_all_tsan() { echo tsan was here; }",
            "sim", "asan", "tsan",
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("tsan was here", done.stdout)
        self.assertNotIn("not reached", done.stdout)
        self.assertIn("-- check-all: 1 of 3 steps passed", done.stdout)
        table = [line.split()[:2] for line in done.stdout.splitlines()[-3:]]
        self.assertEqual(table, [["sim", "FAILED"], ["asan", "FAILED"], ["tsan", "passed"]])

    def test_it_succeeds_if_every_step_does(self):
        done = self.run_steps("check_all_sim() { true; }", "sim")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_names_all_steps_run(self):
        names = re.search(r"CHECK_ALL_STEPS=\(([^)]*)\)", pathlib.Path(DEV).read_text())[1].split()
        done = self.run_steps("\n".join(f"check_all_{name}() {{ true; }}" for name in names))
        self.assertIn(f"-- check-all: {len(names)} of {len(names)} steps passed", done.stdout)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_unknown_step_is_refused_before_any_runs(self):
        done = self.run_steps("check_all_sim() { echo ran; }", "sim", "simm")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("no step 'simm'", done.stderr)


if __name__ == "__main__":
    DEV = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
