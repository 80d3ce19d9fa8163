"""The rules of the house that a machine can judge. A rule takes the `Tree` and yields `Finding`s. Each has a
violating and a passing example in selftest.py, which fails for a rule without them."""

import dataclasses
import os
import re

from cpp_text import CppText, functions

LINE_MAX = 100
SCRIPT_LINE_MAX = 110
FILE_MAX = 800
FILE_NOTE = 400
FUNCTION_MAX = 70

CPP = (".h", ".cpp")
TEXT = CPP + (".sql", ".py", ".sh", ".cmake", ".txt", ".json", ".yaml", ".yml", ".md", ".in", "")


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

    def __init__(self, files):
        self.files = files
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


# --- layers ----------------------------------------------------------------------------------------

# What a folder of src/ may include of the others, besides itself and the public headers.
_CORE = {"core", "support"}
_STORE = _CORE | {"store"}
_ENGINE = _STORE | {"engine"}
_SURFACE = _ENGINE | {"rules", "function", "plugins", "yaml", "handlers", "store/memory"}
ARROWS = {
    "support": set(),
    "core": _CORE,
    "store": _CORE,
    "store/memory": _STORE,
    "store/sqlite": _STORE,
    "store/postgres": _STORE,
    "engine": _STORE,
    "yaml": _ENGINE,
    "handlers": _ENGINE,
    "rules": _ENGINE,
    "function": _ENGINE,
    "plugins": _ENGINE,
    "server": _SURFACE,
    "cli": _SURFACE | {"server"},
}
# A third-party library is known to one folder only, so that a user links just what is used.
CONFINED = {
    "sqlite3.h": ("src/store/sqlite/", "tests/", "bench/"),
    "libpq-fe.h": ("src/store/postgres/", "tests/", "bench/"),
    "libfyaml.h": ("src/yaml/",),
    "curl/": ("src/handlers/", "tests/"),
    "CLI/": ("src/cli/", "bench/"),
    "boost/": ("src/server/",),
    "spdlog/": ("src/server/", "src/cli/"),
    "gtest/": ("tests/",),
    "gmock/": ("tests/",),
}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(tree, path):
    text = tree.files[path]
    for match in _INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)


def layer_of(path_in_src):
    parts = path_in_src.split("/")
    deep = "/".join(parts[:2])
    return deep if deep in ARROWS and len(parts) > 2 else parts[0]


@rule
def include_arrow(tree):
    """Includes point downwards: core <- store <- engine <- surfaces (docs/ARCHITECTURE.md)."""
    for path in tree.paths("src/", ext=CPP):
        layer = layer_of(path[4:])
        for line, quote, name in includes(tree, path):
            beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if quote != '"' or beside in tree.files or "/" not in name:
                target = beside[4:] if beside.startswith("src/") and quote == '"' else None
            else:
                target = name
            other = layer_of(target) if target else None
            if layer not in ARROWS:
                yield Finding(path, line, "include-arrow", f"src/{layer} has no place in ARROWS")
            elif other in ARROWS and other != layer and other not in ARROWS[layer]:
                yield Finding(path, line, "include-arrow", f"{layer} may not include {other}: {name}")


@rule
def third_party_include(tree):
    """A third-party header is included only by the folder that owns the library."""
    for path in tree.paths(ext=CPP):
        for line, _, name in includes(tree, path):
            for prefix, homes in CONFINED.items():
                if name.startswith(prefix) and not path.startswith(homes):
                    yield Finding(path, line, "third-party-include", f"<{name}> belongs to {homes[0]}")


@rule
def public_include(tree):
    """Public headers include only std, nlohmann/json_fwd.hpp and one another."""
    for path in tree.paths("include/", ext=CPP):
        for line, quote, name in includes(tree, path):
            is_std = quote == "<" and re.fullmatch(r"[a-z_]+", name)
            is_ours = quote == "<" and name.startswith("ebb/") and f"include/{name}" in tree.files
            if not is_std and not is_ours and name != "nlohmann/json_fwd.hpp":
                yield Finding(path, line, "public-include", f"a public header may not include {name}")


@rule
def pragma_once(tree):
    for path in tree.paths("include/", "src/", "tests/", "bench/", "examples/", ext=(".h",)):
        if not re.search(r"^#pragma once$", tree.files[path], re.MULTILINE):
            yield Finding(path, 1, "pragma-once", "a header has #pragma once")


_IMPURE = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "semaphore", "random"}
_IMPURE |= {"fstream", "iostream", "filesystem", "cstdio", "unistd.h", "stdio.h"}


@rule
def core_is_pure(tree):
    """The core has no input or output, no clock, no threads and no chance: they are parameters."""
    for path in tree.paths("src/core/", ext=CPP):
        for line, _, name in includes(tree, path):
            if name in _IMPURE or name.startswith("sys/") or name == "support/clock.h":
                yield Finding(path, line, "core-is-pure", f"the core may not use {name}")


