"""White space, machine paths, golden files and links."""

import os
import re
import textwrap

from framework import CPP, TEXT, Finding, extension, rule

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
            # Only what asks the system for its temporary folder has a fallback.
            is_fallback = text == "/tmp" and path.startswith("src/support/os_")
            if text.startswith("/tmp") and not is_fallback:
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
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", _without_blocks(markdown), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', markdown))


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def _without_blocks(markdown):
    return re.sub(r"^( *)(```|~~~).*?^ *\2[^\n]*$", _blank, markdown, flags=re.M | re.S)


def _without_fences(markdown):
    return re.sub(r"`[^`\n]+`", _blank, _without_blocks(markdown))


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
                known = target in tree.files or target in tree.pictures or target in folders
                if not known and target != ".":
                    yield Finding(path, number, "doc-link", f"{link} leads nowhere")
                elif anchor and target.endswith(".md") and anchor not in _anchors(tree.files[target]):
                    yield Finding(path, number, "doc-link", f"{target} has no heading #{anchor}")


def _ancestors(path):
    while path:
        path = os.path.dirname(path)
        yield path


_QUOTE = re.compile(r"^<!-- code: (\S+) (\S+) -->\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


@rule
def doc_code(tree):
    """Code in the docs below `<!-- code: FILE NAME -->` is what stands between two lines `//! [NAME]` of
    FILE, which is compiled and run by a test."""
    for path in tree.paths(ext=(".md",)):
        text = tree.files[path]
        for match in _QUOTE.finditer(text):
            source, name, quoted = match.groups()
            parts = re.split(rf"^[ ]*//! \[{re.escape(name)}\]\n", tree.files.get(source, ""), flags=re.M)
            if len(parts) != 3 or textwrap.dedent(parts[1]) != quoted:
                line = text.count("\n", 0, match.start()) + 1
                message = f"this is not what {source} has between its //! [{name}]"
                yield Finding(path, line, "doc-code", message)


_CPP_BLOCK = re.compile(r"^```cpp$", re.MULTILINE)


@rule
def doc_cpp(tree):
    """C++ in the docs is quoted from what is compiled (doc-code), or is a file that the page's test compiles
    (```cpp main.cpp)."""
    for path in tree.paths("docs/", "README.md", ext=(".md",)):
        text = tree.files[path]
        for match in _CPP_BLOCK.finditer(text):
            line = text.count("\n", 0, match.start())
            if line == 0 or not text.split("\n")[line - 1].startswith("<!-- code: "):
                yield Finding(path, line + 1, "doc-cpp", "no <!-- code: FILE NAME --> is above it")
