#!/usr/bin/env python3
"""The examples as they are installed build with the commands that they name, and run.

    examples.py PREFIX LIB_FOLDER DOC_FOLDER WORK CXX FLAGS LINK_FLAGS COMPONENT...

Each program names its command in the comment at its top. Those of examples/README.md are played, too.
The COMPONENTs are the installed ones: a program that needs another one is skipped. `c++` stands for CXX
with FLAGS.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

COMMAND = re.compile(r"^// +(c\+\+ .*)$", re.M)


def run(command, folder, environment):
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"In {folder}, `{command}` ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def blocks_of(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


def build_by_comments(examples, components, environment):
    """Returns how many programs were built."""
    count = 0
    for source in sorted(examples.glob("*/*.cpp")):
        text = source.read_text(encoding="utf-8")
        commands = COMMAND.findall(text)
        if "int main(" in text and not commands:
            sys.exit(f"{source} does not say how to build it")
        for command in commands:
            needed = set(re.findall(r"\bebb-(\w+)", command))
            if needed <= components:
                run(command, source.parent, environment)
                count += 1
    return count


def play_readme(examples, prefix, environment):
    page = (examples / "README.md").read_text(encoding="utf-8")
    by_pkg_config, by_cmake = blocks_of(page, "sh")
    hello = 'completed: "Hello, world!"\n'
    printed = run("set -e\n" + by_pkg_config, examples, environment)
    if printed != hello:
        sys.exit(f"hello printed {printed!r}")
    (cmake,) = blocks_of(page, "cmake")
    (examples / "hello" / "CMakeLists.txt").write_text(cmake, encoding="utf-8")
    environment = {**environment, "CMAKE_PREFIX_PATH": str(prefix)}
    printed = run("set -e\n" + by_cmake, examples / "hello", environment)
    if not printed.endswith(hello):
        sys.exit(f"hello printed {printed!r}")


def check_scripts(examples):
    """They are started by their names, as their first lines say."""
    for script in examples.rglob("*.sh"):
        if not os.access(script, os.X_OK):
            sys.exit(f"{script} is not executable")


def main(prefix, lib_folder, doc_folder, work, cxx, flags, link_flags, *components):
    prefix, work = pathlib.Path(prefix), pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    examples = work / "examples"
    shutil.copytree(prefix / doc_folder / "examples", examples)
    check_scripts(examples)
    programs = work / "bin"
    programs.mkdir()
    # The compiler of this build, with its flags: the library may need them.
    compiler = programs / "c++"
    compiler.write_text(f'#!/bin/sh\nexec {cxx} {flags} "$@" {link_flags}\n', encoding="utf-8")
    compiler.chmod(0o755)
    libraries = prefix / lib_folder
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": str(libraries / "pkgconfig"),
        "LD_LIBRARY_PATH": str(libraries),
        "CXX": str(compiler),
    }
    count = build_by_comments(examples, set(components), environment)
    if count == 0:
        sys.exit("no example was built")
    play_readme(examples, prefix, environment)
    print(f"{count} programs were built")


if __name__ == "__main__":
    main(*sys.argv[1:])