# --- sizes -----------------------------------------------------------------------------------------


@rule
def line_length(tree):
    for path in tree.paths(ext=CPP + (".py", ".sh", "")):
        most = LINE_MAX if extension(path) in CPP else SCRIPT_LINE_MAX
        for number, line in tree.lines(path):
            if len(line) > most:
                yield Finding(path, number, "line-length", f"{len(line)} columns, at most {most}")


@rule
def file_length(tree):
    for path in tree.paths(ext=CPP + (".py", ".sql", ".cmake")):
        count = tree.files[path].count("\n")
        if count > FILE_MAX:
            message = f"{count} lines, at most {FILE_MAX}: split it by idea"
            yield Finding(path, count, "file-length", message)
        elif count > FILE_NOTE:
            yield Finding(path, count, "file-length", f"{count} lines is a smell", is_note=True)


@rule
def function_length(tree):
    """Counted as clang-tidy does: from the line of the opening to that of the closing brace."""
    for path in tree.paths(ext=CPP):
        for first, last, head in functions(tree.cpp(path)):
            if last - first > FUNCTION_MAX:
                message = f"{last - first} lines, at most {FUNCTION_MAX}: {head[-60:]}"
                yield Finding(path, first, "function-length", message)


# --- words -----------------------------------------------------------------------------------------

_OS = ("src/support/", "src/cli/")
_NOWHERE = ()
_BANNED = [
    (r"\bsystem_clock::now\b", _OS, "take the time from Clock"),
    (r"\bsteady_clock::now\b", _OS, "take the time from Clock"),
    (r"\brandom_device\b", _OS, "take chance from what is passed in"),
    (r"(?<![\w.>])s?rand\s*\(", _NOWHERE, "take chance from what is passed in"),
    (r"\bsleep_(for|until)\b", _OS, "wait on a condition or a stop_token"),
    (r"(?<![\w.>])u?sleep\s*\(", _NOWHERE, "wait on a condition or a stop_token"),
    (r"(?<![\w.>])(secure_)?getenv\b", _OS, "options are passed in"),
    (r"\bstd::thread\b(?!\s*::)", _NOWHERE, "use std::jthread"),
    (r"(\.|->)detach\s*\(", _NOWHERE, "every thread is joined"),
    (r"\bstd::w?regex\b|#\s*include\s*<regex>", _NOWHERE, "slow and recursive"),
    (r"#\s*include\s*<iostream>|\bstd::(cout|cerr|clog)\b", ("src/cli/",), "use fmt or LogSink"),
    (r"\bvolatile\b", _NOWHERE, "use std::atomic"),
    (r"\bconst_cast\b", _NOWHERE, "say what is mutable"),
]
BANNED = [(re.compile(pattern), homes, why) for pattern, homes, why in _BANNED]


@rule
def banned_call(tree):
    for path in tree.paths("src/", "include/", ext=CPP):
        for number, line in tree.code_lines(path):
            for pattern, homes, why in BANNED:
                match = pattern.search(line)
                if match and not path.startswith(homes or ("\0",)):
                    text = match.group(0).strip()
                    yield Finding(path, number, "banned-call", f"{text} is banned here: {why}")


@rule
def test_sleep(tree):
    """A test waits for something that happens, never for time to pass."""
    for path in tree.paths("tests/", ext=CPP):
        for number, line in tree.code_lines(path):
            if re.search(r"\bsleep_(for|until)\b|(?<![\w.>])u?sleep\s*\(", line):
                yield Finding(path, number, "test-sleep", "a test does not sleep")


@rule
def test_skip(tree):
    for path in tree.paths("tests/", ext=CPP):
        for number, line in tree.code_lines(path):
            if re.search(r"\bGTEST_SKIP\b|\bDISABLED_", line):
                yield Finding(path, number, "test-skip", "a test runs or is deleted")


@rule
def test_intro(tree):
    for path in tree.paths("tests/", ext=(".cpp",)):
        if "TEST" in tree.files[path] and not tree.files[path].lstrip().startswith("//"):
            yield Finding(path, 1, "test-intro", "a test file starts with its goal and method")


@rule
def type_name(tree):
    names = re.compile(r"\b(?:class|struct)\s+(\w+(?:Manager|Helper|Utils?))\b")
    for path in tree.paths("src/", "include/", ext=CPP):
        for number, line in tree.code_lines(path):
            if match := names.search(line):
                yield Finding(path, number, "type-name", f"{match.group(1)} says nothing")


@rule
def open_task(tree):
    """An open task names its issue: `TODO(#12)`."""
    word = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
    for path in tree.paths("src/", "include/", "tests/", "bench/", "examples/", "cmake/", "dev"):
        if not path.startswith("tests/style/"):
            for number, line in tree.lines(path):
                if match := word.search(line):
                    message = f"{match.group(1)} without an issue number"
                    yield Finding(path, number, "open-task", message)


