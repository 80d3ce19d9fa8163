"""Writes the manual page ebb(1) from what the command says of itself: man_page.py EBB VERSION > ebb.1"""

import re
import subprocess
import sys

ebb, version = sys.argv[1:]
COLUMN = 32  # where descriptions begin


def help_of(*command):
    environment = {"COLUMNS": "80", "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
    done = subprocess.run(
        [ebb, *command, "--help"], check=True, text=True, stdout=subprocess.PIPE, env=environment
    )
    return done.stdout


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def parse(text):
    """(what comes before the first section, [(section, [(name, description)])], what comes after the last)"""
    before, sections, after = [], [], []
    for line in text.split("\n"):
        name, description = " ".join(line[:COLUMN].split()), line[COLUMN:].strip()
        if description and line[COLUMN - 1] != " ":
            name, description = line.strip(), ""
        if re.fullmatch(r"[A-Z][A-Za-z ]*:", line):
            sections.append((line[:-1], []))
        elif line.startswith("  ") and line[2] != " " and sections and not after:
            sections[-1][1].append([name, description])
        elif line.startswith(" " * 20) and sections and sections[-1][1]:
            sections[-1][1][-1][1] += " " + line.strip()
        elif line.strip() and not line.startswith("Usage:"):
            (after if sections else before).append(line.strip())
    return before, sections, after


def entries(names):
    for name, about in names:
        yield f".TP\n.B {escape(name)}\n{escape(about.strip() or name)}"


def page():
    before, sections, after = parse(help_of())
    commands = []
    yield f'.TH EBB 1 "" "ebb {version}" "User Commands"'
    yield ".SH NAME\nebb \\- durable workflows and sagas"
    yield ".SH SYNOPSIS\n.B ebb\n[\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]"
    yield ".SH DESCRIPTION\n" + escape(" ".join(before))
    for section, names in sections:
        if section == "Options":
            yield ".SH OPTIONS"
            yield from entries(names)
        else:
            commands += [name for name, _ in names]
    for command in commands:
        about, parts, _ = parse(help_of(command))
        yield f'.SH "EBB {command.upper()}"\n' + escape(" ".join(about))
        for section, names in parts:
            yield from entries([name for name in names if not name[0].startswith("-h,")])
    yield ".SH NOTES\n" + "\n".join(escape(line) for line in after)


print("\n".join(page()))
