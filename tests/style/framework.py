"""What a rule is: a function from the `Tree` of all files to `Finding`s, registered by `@rule`."""

import dataclasses
import os

from cpp_text import CppText

CPP = (".h", ".cpp")
TEXT = CPP + (".sql", ".py", ".sh", ".cmake", ".txt", ".json", ".yaml", ".yml", ".md", ".in", "")
TEXT += (".ts", ".svelte", ".mjs", ".js", ".css", ".html")


@dataclasses.dataclass(frozen=True)
class Finding:
    path: str
    line: int
    rule: str
    message: str
    is_note: bool = False

    def __str__(self):
        kind = "note" if self.is_note else "error"
        return f"{self.path}:{self.line}: {kind}: [{self.rule}] {self.message}"


class Tree:
    """The files of the project by their path from the root, each read and lexed once."""

    def __init__(self, files, pictures=()):
        """`pictures`: the files that are not text, which only links name."""
        self.files = files
        self.pictures = frozenset(pictures)
        self._cpp = {}

    def paths(self, *prefixes, ext=None):
        for path in self.files:
            if path.startswith(prefixes or ("",)) and (ext is None or extension(path) in ext):
                yield path

    def lines(self, path):
        return enumerate(self.files[path].split("\n"), start=1)

    def cpp(self, path):
        if path not in self._cpp:
            self._cpp[path] = CppText(self.files[path])
        return self._cpp[path]

    def code_lines(self, path):
        return enumerate(self.cpp(path).code.split("\n"), start=1)


def extension(path):
    return os.path.splitext(path)[1]


RULES = {}


def rule(function):
    RULES[function.__name__.replace("_", "-")] = function
    return function
