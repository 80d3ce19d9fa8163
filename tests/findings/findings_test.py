"""What `ebb rules check` says of each file here, word for word: findings_test.py EBB [--write].

The first line of a file may name the options of the command: `# check: --explore 100`. With --write, what it
says is kept as what is expected: read it before you commit it.
"""

import difflib
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ALL_FINDINGS = {
    "dead_rule", "dead_final", "never_enabled", "unreachable_final", "livelock_final",
    "constant_condition", "shadowed", "unread_attribute", "unwritten_attribute", "stuck",
    "no_way_to_final", "endless", "self_refire", "write_conflict", "no_compensation",
}


def report_on(ebb, file):
    first = file.read_text(encoding="utf-8").splitlines()[0]
    options = shlex.split(first.removeprefix("# check:")) if first.startswith("# check:") else []
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    done = subprocess.run([ebb, "rules", "check", file.name, *options], cwd=HERE, capture_output=True,
                          text=True, timeout=60, check=False, env=environment)
    return f"{done.stderr}{done.stdout}exit code {done.returncode}\n"


def main(ebb, does_write):
    wrong = 0
    said = ""
    for file in sorted(HERE.glob("*.yaml")):
        report = report_on(ebb, file)
        said += report
        kept = file.with_suffix(".expected.txt")
        if does_write:
            kept.write_text(report, encoding="utf-8")
            continue
        expected = kept.read_text(encoding="utf-8")
        if report != expected:
            wrong += 1
            lines = expected.splitlines(True), report.splitlines(True)
            sys.stdout.writelines(difflib.unified_diff(*lines, f"{file.name}, expected", "found"))
    missing = sorted(code for code in ALL_FINDINGS if code not in said)
    if missing:
        print(f"No file has the finding {', '.join(missing)}.")
    sys.exit(1 if wrong or missing else 0)


if __name__ == "__main__":
    main(sys.argv[1], "--write" in sys.argv[2:])
