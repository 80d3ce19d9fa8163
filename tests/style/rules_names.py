"""The index of names (docs/reference/names.md) has each name that users meet, and no other."""

import re

from framework import CPP, Finding, rule

PAGE = "docs/reference/names.md"
_ENUMS = {
    "Error codes": ("include/ebb/error.h", "ErrorCode"),
    "History events": ("src/core/kernel/history.h", "HistoryType"),
}
_LOGGED = re.compile(
    r"\b(?:log(?:\(\)|_)?(?:\.|->)(?:debug|info|warning|error)|report|warn)\(\s*\"([a-z_]+)\""
    r"|\bwrite\(\s*(?:LogLevel::\w+|level),\s*\"([a-z_]+)\""
    # What a command says of itself.
    r"|\bsay\(\s*\"([a-z_]+)\"|\{\"event\", \"([a-z_]+)\"\}"
    # What a store has noticed is logged by the engine.
    r"|\bnotices_\.add\(\s*\"([a-z_]+)\""
)
_VARIABLE = re.compile(r"\"((?:EBB|OTEL)_[A-Z_]+|NO_COLOR)\b")


def _enumerators(text, name):
    body = re.search(rf"enum class {name} \{{(.*?)\n\}};", text, re.DOTALL)
    words = re.findall(r"^\s*([A-Z]\w*)", re.sub(r"//.*", "", body.group(1)), re.MULTILINE) if body else []
    return {re.sub(r"(?<!^)([A-Z])", r"_\1", word).lower() for word in words}


def _in_source(tree):
    found = {section: set() for section in (*_ENUMS, "Log events", "Environment variables")}
    for section, (path, name) in _ENUMS.items():
        found[section] = _enumerators(tree.files.get(path, ""), name)
    for path in tree.paths("src/", ext=CPP):
        text = tree.files[path]
        folders = ("src/engine/", "src/call/", "src/cli/", "src/server/", "src/store/", "src/plugins/")
        if path.startswith(folders):
            found["Log events"] |= {next(filter(None, names)) for names in _LOGGED.findall(text)}
        found["Environment variables"] |= set(_VARIABLE.findall(text))
    return found


def _on_page(page):
    """The names in the first column of each section's tables, with their lines."""
    found, section = {}, None
    for number, line in enumerate(page.split("\n"), start=1):
        if line.startswith("## "):
            section = line[3:]
            found[section] = {}
        elif section and line.startswith("| `"):
            for name in re.findall(r"`([^`]+)`", line.split(" | ")[0]):
                found[section][name] = number
    return found


@rule
def index_of_names(tree):
    """Every error code, log event, history event and environment variable is explained on one page."""
    if PAGE not in tree.files:
        return
    page = _on_page(tree.files[PAGE])
    for section, names in _in_source(tree).items():
        known = page.get(section, {})
        for name in sorted(names - set(known)):
            yield Finding(PAGE, 1, "index-of-names", f'"{section}" lacks {name}')
        for name in sorted(set(known) - names):
            yield Finding(PAGE, known[name], "index-of-names", f"{name} is not in the source")
