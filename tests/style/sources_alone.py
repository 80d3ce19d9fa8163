"""Each source compiles by itself: sources_alone.py BUILD_DIR [REGEX].

A build with EBB_UNITY compiles sources in groups, where a source sees what its neighbors include. A build
without it, which is the default for a program that adds Ebb's sources to its own, then fails. This test reads
each source of a group by itself, with the flags of its group, and only checks it: nothing is generated.
"""

import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

_INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def groups(build: str) -> "list[tuple[dict, list[str]]]":
    """The groups of sources of the libraries, each as its entry of compile_commands.json and its sources."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = []
    for entry in entries:
        if "/Unity/" in entry["file"] and os.sep + os.path.join("src", "CMakeFiles") in entry["file"]:
            with open(entry["file"], encoding="utf-8") as file:
                found.append((entry, _INCLUDED.findall(file.read())))
    return found


def check(entry: dict, source: str) -> str:
    """What the compiler says of a source: nothing if it compiles."""
    words = shlex.split(entry["command"])
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    command = []
    skips = False
    for word in words:
        if skips:
            skips = False
        elif word in ("-o", "-MF", "-MT"):
            skips = True
        elif word == entry["file"]:
            command.append(source)
        elif word not in ("-c", "-MD"):
            command.append(word)
    done = subprocess.run(command + ["-w", "-fsyntax-only"], cwd=entry["directory"], capture_output=True,
                          text=True, check=False)
    return done.stderr if done.returncode else ""


def main() -> int:
    build, wanted = sys.argv[1], re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    work = [(entry, source) for entry, sources in groups(build) for source in sources
            if wanted.search(source)]
    if not work:
        print("This build has no groups of sources: each source was compiled by itself.")
        return 0
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for said in pool.map(lambda item: check(*item), work):
            if said:
                faults += 1
                print("\n".join(said.splitlines()[:8]))
    print(f"{len(work)} sources, {faults} of which do not compile by themselves.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
