#!/usr/bin/env python3
"""Shows that run_page.py finds what is wrong with a page: each page below has one fault, or none."""

import os
import sys
import tempfile

import run_page

FENCE = "```"


def session(*lines):
    return "\n".join([f"{FENCE}console", *lines, FENCE, ""])


GOOD = {
    "output": session("$ echo one; echo two", "one", "two"),
    "output that does not matter": session("$ echo one"),
    "no line break at the end": session("$ printf one", "one"),
    "anything within a line": session("$ echo one two three", "one ... three"),
    "another id, time, duration and width": session(
        "$ echo 01a2c3d4 v1 done, 2ms, 3s ago, in 2d 23h, 2026-11-26T10:00:00Z",
        "f1a2c3d4  v1  done, 1.5s, just now, in 5h, 2027-01-01T08:12:00Z",
    ),
    "another worker": session("$ echo vm-12-01a2c3d4-77 failed", "shop.example-9-f1a2c3d4-5  failed"),
    "a wildcard beside an id": session("$ echo 01a2c3d4 one two", "f1a2c3d4  one ..."),
    "a killed command": session("$ bash -c 'kill -9 $$' # exit code 137", "Killed"),
    "any lines": session("$ seq 9", "1", "...", "9"),
    "a stated status": session("$ false # exit code 1"),
    "a long command": session("$ echo one \\", "  two", "one two"),
    "a file": f"{FENCE}text a.txt\nhello\n{FENCE}\n" + session("$ cat a.txt", "hello"),
    "a variable that lasts": session("$ a=1", "$ echo $a", "1"),
    "a hidden command": "<!-- run: a=1 -->\n" + session("$ echo $a", "1"),
    "errors are output": session("$ echo one >&2", "one"),
    "another language": f"{FENCE}sh\nfalse\n{FENCE}\n",
}

BAD = {
    "another output": session("$ echo one", "two"),
    "another word beside an id": session("$ echo 01a2c3d4 failed", "01a2c3d4 completed"),
    "another word beside a worker": session("$ echo vm-12-01a2c3d4-77 failed", "vm-12-01a2c3d4-77 done"),
    "another number": session("$ echo 3 steps", "4 steps"),
    "another indentation": session("$ echo '  one'", "one"),
    "more output": session("$ echo one; echo two", "one"),
    "less output": session("$ echo one", "one", "two"),
    "no output": session("$ true", "one"),
    "a status": session("$ false"),
    "another status": session("$ true # exit code 1"),
    "the shell ends": session("$ exit 0"),
    "a dot is a dot": session("$ echo one", "o.e"),
    "a missing file": session("$ cat a.txt"),
}


def play(text):
    with tempfile.TemporaryDirectory() as folder:
        return run_page.play(text, folder, dict(os.environ))


def main():
    wrong = [f"'{name}' should pass: {said}" for name, text in GOOD.items() if (said := play(text))]
    wrong += [f"'{name}' should fail" for name, text in BAD.items() if not play(text)]
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
