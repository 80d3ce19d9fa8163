"""Sizes, and words that do not belong where they stand."""

import re

from cpp_text import functions
from framework import CPP, Finding, extension, rule

LINE_MAX = 100
SCRIPT_LINE_MAX = 110
FILE_MAX = 800
FILE_NOTE = 400
FUNCTION_MAX = 70


# --- sizes -----------------------------------------------------------------------------------------


@rule
def line_length(tree):
    for path in tree.paths(ext=CPP + (".py", ".sh", "")):
        if "/corpus/" in path:
            continue
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
    # JsonSchema bounds the text: a schema's patterns are this kind.
    (
        r"\bstd::w?regex\b|#\s*include\s*<regex>",
        ("src/support/json_schema.cpp",),
        "slow and recursive",
    ),
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
        text = tree.files[path]
        if re.search(r"\bTEST(_[FP])?\(", text) and not text.lstrip().startswith("//"):
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


_SQL_LITERAL = re.compile(r"""--[^\n]*|(\bE)?'((?:[^'\\]|\\.|'')*)'""", re.DOTALL | re.IGNORECASE)
_SQL_ESCAPE = re.compile(r"""\\(?:[bfnrt'\\0-7]|x[0-9a-f]|u[0-9a-f]{4}|U[0-9a-f]{8})""")
_OF_USERS = ("src/store/postgres/surface/", "src/store/postgres/sql_workers/")


@rule
def sql_escape(tree):
    """PostgreSQL drops the backslash of an escape that it does not have: E'\\v' is 'v'. In functions that
    run in sessions of users, a plain literal with one means what standard_conforming_strings says there."""
    for path in tree.paths("src/store/postgres/", ext=(".sql",)):
        for literal in _SQL_LITERAL.finditer(tree.files[path]):
            number = tree.files[path].count("\n", 0, literal.start()) + 1
            text = literal.group(2) or ""
            if not literal.group(1):
                if "\\" in text and path.startswith(_OF_USERS):
                    message = "a backslash in a plain literal: write E'...', or [.] in a pattern"
                    yield Finding(path, number, "sql-escape", message)
                continue
            for escape in re.finditer(r"\\.", text, re.DOTALL):
                if not _SQL_ESCAPE.match(text, escape.start()):
                    yield Finding(path, number, "sql-escape", f"PostgreSQL has no escape {escape.group()}")
