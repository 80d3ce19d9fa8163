#!/usr/bin/env python3
"""Does what a page of the docs says, in a temporary folder, and compares: see page.py.

    run_page.py PAGE BIN_FOLDER [NAME=VALUE...]

BIN_FOLDER is where `ebb` is. NAME=VALUE becomes a variable of the session's environment; PREFIX=FOLDER is an
installed Ebb, which the page finds as ~/.local.
"""

import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import page

TIMEOUT = 120
MARK = "--- end of the command, status"


class Shell:
    """One bash that runs the commands of a page one after the other, so that variables and jobs last."""

    def __init__(self, folder, environment):
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._bash.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def run(self, text):
        """The lines that `text` prints, and its status."""
        self._bash.stdin.write(f"{{ {text}\n}} </dev/null\nprintf '\\n{MARK} %d\\n' $?\n")
        self._bash.stdin.flush()
        lines = []
        while True:
            try:
                line = self._lines.get(timeout=TIMEOUT)
            except queue.Empty:
                return lines + [f"(nothing more within {TIMEOUT} s)"], None
            if line is None:
                return lines + ["(the shell ended)"], None
            if line.startswith(MARK):
                return _without_last_break(lines), int(line[len(MARK) :])
            lines.append(line)

    def close(self):
        """Ends it with every job that is left."""
        try:
            os.killpg(self._bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._bash.wait()


def _without_last_break(lines):
    # What the mark is preceded by, in case the output does not end with a line break.
    return lines[:-1] if lines and lines[-1] == "" else lines


def complaint(command, lines, status):
    """What is wrong with what a command printed; empty if nothing is."""
    if status != command.status:
        return f"status {status} instead of {command.status}"
    if command.output and not page.matches(command.output, lines):
        return "another output"
    return ""


def play(text, folder, environment):
    """Plays a page in `folder`. Returns a complaint, or an empty text."""
    shell = Shell(folder, environment)
    try:
        for part in page.parse(text):
            if isinstance(part, page.File):
                path = os.path.join(folder, part.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(part.text)
                continue
            lines, status = shell.run(part.text)
            if wrong := complaint(part, lines, status):
                texts = [f"line {part.line}: {part.text}", wrong]
                return "\n".join(texts + ["--- expected", *part.output, "--- printed", *lines])
        return ""
    finally:
        shell.close()


def environment_of(folder, programs, given):
    names = ("PATH", "TZ", "TMPDIR", "EBB_TEST_POSTGRES_URL")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment |= {"HOME": os.path.join(folder, "home"), "USER": "ann", "LC_ALL": "C.UTF-8"}
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    return environment | given


def main(path, programs, *variables):
    given = dict(variable.split("=", 1) for variable in variables)
    folder = tempfile.mkdtemp(prefix="ebb-page.")
    try:
        os.makedirs(os.path.join(folder, "home"))
        os.makedirs(os.path.join(folder, "page"))
        if prefix := given.pop("PREFIX", ""):
            os.symlink(prefix, os.path.join(folder, "home", ".local"))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        wrong = play(text, os.path.join(folder, "page"), environment_of(folder, programs, given))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if wrong:
        sys.exit(f"{path}: {wrong}")
    commands = [part for part in page.parse(text) if isinstance(part, page.Command)]
    print(f"{path}: {len(commands)} commands did what it says")


if __name__ == "__main__":
    main(*sys.argv[1:])
