#!/usr/bin/env python3
"""Compiles each case of wrong_uses.cpp: wrong_uses.py COMPILER INCLUDE_FOLDER.

A case must fail with exactly one static_assert, and its message must contain the comment of the case.
Case 0 has no mistake and must compile.
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).with_suffix(".cpp")
CASE = re.compile(r"^#(?:el)?if CASE == (\d+)\n    // (.+)$", re.MULTILINE)


def compile_case(compiler, include, case):
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{include}", f"-DCASE={case}", str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def complaint(status, output, wanted):
    errors = [line for line in output.split("\n") if re.search(r"(?<!\w)error: ", line)]
    said = [line for line in errors if re.search(r"static assertion failed|static_assert failed", line)]
    if status == 0:
        return "it compiles"
    if len(said) != 1 or len(errors) != 1:
        return f"{len(said)} static_asserts and {len(errors)} errors in place of one"
    return "" if wanted in said[0] else "another message"


def main(compiler, include):
    failures = 0
    status, output = compile_case(compiler, include, 0)
    if status != 0:
        sys.exit(f"without a mistake it does not compile:\n{output}")
    for case, wanted in CASE.findall(SOURCE.read_text()):
        status, output = compile_case(compiler, include, case)
        wrong = complaint(status, output, wanted)
        if wrong:
            failures += 1
            print(f"case {case} ({wanted}): {wrong}\n{output}")
    sys.exit(failures)


main(*sys.argv[1:])
