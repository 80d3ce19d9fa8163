"""A page of the docs as a script: what its blocks write, what they run, and what must come out.

* A block ```LANGUAGE NAME is the file NAME.
* A block ```console is a session: lines `$ COMMAND` (continued after a `\\` at their end), each followed
  by its output. It is real output: what differs in each run (ids, times, durations, the width of
  columns) need not be equal. `...` stands for anything within a line, and alone for any lines.
  Without output everything may be printed. A command ends with status 0, or with N if it says
  `# exit code N`.
* A comment <!-- run: COMMAND --> is a command that the reader does not see.
"""

import re
from dataclasses import dataclass, field


@dataclass
class File:
    name: str
    text: str


@dataclass
class Command:
    line: int
    text: str
    output: list = field(default_factory=list)

    @property
    def status(self):
        stated = re.search(r"# exit code (\d+)$", self.text)
        return int(stated.group(1)) if stated else 0


def _session(lines, first):
    """The commands of a console block whose first line has the number `first`."""
    commands = []
    goes_on = False
    for number, line in enumerate(lines, start=first):
        if goes_on:
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command(number, line[2:]))
        elif commands:
            commands[-1].output.append(line)
        else:
            raise ValueError(f"line {number}: output before the first command")
        goes_on = line.endswith("\\") and (goes_on or line.startswith("$ "))
    return commands


def parse(text):
    """The files and commands of a page, in order."""
    parts = []
    block = None
    for number, line in enumerate(text.split("\n"), start=1):
        hidden = re.fullmatch(r"<!-- run: (.*) -->", line)
        if block is not None and line.startswith("```"):
            info, first, lines = block
            if info == ["console"]:
                parts += _session(lines, first)
            elif len(info) == 2:
                parts.append(File(info[1], "".join(line + "\n" for line in lines)))
            block = None
        elif block is not None:
            block[2].append(line)
        elif line.startswith("```"):
            block = (line[3:].split(), number + 1, [])
        elif hidden:
            parts.append(Command(number, hidden.group(1)))
    return parts


_HEX = "[0-9a-f]"
_VARYING = [
    (re.compile(pattern), word)
    for pattern, word in (
        (rf"\b{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}\b", "<id>"),
        # The name that `ebb worker` gives itself: host, process, boot and start.
        (rf"[\w.-]+-\d+-{_HEX}{{8}}-\d+\b", "<worker>"),
        (rf"\b{_HEX}{{8}}\b", "<id>"),
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "<time>"),
        (r"\bjust now\b|\b\d+[smh] ago\b", "<ago>"),
        (r"\bin \d+[dhm]( \d+[hms])?\b", "in <duration>"),
        (r"(?<![\w.])\d+m \d\ds\b|(?<![\w.])\d+(\.\d+)?m?s\b", "<duration>"),
        # An interactive shell prints the word alone.
        (r"^bash: line \d+: +\d+ (Killed|Terminated) .*", r"\1"),
        (r"(?<=\S) +", " "),
    )
]


def _steady(line):
    """`line` without what differs in each run."""
    for pattern, word in _VARYING:
        line = pattern.sub(word, line)
    return line.rstrip()


def _fits(expected, actual):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, actual) is not None


def _line_matches(expected, actual):
    return _fits(expected.rstrip(), actual.rstrip()) or _fits(_steady(expected), _steady(actual))


def matches(expected, actual):
    """Whether the lines `actual` are what the lines `expected` say."""
    if not expected:
        return not actual
    if expected[0].strip() == "...":
        return any(matches(expected[1:], actual[skip:]) for skip in range(len(actual) + 1))
    return bool(actual) and _line_matches(expected[0], actual[0]) and matches(expected[1:], actual[1:])