_SQL = re.compile(
    r"\bselect\b.+\bfrom\b|\binsert\s+(or\s+\w+\s+)?into\b|\bupdate\s+\w+\s+set\b|\bdelete\s+from\b"
    r"|\b(create|alter|drop)\s+(unique\s+)?(table|index|view|trigger|schema)\b",
    re.IGNORECASE | re.DOTALL,
)


@rule
def sql_in_cpp(tree):
    """SQL lives in .sql files, where it has a name, is reviewed and is prepared by a test."""
    for path in tree.paths("src/store/", ext=CPP):
        for number, text in tree.cpp(path).strings:
            if _SQL.search(text):
                yield Finding(path, number, "sql-in-cpp", f'SQL belongs to .sql: "{text[:50]}"')


# --- text ------------------------------------------------------------------------------------------


@rule
def white_space(tree):
    for path in tree.paths(ext=TEXT):
        text = tree.files[path]
        if "/corpus/" in path or "/golden/" in path:
            continue
        for number, line in tree.lines(path):
            if line != line.rstrip():
                yield Finding(path, number, "white-space", "trailing space")
            elif "\t" in line:
                yield Finding(path, number, "white-space", "a tab")
        if text and not text.endswith("\n"):
            yield Finding(path, text.count("\n") + 1, "white-space", "no newline at the end")


# Spelt in two halves, so that this file does not break its own rule.
_MACHINE = re.compile("|".join([r"(?<![\w.*])/wo" r"rk/", r"(?<![\w.])/ro" r"ot/", r"/ho" r"me/\w+/"]))
_REGISTRY = re.compile(
    "|".join(
        "\\.".join(parts)
        for parts in [
            ("registry", "npmjs", "org"),
            ("registry", "yarnpkg", "com"),
            ("(?<!www.)pypi", "org"),
            ("files", "pythonhosted", "org"),
            ("deb", "debian", "org"),
            ("proxy", "golang", "org"),
            ("static", "crates", "io"),
        ]
    )
    + "|artifact" "ory|/nex" "us/repository"
)


@rule
def machine_path(tree):
    """Nothing knows the machine that it was written on, nor where its packages came from."""
    for path in tree.paths():
        for number, line in tree.lines(path):
            if match := _MACHINE.search(line) or _REGISTRY.search(line):
                yield Finding(path, number, "machine-path", f"{match.group(0)} is one machine's own")
    for path in tree.paths("src/", ext=CPP):
        for number, text in tree.cpp(path).strings:
            if text.startswith("/tmp"):
                yield Finding(path, number, "machine-path", f'"{text}" is hard-coded')


@rule
def golden_unused(tree):
    """Every golden file is read by a test, which names the file or its folder."""
    sources = "".join(
        tree.files[path]
        for path in tree.paths("tests/", "examples/", ext=CPP + (".py", ".sh", ".cmake", ".txt"))
        if not path.startswith(("tests/golden/", "tests/style/")) or path.endswith(CPP)
    )
    for path in tree.paths("tests/golden/"):
        if extension(path) in CPP or path.endswith(("CMakeLists.txt", ".md", ".sh", ".cmake")):
            continue
        folder, name = os.path.split(path)
        above = [folder[len("tests/") :]]
        while above[-1].count("/") > 1:
            above.append(os.path.dirname(above[-1]))
        if name not in sources and not any(part in sources for part in above if "/" in part):
            yield Finding(path, 1, "golden-unused", "no test mentions this file or its folder")


def _anchors(markdown):
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", _without_fences(markdown), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', markdown))


def _without_fences(markdown):
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    markdown = re.sub(r"^( *)(```|~~~).*?^ *\2[^\n]*$", blank, markdown, flags=re.M | re.S)
    return re.sub(r"`[^`\n]+`", blank, markdown)


@rule
def doc_link(tree):
    """A link in the docs leads to a file (and heading) of this checkout; the web is not checked."""
    folders = {os.path.dirname(path) for path in tree.files}
    folders |= {above for path in list(folders) for above in _ancestors(path)}
    for path in tree.paths(ext=(".md",)):
        for number, line in enumerate(_without_fences(tree.files[path]).split("\n"), start=1):
            for link in re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", line):
                if re.match(r"[a-z][a-z0-9+.-]*:", link):
                    continue
                name, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if target not in tree.files and target not in folders and target != ".":
                    yield Finding(path, number, "doc-link", f"{link} leads nowhere")
                elif anchor and target.endswith(".md") and anchor not in _anchors(tree.files[target]):
                    yield Finding(path, number, "doc-link", f"{target} has no heading #{anchor}")


def _ancestors(path):
    while path:
        path = os.path.dirname(path)
        yield path
