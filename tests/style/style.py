#!/usr/bin/env python3
"""Judges the whole checkout by rules.py: prints `file:line: error: [rule] message` and exits with 1 if
there is any error. Usage: style.py [ROOT] [--notes]"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402

SKIPPED_FOLDERS = {".git", "build", ".cache", "node_modules", "__pycache__", ".venv", "dist"}


def read_tree(root):
    # The file system, not git: a copy of the tree or a clone of another owner is judged as well.
    files = {}
    pictures = []
    for folder, names, entries in os.walk(root):
        names[:] = sorted(name for name in names if name not in SKIPPED_FOLDERS)
        for entry in sorted(entries):
            path = os.path.join(folder, entry)
            # In a linked worktree .git is a file.
            if entry == ".git" or os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            if b"\0" in data:
                pictures.append(os.path.relpath(path, root))
                continue
            try:
                files[os.path.relpath(path, root)] = data.decode("utf-8")
            except UnicodeDecodeError:
                if "/corpus/" not in path:
                    print(f"{path}:1: note: not UTF-8, not judged")
    return rules.Tree(files, pictures)


def main(arguments):
    with_notes = "--notes" in arguments
    paths = [argument for argument in arguments if not argument.startswith("--")]
    here = os.path.dirname(os.path.abspath(__file__))
    tree = read_tree(paths[0] if paths else os.path.join(here, "..", ".."))
    findings = [finding for rule in rules.RULES.values() for finding in rule(tree)]
    errors = [finding for finding in findings if not finding.is_note]
    for finding in sorted(findings if with_notes else errors, key=str):
        print(finding)
    notes = len(findings) - len(errors)
    print(f"{len(tree.files)} files, {len(rules.RULES)} rules: {len(errors)} errors, {notes} notes")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
