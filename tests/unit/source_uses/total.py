"""How many of the builders in test code the scanner reads as the compiler builds them.

Reads the line that each test program has written (uses.cpp) and compares all lines with uses.txt beside
this file. Fails if the scanner reads less than before, or another workflow than the compiler builds.
Usage: total.py FOLDER [--write]."""

import pathlib
import sys

PERCENT_MIN = 85
PINNED = pathlib.Path(__file__).parent / "uses.txt"


def numbers(line):
    words = line.split()[1:]
    return dict(zip(words[::2], map(int, words[1::2])))


def reads_less(found, pinned):
    """Not true of a new test whose builder is read exactly."""
    return found["exact"] < pinned.get("exact", 0) or any(
        count > pinned.get(kind, 0) for kind, count in found.items() if kind != "exact")


def main(folder, *options):
    lines = sorted(path.read_text() for path in pathlib.Path(folder).iterdir())
    if "--write" in options:
        PINNED.write_text("".join(lines))
    total = {}
    for line in lines:
        for kind, count in numbers(line).items():
            total[kind] = total.get(kind, 0) + count
    uses = sum(total.values())
    # A builder that throws draws nothing: there the scanner and the compiler agree that it is invalid.
    same = total["exact"] + total["invalid"]
    print(f"uses of builders: {uses}; as the compiler: {same} ({100 * same / uses:.1f} %), of these invalid: "
          f"{total['invalid']}; known in part: {total['partial']}; not built by a test: {total['unbuilt']}")
    pinned = {line.split()[0]: numbers(line) for line in PINNED.read_text().splitlines()}
    worse = [line for line in lines if reads_less(numbers(line), pinned.pop(line.split()[0], {}))]
    if worse or pinned:
        sys.exit(f"The scanner reads less than {PINNED.name} says, or a program of it has not run:\n"
                 f"{''.join(worse)}{', '.join(pinned)}\n"
                 "Look at what has changed; if it is meant, run total.py with --write.")
    if 100 * same < PERCENT_MIN * uses:
        sys.exit(f"Less than {PERCENT_MIN} % are read as the compiler builds them.")


main(*sys.argv[1:])
